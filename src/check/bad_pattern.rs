//! Signatures that cannot be parsed.

use crate::check::{CheckContext, signature_findings};
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "bad-pattern",
    demands: "a signature is literal text with typed holes, and its extractor is known",
    why: "a pattern that cannot be read finds nothing",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    signature_findings(&RULE, &context.compiled().pattern_errors)
}
