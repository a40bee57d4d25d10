//! Causes with undeclared solutions, and solutions without a cause.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule, nearest};
use crate::site::kinds::{ErrorData, key};

pub(super) const RULE: Rule = Rule {
    code: "cause-solution",
    requirement: "causes refer to declared solutions, and every solution belongs to a cause",
    why: "readers follow a cause to its fix",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for error in &context.pages.errors {
        let declared = || error.data.solutions.iter().map(|solution| solution.id.value.as_str());
        for cause in &error.data.causes {
            let is_unknown =
                |id: &str| error.head.knows(key!(ErrorData.solutions)) && declared().all(|known| known != id);
            for named in cause.solutions.iter().filter(|named| is_unknown(&named.value)) {
                let help = match nearest(&named.value, declared()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("add it to `solutions:` with `id: {}`", named.value),
                };
                let message = format!("no solution with the id `{}`", named.value);
                found.push(Diagnostic::error(&RULE, named.span, message).help(help));
            }
        }
        let is_named = |id: &str| {
            error.data.causes.iter().any(|cause| cause.solutions.iter().any(|named| named.value == id))
        };
        for solution in error.data.solutions.iter().filter(|solution| !solution.id.value.is_empty()) {
            if error.head.knows(key!(ErrorData.causes)) && !is_named(&solution.id.value) {
                let message = format!("solution `{}` belongs to no cause", solution.id.value);
                found.push(
                    Diagnostic::error(&RULE, solution.id.span, message)
                        .help("add its id to `solutions:` of a cause, or remove it"),
                );
            }
        }
    }
    found
}
