//! Page names reserved by kbgen, hosts or file systems.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::{Kind, why_reserved};

pub(super) const RULE: Rule = Rule {
    code: "reserved-name",
    requirement: "pages do not use names reserved by kbgen or file systems",
    why: "the page would replace another one, or could not be written",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    context
        .site
        .heads()
        .filter(|head| !head.is_unread())
        .filter_map(|head| {
            let folder = format!("static/root/{}/", head.id.slug);
            let is_taken =
                head.id.kind == Kind::Document && context.sources.assets_under(&folder).next().is_some();
            let why = why_reserved(head.id.kind, head.id.name())
                .or_else(|| is_taken.then_some("`static/root/` has a folder with this name"))?;
            let message = format!("the name `{}` is reserved", head.id.name());
            Some(
                Diagnostic::error(&RULE, Span::top(head.source), message)
                    .help(format!("{why}; rename the file")),
            )
        })
        .collect()
}
