//! Conditions and values that cannot be parsed or use unknown figures.

use crate::check::{CheckContext, signature_findings};
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "bad-condition",
    demands: "`when` is a condition, and braces of `case` hold values, on figures that the signatures of the page read",
    why: "a condition that cannot be told never points to its cause",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    signature_findings(&RULE, &context.compiled().condition_errors)
}
