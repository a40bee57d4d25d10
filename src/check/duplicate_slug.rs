//! Pages of one kind with the same slug, ignoring case.

use std::collections::BTreeMap;

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::Head;

pub(super) const RULE: Rule = Rule {
    code: "duplicate-slug",
    demands: "a slug is taken once in its kind, whatever the folder and the case of its letters",
    why: "both pages would have one address",
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
                    format!("the slug `{}` is taken by `{}`", head.id.slug, other.path),
                )
                .help("give one of the two files another name"),
            ),
        }
    }
    found
}
