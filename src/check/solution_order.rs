//! Solutions that are not in the order of their causes.

use std::collections::BTreeSet;

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::Page;
use crate::site::kinds::ErrorData;

pub(super) const RULE: Rule = Rule {
    code: "solution-order",
    requirement: "solutions, in `solutions:` and in the body, are in the order in which the causes first name them",
    why: "causes are sorted by likelihood, and the page shows each solution at the first cause that names it",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let errors = &context.pages.errors;
    errors.iter().filter_map(|error| in_front_matter(&error.data).or_else(|| in_body(error))).collect()
}

fn in_front_matter(data: &ErrorData) -> Option<Diagnostic> {
    let listed: Vec<(&str, Span)> =
        data.solutions.iter().map(|solution| (solution.id.value.as_str(), solution.id.span)).collect();
    misplaced(data, &listed, "solution", "`solutions:` and the sections")
}

fn in_body(error: &Page<ErrorData>) -> Option<Diagnostic> {
    let named: BTreeSet<&str> =
        error.data.named_solutions().into_iter().map(|id| id.value.as_str()).collect();
    let headings = error.head.body.outline.headings.iter();
    let sections: Vec<(&str, Span)> = headings
        .filter(|heading| heading.level == 2 && named.contains(heading.id.as_str()))
        .map(|heading| {
            (heading.id.as_str(), error.head.body.span.part(heading.range.start, heading.range.end))
        })
        .collect();
    misplaced(&error.data, &sections, "section", "the sections")
}

/// Returns a finding on the first id that comes too early. Ids that causes do not name are reported by `cause-solution`,
/// missing sections by `solution-heading`.
fn misplaced(data: &ErrorData, ids: &[(&str, Span)], what: &str, all: &str) -> Option<Diagnostic> {
    let expected: Vec<&str> = data.named_solutions().into_iter().map(|id| id.value.as_str()).collect();
    let has_all = ids.len() == expected.len() && ids.iter().all(|(id, _)| expected.contains(id));
    let ((id, span), before) =
        ids.iter().zip(&expected).find(|((id, _), before)| id != *before).filter(|_| has_all)?;
    let message = format!("{what} `{id}` comes before `{before}`, which the causes name first");
    let list: Vec<String> = expected.iter().map(|id| format!("`{id}`")).collect();
    Some(Diagnostic::warning(&RULE, *span, message).help(format!("order {all}: {}", list.join(", "))))
}
