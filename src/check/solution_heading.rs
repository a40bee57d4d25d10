//! Solutions without a heading in the body.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule, nearest};

pub(super) const RULE: Rule = Rule {
    code: "solution-heading",
    requirement: "solutions have a heading `## … {#id}` in the body",
    why: "causes link to it",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for error in &context.pages.errors {
        let headings = &error.head.body.outline.headings;
        let is_solution = |id: &str| error.data.solutions.iter().any(|solution| solution.id.value == id);
        for solution in error.data.solutions.iter().filter(|solution| !solution.id.value.is_empty()) {
            let id = &solution.id.value;
            if headings.iter().any(|heading| heading.level == 2 && heading.id == *id) {
                continue;
            }
            let free = headings.iter().filter(|heading| heading.explicit_id && !is_solution(&heading.id));
            let help = match nearest(id, free.map(|heading| heading.id.as_str())) {
                Some(near) => format!("did you mean the heading with the id `{near}`?"),
                None => format!("add `## … {{#{id}}}` to the body"),
            };
            let message = format!("solution `{id}` has no heading in the body");
            found.push(Diagnostic::error(&RULE, solution.id.span, message).help(help));
        }
    }
    found
}
