//! Pages of one kind with the same slug, ignoring case.

use std::collections::BTreeMap;

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::Head;

pub(super) const RULE: Rule = Rule {
    code: "duplicate-slug",
    requirement: "slugs are unique within a page kind, ignoring folders and case",
    why: "both pages would have the same URL",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut first: BTreeMap<_, &Head> = BTreeMap::new();
    let mut found = Vec::new();
    for head in context.site.heads().filter(|head| !head.is_unread()) {
        match first.get(&head.id) {
            None => {
                first.insert(&head.id, head);
            }
            Some(other) => found.push(
                Diagnostic::error(
                    &RULE,
                    Span::top(head.source),
                    format!("duplicate slug `{}`, also used by `{}`", head.id.name(), other.path),
                )
                .help("rename one of the two files"),
            ),
        }
    }
    found
}
