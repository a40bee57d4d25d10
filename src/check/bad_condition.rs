//! Conditions and values that cannot be parsed or use unknown figures.

use crate::check::{CheckContext, signature_findings};
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "bad-condition",
    requirement: "`when` is a valid condition, braces in `case` contain valid values, and both use only figures that the signatures of the page define",
    why: "a condition that cannot be evaluated never selects its cause",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    signature_findings(&RULE, &context.compiled().condition_errors)
}
