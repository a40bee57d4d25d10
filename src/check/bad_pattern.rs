//! Signatures that cannot be parsed.

use crate::check::{CheckContext, signature_findings};
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "bad-pattern",
    requirement: "a signature is literal text with typed placeholders, and its extractor exists",
    why: "an invalid pattern matches nothing",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    signature_findings(&RULE, &context.compiled().pattern_errors)
}
