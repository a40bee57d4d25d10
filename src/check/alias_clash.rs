//! Aliases that are malformed or already in use.

use std::collections::BTreeMap;

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::{FILE_FOLDERS, Kind, PageId, Site, is_alias};

pub(super) const RULE: Rule = Rule {
    code: "alias-clash",
    requirement: "an alias is a path of this site, such as `/old/name/`, that no page, file or other alias uses",
    why: "a redirect would hide a page or be ambiguous",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let pages: BTreeMap<String, &str> =
        context.site.heads().map(|head| (head.id.address(), head.path.as_str())).collect();
    let root_files = context.sources.assets_under("static/root/");
    let root_files: Vec<&str> =
        root_files.filter_map(|file| file.path.strip_prefix("static/root/")).collect();
    let mut taken: BTreeMap<String, Span> = BTreeMap::new();
    for head in context.site.heads() {
        for alias in &head.aliases {
            let address = format!("{}/", alias.value.trim_matches('/'));
            let mut refuse = |message: String, help: String| {
                found.push(Diagnostic::error(&RULE, alias.span, message).help(help));
            };
            if !is_alias(&alias.value) {
                refuse(
                    format!("invalid alias `{}`", alias.value),
                    "write a path such as `/errors/old-name/`: a slash, lowercase letters, digits, hyphens and dots, and no file extension"
                        .into(),
                );
            } else if let Some(folder) =
                FILE_FOLDERS.iter().find(|folder| Some(**folder) == address.split('/').next())
            {
                refuse(
                    format!("alias `{}` is in `/{folder}/`, which is reserved for kbgen", alias.value),
                    "choose a path outside this folder".into(),
                );
            } else if let Some(path) = pages.get(&address) {
                refuse(format!("alias `{}` is the URL of `{path}`", alias.value), "remove the alias".into());
            } else if context.site.has_list(&address) {
                refuse(
                    format!("alias `{}` is the URL of a built-in page", alias.value),
                    "remove the alias".into(),
                );
            } else if let Some((category, number)) = category_page(context.site, &address) {
                refuse(
                    format!(
                        "alias `{}` is reserved for page {number} of the category `{category}`",
                        alias.value
                    ),
                    "choose a path that does not end with a number".into(),
                );
            } else if let Some(file) = root_files.iter().find(|file| format!("{file}/").starts_with(&address))
            {
                refuse(
                    format!("alias `{}` is the URL of `static/root/{file}`", alias.value),
                    "remove the alias".into(),
                );
            } else if taken.insert(address, alias.span).is_some() {
                refuse(format!("duplicate alias `{}`", alias.value), "keep it on only one page".into());
            }
        }
    }
    found
}

/// Returns the category and the number if a category has this page, or will have it with more errors.
fn category_page<'a>(site: &Site, address: &'a str) -> Option<(&'a str, &'a str)> {
    let (category, number) = address.strip_prefix("categories/")?.strip_suffix('/')?.split_once('/')?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    let is_category = || site.head(&PageId::new(Kind::Category, category)).is_some();
    (is_number && is_category()).then_some((category, number))
}
