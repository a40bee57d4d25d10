//! A signature's text is no pattern.

use crate::check::{Subject, part_faults};
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "bad-pattern",
    demands: "a signature is literal text with typed holes, and its extractor is known",
    why: "a pattern that cannot be read finds nothing",
};

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    part_faults(&RULE, &subject.compiled().pattern_errors)
}
