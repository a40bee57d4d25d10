//! Duplicate ids of causes and solutions, and duplicate titles of causes.

use std::collections::BTreeMap;

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::{Span, Spanned};

pub(super) const RULE: Rule = Rule {
    code: "duplicate-id",
    requirement: "ids of causes, solutions and headings, and titles of causes, are unique on their page",
    why: "links and conclusions refer to causes and solutions by id",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for error in &context.pages.errors {
        repeats(error.data.causes.iter().map(|cause| &cause.id), "cause id", &mut found);
        repeats(error.data.solutions.iter().map(|solution| &solution.id), "solution id", &mut found);
        repeats(error.data.causes.iter().map(|cause| &cause.title), "cause title", &mut found);
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
                Diagnostic::error(&RULE, id.span, format!("duplicate {what} `{}`", id.value))
                    .related(*other, "first defined here")
                    .help(format!("choose another {}", what.rsplit(' ').next().unwrap_or(what))),
            ),
        }
    }
}
