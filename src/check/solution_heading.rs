//! Solutions without a heading in the body.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Spanned;
use crate::markdown::{Heading, slug};
use crate::site::kinds::{ErrorData, is_check_section};
use crate::site::{Head, Page};

pub(super) const RULE: Rule = Rule {
    code: "solution-heading",
    requirement: "solutions have a heading `## … {#id}` in the body",
    why: "causes link to it",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let known = context.pages.errors.iter().filter(|error| error.head.body.outline.knows_headings());
    known.flat_map(of_page).collect()
}

fn of_page(error: &Page<ErrorData>) -> Vec<Diagnostic> {
    let headings = &error.head.body.outline.headings;
    let missing: Vec<_> = error
        .data
        .solutions
        .iter()
        .map(|solution| &solution.id)
        .filter(|id| {
            !id.value.is_empty() && !headings.iter().any(|heading| is_heading_of(heading, &id.value))
        })
        .collect();
    let is_solution = |id: &str| error.data.solutions.iter().any(|solution| solution.id.value == id);
    let finding = |id: &&Spanned<String>| {
        let message = format!("solution `{}` has no heading in the body", id.value);
        let at = |heading: &Heading| error.head.body.span.part(heading.range.start, heading.range.end);
        if let Some(heading) = headings.iter().find(|heading| heading.id == id.value) {
            let message = format!("heading of solution `{}` at level {}", id.value, heading.level);
            return Diagnostic::error(&RULE, at(heading), message).help("use `##`, the level of solutions");
        }
        if let Some(heading) = without_id(&error.head, &id.value, missing.len()) {
            let message = format!("heading of solution `{}` has no id", id.value);
            return Diagnostic::error(&RULE, at(heading), message)
                .help(format!("write `## {} {{#{}}}`", heading.title, id.value));
        }
        let free = headings.iter().filter(|heading| heading.explicit_id && !is_solution(&heading.id));
        let help = match nearest(&id.value, free.map(|heading| heading.id.as_str())) {
            Some(near) => format!("did you mean the heading with the id `{near}`?"),
            None => format!("add `## … {{#{}}}` to the body", id.value),
        };
        Diagnostic::error(&RULE, id.span, message).help(help)
    };
    missing.iter().map(finding).collect()
}

fn is_heading_of(heading: &Heading, id: &str) -> bool {
    heading.level == 2 && heading.id == id
}

/// Returns the heading without an id that a solution means: its title is similar to the id, or it is the only one and
/// one solution is missing.
fn without_id<'h>(head: &'h Head, id: &str, missing: usize) -> Option<&'h Heading> {
    let free: Vec<&Heading> = head
        .body
        .outline
        .headings
        .iter()
        .filter(|heading| heading.level == 2 && !heading.explicit_id)
        .filter(|heading| !is_check_section(&heading.id, &heading.title))
        .collect();
    let is_similar = |heading: &&&Heading| {
        let title = slug(&heading.title);
        title.starts_with(id) || nearest(id, [title.as_str()]).is_some()
    };
    let similar = free.iter().find(is_similar).copied();
    similar.or_else(|| free.first().copied().filter(|_| free.len() == 1 && missing == 1))
}
