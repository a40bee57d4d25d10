//! A solution of the front matter and the headings of the body do not meet.

use crate::check::Subject;
use crate::diag::{Diagnostic, Rule, nearest};

pub(super) const RULE: Rule = Rule {
    code: "solution-heading",
    demands: "every solution has a heading `## … {#id}` in the body",
    why: "the cause leads the reader there",
};

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for error in &subject.pages.errors {
        let headings = &error.head.body.outline.headings;
        let is_solution = |id: &str| error.data.solutions.iter().any(|solution| solution.id.value == id);
        for solution in error.data.solutions.iter().filter(|solution| !solution.id.value.is_empty()) {
            let id = &solution.id.value;
            if headings.iter().any(|heading| heading.level == 2 && heading.id == *id) {
                continue;
            }
            let free = headings.iter().filter(|heading| heading.explicit_id && !is_solution(&heading.id));
            let help = match nearest(id, free.map(|heading| heading.id.as_str())) {
                Some(near) => format!("the heading with the id `{near}` may be meant"),
                None => format!("write `## … {{#{id}}}` in the body"),
            };
            let message = format!("the solution `{id}` has no heading in the body");
            found.push(Diagnostic::error(&RULE, solution.id.span, message).help(help));
        }
    }
    found
}
