//! References to missing pages in front matter and code blocks.

use std::collections::BTreeSet;

use crate::check::{CheckContext, MAX_SUGGESTIONS};
use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Spanned;
use crate::site::{Kind, PageId, Site};

pub(super) const RULE: Rule = Rule {
    code: "unknown-reference",
    requirement: "related errors, tools, entries, benchmarked models and models of drawings refer to existing pages, and \
                  categories in site.toml to existing ones",
    why: "pages link to them, and a setting for another category has no effect",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut look = |kind: Kind, named: &Spanned<String>| {
        if context.site.head(&PageId::new(kind, named.value.as_str())).is_some() {
            return;
        }
        let near = (found.len() < MAX_SUGGESTIONS)
            .then(|| nearest(&named.value, context.site.slugs(kind)))
            .flatten();
        found.push(unknown(kind, named, near));
    };
    for reference in context.pages.references() {
        look(reference.kind, &reference.slug);
    }
    for error in &context.pages.errors {
        if let Some(own) = error.data.related.iter().find(|slug| slug.value == error.head.id.slug) {
            found.push(
                Diagnostic::error(&RULE, own.span, "the page lists itself as related")
                    .help("remove it from the list"),
            );
        }
    }
    found
}

/// Reports the categories in the settings that no page has.
pub fn categories(site: &Site, named: &[(Spanned<String>, i64)]) -> Vec<Diagnostic> {
    let known: BTreeSet<&str> = site.errors.iter().map(|error| error.data.category.as_str()).collect();
    let unknown = named.iter().map(|(category, _)| category).filter(|name| !known.contains(&*name.value));
    let finding = |category: &Spanned<String>| {
        let help = match nearest(&category.value, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "use the name of a folder in `content/errors/`, or remove the line".to_string(),
        };
        Diagnostic::error(&RULE, category.span, format!("unknown category `{}`", category.value)).help(help)
    };
    unknown.map(finding).collect()
}

fn unknown(kind: Kind, named: &Spanned<String>, near: Option<&str>) -> Diagnostic {
    let id = PageId::new(kind, named.value.as_str());
    let (slug, folder) = (id.name(), id.folder());
    let help = match near.filter(|near| PageId::new(kind, *near).folder() == folder) {
        Some(near) => format!("did you mean `{}`?", PageId::new(kind, near).name()),
        None => format!("add `content/{folder}/…{slug}.md`, or remove the name"),
    };
    Diagnostic::error(&RULE, named.span, format!("unknown {} `{slug}`", kind.name())).help(help)
}
