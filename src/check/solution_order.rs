//! Solutions that are not in the order of their causes.

use std::collections::BTreeSet;

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::{Edit, Span};
use crate::site::Page;
use crate::site::kinds::ErrorData;

pub(super) const RULE: Rule = Rule {
    code: "solution-order",
    requirement: "solutions, in `solutions:` and in the body, are in the order in which the causes first name them",
    why: "causes are sorted by likelihood, and the page shows each solution at the first cause that names it",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let errors = &context.pages.errors;
    let finding = |error| in_front_matter(context, error).or_else(|| in_body(context, error));
    errors.iter().filter_map(finding).collect()
}

/// A solution: its id, the place of a finding, and everything that moves with it.
struct Solution<'s> {
    id: &'s str,
    named_at: Span,
    whole: Span,
}

fn in_front_matter(context: &CheckContext<'_>, error: &Page<ErrorData>) -> Option<Diagnostic> {
    let listed = error.data.solutions.iter();
    let listed: Vec<Solution<'_>> =
        listed.map(|own| Solution { id: &own.id.value, named_at: own.id.span, whole: own.span }).collect();
    misplaced(context, &error.data, &listed, ("solution", "`solutions:` and the sections"))
}

fn in_body(context: &CheckContext<'_>, error: &Page<ErrorData>) -> Option<Diagnostic> {
    let named: BTreeSet<&str> =
        error.data.named_solutions().into_iter().map(|id| id.value.as_str()).collect();
    let body = &error.head.body;
    let headings: Vec<_> = body.outline.headings.iter().filter(|heading| heading.level == 2).collect();
    let length = body.span.end - body.span.start;
    let ends = headings.iter().skip(1).map(|next| next.range.start).chain([length]);
    let sections = headings.iter().zip(ends).filter(|(heading, _)| named.contains(heading.id.as_str()));
    let sections: Vec<Solution<'_>> = sections
        .map(|(heading, end)| {
            let part = |end| body.span.part(heading.range.start, end);
            let text = context.sources.text(part(end)).trim_end();
            let whole = part(heading.range.start + text.len());
            Solution { id: &heading.id, named_at: part(heading.range.end), whole }
        })
        .collect();
    misplaced(context, &error.data, &sections, ("section", "the sections"))
}

/// Returns a finding on the first solution that comes too early. Ids that causes do not name are reported by
/// `cause-solution`, missing sections by `solution-heading`.
fn misplaced(
    context: &CheckContext<'_>,
    data: &ErrorData,
    solutions: &[Solution<'_>],
    (what, all): (&str, &str),
) -> Option<Diagnostic> {
    let expected: Vec<&str> = data.named_solutions().into_iter().map(|id| id.value.as_str()).collect();
    let of_id = |id: &str| solutions.iter().find(|own| own.id == id);
    let sorted: Vec<&Solution<'_>> = expected.iter().filter_map(|id| of_id(id)).collect();
    let has_all = solutions.len() == expected.len() && sorted.len() == expected.len();
    let (own, before) =
        solutions.iter().zip(&expected).find(|(own, before)| own.id != **before).filter(|_| has_all)?;
    let message = format!("{what} `{}` comes before `{before}`, which the causes name first", own.id);
    let list: Vec<String> = expected.iter().map(|id| format!("`{id}`")).collect();
    let finding =
        Diagnostic::warning(&RULE, own.named_at, message).help(format!("order {all}: {}", list.join(", ")));
    Some(finding.edit(reordered(context, solutions, &sorted)?))
}

/// Returns the edit that puts the texts of solutions in another order, and keeps the texts between them.
fn reordered(context: &CheckContext<'_>, now: &[Solution<'_>], sorted: &[&Solution<'_>]) -> Option<Edit> {
    let text = |span: Span| context.sources.text(span);
    let mut edit = Edit::new(now.first()?.whole, "");
    for (place, own) in now.iter().zip(sorted) {
        if place.whole.start > edit.span.end {
            edit.text.push_str(text(Span::new(place.whole.source, edit.span.end, place.whole.start)));
        }
        edit.text.push_str(text(own.whole));
        edit.span.end = place.whole.end;
    }
    Some(edit)
}
