//! Dates in the future.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = Rule {
    code: "future-date",
    requirement: "`verified` and the dates in `changes` are not in the future",
    why: "a page cannot be verified or changed in the future",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let verified = context.pages.heads().filter_map(|head| Some(("`verified`", head.verified.as_ref()?)));
    let changes = context.pages.errors.iter().flat_map(|error| &error.data.changes);
    verified
        .chain(changes.map(|change| ("`date`", &change.date)))
        .filter(|(_, date)| date.value > **context.today)
        .map(|(name, date)| {
            Diagnostic::error(&RULE, date.span, format!("{name} is in the future: {}", date.value))
                .help(format!("today is {}", **context.today))
        })
        .collect()
}
