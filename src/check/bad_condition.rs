//! A `when` is no condition, or uses a figure that nothing reads.

use crate::check::{Subject, part_faults};
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "bad-condition",
    demands: "`when` is a condition on figures that the signatures of the page read",
    why: "a condition that cannot be told never points to its cause",
};

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    part_faults(&RULE, &subject.compiled.condition_faults)
}
