//! A `when` or a `case` cannot be reckoned, or uses a figure that nothing reads.

use crate::check::{Subject, part_faults};
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "bad-condition",
    demands: "`when` is a condition, and braces of `case` hold values, on figures that the signatures of the page read",
    why: "a condition that cannot be told never points to its cause",
};

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    part_faults(&RULE, &subject.compiled().condition_errors)
}
