//! Aliases that are malformed or already in use.

use std::collections::BTreeMap;

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::{FILE_FOLDERS, LISTINGS, is_file_name};

pub(super) const RULE: Rule = Rule {
    code: "alias-clash",
    demands: "an alias is an address of this site, `/old/name/`, that no page, no other alias and no file of the site has",
    why: "a redirect would hide a page, or lead to two",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let pages: BTreeMap<String, &str> =
        context.site.heads().map(|head| (head.id.address(), head.path.as_str())).collect();
    let mut taken: BTreeMap<String, Span> = BTreeMap::new();
    for head in context.site.heads() {
        for alias in &head.aliases {
            let address = format!("{}/", alias.value.trim_matches('/'));
            let mut refuse = |message: String, help: String| {
                found.push(Diagnostic::error(&RULE, alias.span, message).help(help));
            };
            if !is_address(&alias.value) {
                refuse(
                    format!("`{}` is no address of this site", alias.value),
                    "begin with a slash, use small letters, digits, hyphens and dots, and name no file: `/errors/old-name/`"
                        .into(),
                );
            } else if let Some(folder) =
                FILE_FOLDERS.iter().find(|folder| Some(**folder) == address.split('/').next())
            {
                refuse(
                    format!("`{}` lies in `/{folder}/`, where kbgen writes files", alias.value),
                    "choose an address outside of it".into(),
                );
            } else if let Some(path) = pages.get(&address) {
                refuse(format!("`{}` is the address of `{path}`", alias.value), "take the alias away".into());
            } else if LISTINGS.iter().any(|listing| listing.address == address) {
                refuse(format!("`{}` is a page of kbgen's own", alias.value), "take the alias away".into());
            } else if taken.insert(address, alias.span).is_some() {
                refuse(format!("`{}` is an alias twice", alias.value), "keep it on one page".into());
            }
        }
    }
    found
}

fn is_address(alias: &str) -> bool {
    alias.starts_with('/')
        && alias.len() > 1
        && alias[1..].strip_suffix('/').unwrap_or(&alias[1..]).split('/').all(|part| {
            !part.is_empty()
                && !part.starts_with('.')
                && !is_file_name(part)
                && part
                    .chars()
                    .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.'))
        })
}
