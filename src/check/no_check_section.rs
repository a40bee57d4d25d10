//! Error pages without a section on how to check the fix.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::markdown::Heading;
use crate::site::kinds::{ErrorData, ErrorKind, is_check_section, key};
use crate::site::{Head, Page};

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
        .filter_map(of_page)
        .collect()
}

fn of_page(error: &Page<ErrorData>) -> Option<Diagnostic> {
    let Head { body, .. } = &error.head;
    let sections = || body.outline.headings.iter().filter(|heading| heading.level == 2);
    let is_check = |heading: &Heading| is_check_section(&heading.id, &heading.title);
    let Some(check) = sections().find(|heading| is_check(heading)) else {
        let finding =
            Diagnostic::warning(&RULE, error.head.title.span, "missing section `## Check that it worked`");
        return Some(
            finding.help("add `## Check that it worked {#check}` with a command and its expected output"),
        );
    };
    let last = sections().next_back().filter(|last| !is_check(last))?;
    let message = format!("section `{}` after `{}`", last.title, check.title);
    let finding = Diagnostic::warning(&RULE, body.span.part(last.range.start, last.range.end), message);
    Some(finding.help(format!("move `## {}` to the end of the page", check.title)))
}
