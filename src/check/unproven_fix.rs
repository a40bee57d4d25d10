//! Readings of any message whose next step begins with a fix.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::kinds::{ReadingData, Role, SaysText};

pub(super) const RULE: Rule = Rule {
    code: "unproven-fix",
    requirement: "the next step of a reading of tracebacks, with the role `form`, or with the role `cause` and an order from 80 \
                  begins with a check or a condition, not with a fix",
    why: "such a reading knows the form of a message, not its cause; a fix for another cause misleads",
};

/// Readings that name a cause are this late because they know little of it.
const LATE_ORDER: i64 = 80;
/// Words that begin a fix.
const FIXES: [&str; 21] = [
    "Add",
    "Change",
    "Choose",
    "Correct",
    "Create",
    "Delete",
    "Download",
    "Give",
    "Install",
    "Lower",
    "Provide",
    "Raise",
    "Reinstall",
    "Remove",
    "Replace",
    "Restart",
    "Set",
    "Unset",
    "Update",
    "Upgrade",
    "Use",
];

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let is_general = |data: &ReadingData| match data.role {
        Role::Form => true,
        Role::Cause => data.traceback || data.order >= LATE_ORDER,
        Role::Outcome | Role::Crash | Role::Pointer | Role::Repeat => data.traceback,
    };
    let general = context.site.readings.iter().filter(|page| is_general(&page.data));
    general.flat_map(|page| page.data.says.iter().filter_map(finding)).collect()
}

fn finding(says: &SaysText) -> Option<Diagnostic> {
    let word = says.next.value.split_whitespace().next()?;
    FIXES.contains(&word).then(|| {
        Diagnostic::warning(&RULE, says.next.span, format!("the next step begins with the fix `{word}`"))
            .help("say first how to find out whether it helps, or when it does")
    })
}
