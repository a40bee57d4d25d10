//! Pages without text below the front matter.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::Kind;

pub(super) const RULE: Rule = Rule {
    code: "empty-body",
    requirement: "pages other than models, devices and categories have text below the front matter",
    why: "readers would find an empty page",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    context
        .pages
        .heads()
        .filter(|head| !matches!(head.id.kind, Kind::Model | Kind::Hardware | Kind::Category))
        .filter(|head| !head.body.outline.has_body)
        .map(|head| {
            // Point to the end of the front matter, since there may be no line below it.
            let at = head.front.end;
            let end = (at + 3).min(head.body.span.start);
            Diagnostic::error(&RULE, Span::new(head.source, at, end), "empty page body")
                .help("add text below the front matter")
        })
        .collect()
}
