//! A page claims to have been verified on a day that has not come.

use crate::check::Subject;
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "future-date",
    demands: "`verified` is today or earlier",
    why: "nobody has verified anything on a day to come",
};

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    subject
        .site
        .heads()
        .filter_map(|head| head.verified.as_ref())
        .filter(|verified| verified.value > subject.today)
        .map(|verified| {
            Diagnostic::error(
                &RULE,
                verified.span,
                format!("`verified` is {}, a day to come", verified.value),
            )
            .help(format!("today is {}", subject.today))
        })
        .collect()
}
