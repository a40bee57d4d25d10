//! Links to missing headings.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule, nearest};
use crate::site::{Head, Missing};

/// Maximum number of headings compared with an anchor. Pages with more have a finding of their own.
const MAX_COMPARED_HEADINGS: usize = 1_000;

pub(super) const RULE: Rule = Rule {
    code: "broken-anchor",
    demands: "the part of a link after `#` is a heading of its page",
    why: "the reader would land at the top of the page instead",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for link in &context.links.dangling {
        let Missing::Anchor { page, anchor } = &link.missing else { continue };
        let head: Option<&Head> = match page {
            Some(page) => context.site.heads().find(|head| head.id == *page),
            None => context.site.heads().find(|head| head.source == link.span.source),
        };
        let ids = head.iter().flat_map(|head| &head.body.outline.headings).map(|heading| heading.id.as_str());
        let known: Vec<&str> = ids.take(MAX_COMPARED_HEADINGS).collect();
        let help = match nearest(anchor, known.iter().copied()) {
            Some(near) => format!("did you mean `#{near}`?"),
            None if known.is_empty() => "that page has no headings; link to the page as a whole".to_string(),
            None => format!(
                "its headings are {}",
                known.iter().map(|id| format!("`#{id}`")).collect::<Vec<_>>().join(", ")
            ),
        };
        let whose = head
            .filter(|_| page.is_some())
            .map_or("this page".to_string(), |head| format!("`{}`", head.path));
        found.push(
            Diagnostic::error(&RULE, link.span, format!("no heading `#{anchor}` in {whose}")).help(help),
        );
    }
    found
}
