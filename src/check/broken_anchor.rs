//! Links to missing headings.

use crate::check::{CheckContext, MAX_SUGGESTIONS};
use crate::diag::{Diagnostic, Rule, nearest};
use crate::site::kinds::ErrorData;
use crate::site::{Head, Kind, Missing, Page, PageId};

/// Maximum number of headings compared with an anchor. Pages with more have a finding of their own.
const MAX_COMPARED_HEADINGS: usize = 1_000;

/// Maximum number of headings in a help.
const MAX_LISTED: usize = 8;

pub(super) const RULE: Rule = Rule {
    code: "broken-anchor",
    requirement: "the fragment of a link is the id of a heading on its target page",
    why: "the link would lead to the top of the page",
};

/// Returns whether the missing heading follows from another finding: about the headings of the page, the heading of a solution,
/// or another page with the same slug.
fn is_reported(context: &CheckContext<'_>, head: &Head, anchor: &str) -> bool {
    let error =
        Some(&head.id).filter(|id| id.kind == Kind::Error).and_then(|id| context.site.error(&id.slug));
    let has_solution =
        |error: &Page<ErrorData>| error.data.solutions.iter().any(|solution| solution.id.value == anchor);
    let is_double = || context.site.named(&head.id).count() > 1;
    !head.body.outline.knows_headings() || error.is_some_and(has_solution) || is_double()
}

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for link in &context.links.dangling {
        let Missing::Anchor { page, anchor } = &link.missing else { continue };
        let is_suggested = found.len() < MAX_SUGGESTIONS;
        let head: Option<&Head> = match page {
            Some(page) => context.site.head(page),
            None => PageId::of_path(&context.sources.get(link.span.source).path)
                .and_then(|id| context.site.named(&id).find(|head| head.source == link.span.source)),
        };
        if head.is_some_and(|head| is_reported(context, head, anchor)) {
            continue;
        }
        let ids = head.iter().flat_map(|head| &head.body.outline.headings).map(|heading| heading.id.as_str());
        let known: Vec<&str> = ids.take(MAX_COMPARED_HEADINGS).collect();
        let near = is_suggested.then(|| nearest(anchor, known.iter().copied())).flatten();
        let help = match near {
            Some(near) => format!("did you mean `#{near}`?"),
            None if known.is_empty() => "the page has no headings; remove the fragment".to_string(),
            None if !is_suggested => "use the id of a heading, or remove the fragment".to_string(),
            None => format!(
                "use one of {}",
                known.iter().take(MAX_LISTED).map(|id| format!("`#{id}`")).collect::<Vec<_>>().join(", ")
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
