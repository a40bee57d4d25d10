//! Two causes or two solutions of a page have one id.

use std::collections::BTreeMap;

use crate::check::Subject;
use crate::diag::{Diagnostic, Rule};
use crate::files::{Span, Spanned};

pub(super) const RULE: Rule = Rule {
    code: "duplicate-id",
    demands: "an id is given once on its page, to one cause, one solution or one heading",
    why: "links and conclusions name causes and solutions by it",
};

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for error in &subject.pages.errors {
        repeats(error.data.causes.iter().map(|cause| &cause.id), "cause", &mut found);
        repeats(error.data.solutions.iter().map(|solution| &solution.id), "solution", &mut found);
    }
    found
}

fn repeats<'a>(ids: impl Iterator<Item = &'a Spanned<String>>, what: &str, found: &mut Vec<Diagnostic>) {
    let mut first: BTreeMap<&str, Span> = BTreeMap::new();
    for id in ids.filter(|id| !id.value.is_empty()) {
        match first.get(id.value.as_str()) {
            None => {
                first.insert(&id.value, id.span);
            }
            Some(other) => found.push(
                Diagnostic::error(&RULE, id.span, format!("a second {what} has the id `{}`", id.value))
                    .related(*other, "first here")
                    .help("choose another id"),
            ),
        }
    }
}
