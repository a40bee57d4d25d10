//! Error pages without a section on how to check the fix.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::kinds::{ErrorData, ErrorKind, is_check_section, key};

pub(super) const RULE: Rule = Rule {
    code: "no-check-section",
    requirement: "error pages end with a section `## Check that it worked`",
    why: "readers need to know whether the fix worked",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    context
        .pages
        .errors
        .iter()
        .filter(|error| error.head.knows(key!(ErrorData.kind)))
        .filter(|error| error.data.kind == ErrorKind::Cause && error.head.body.outline.has_body)
        .filter(|error| error.head.body.outline.knows_headings())
        .filter(|error| {
            let headings = &error.head.body.outline.headings;
            !headings
                .iter()
                .any(|heading| heading.level == 2 && is_check_section(&heading.id, &heading.title))
        })
        .map(|error| {
            Diagnostic::warning(&RULE, error.head.title.span, "missing section `## Check that it worked`")
                .help("add `## Check that it worked {#check}` with a command and its expected output")
        })
        .collect()
}
