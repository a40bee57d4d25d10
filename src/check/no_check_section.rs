//! Error pages without a section on how to check the fix.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::kinds::{ErrorData, ErrorKind, is_check_section, key};

pub(super) const RULE: Rule = Rule {
    code: "no-check-section",
    demands: "the body of an error ends with a section `## Check that it worked`",
    why: "a reader wants to know when they are done",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    context
        .pages
        .errors
        .iter()
        .filter(|error| error.head.knows(key!(ErrorData.kind)))
        .filter(|error| error.data.kind == ErrorKind::Cause && error.head.body.outline.has_body)
        .filter(|error| {
            let headings = &error.head.body.outline.headings;
            !headings
                .iter()
                .any(|heading| heading.level == 2 && is_check_section(&heading.id, &heading.title))
        })
        .map(|error| {
            Diagnostic::warning(
                &RULE,
                error.head.title.span,
                "the page does not say how to see that it worked",
            )
            .help("close the body with `## Check that it worked {#check}`, a command and what one should see")
        })
        .collect()
}
