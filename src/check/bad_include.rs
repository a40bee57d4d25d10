//! Calls that include a text, and the included texts.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule, nearest};
use crate::markdown::Call;
use crate::site::{Head, Kind, PageId, included};

pub(super) const RULE: Rule = Rule {
    code: "bad-include",
    requirement: "`include` is a paragraph of its own and names a text in content/includes/, which has no headings, footnotes and includes",
    why: "the text becomes a part of several pages, each with its own headings",
};

/// Maximum number of includes on a page, so that a small page cannot become a huge one.
const MAX_INCLUDES: usize = 20;

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for head in context.pages.heads() {
        let calls = head.body.outline.calls.iter().filter(|call| included(&call.source).is_some());
        found.extend(calls.enumerate().filter_map(|(at, call)| finding(context, head, at, call)));
        if head.id.kind == Kind::Include {
            found.extend(own_parts(head));
        }
    }
    found
}

fn finding(context: &CheckContext<'_>, head: &Head, at: usize, call: &Call) -> Option<Diagnostic> {
    let part = |range: &std::ops::Range<usize>| head.body.span.part(range.start, range.end);
    let inner = part(&call.inner_range);
    let name = match included(&call.source)? {
        Ok(name) => name,
        Err(fault) => {
            let span = inner.part(fault.range.start, fault.range.end);
            return Some(Diagnostic::error(&RULE, span, fault.message).help(fault.help));
        }
    };
    let error =
        |message: &str, help: &str| Some(Diagnostic::error(&RULE, part(&call.range), message).help(help));
    if head.id.kind == Kind::Include {
        return error("an included text includes another one", "include both in the page");
    }
    if !call.is_paragraph {
        return error(
            "`include` is not a paragraph of its own",
            "put it on a line of its own, with an empty line before and after it",
        );
    }
    if at >= MAX_INCLUDES {
        let message = format!("more than {MAX_INCLUDES} texts are included");
        return error(&message, "write the texts into the page");
    }
    if context.site.head(&PageId::new(Kind::Include, name.value.as_str())).is_some() {
        return None;
    }
    let help = match nearest(&name.value, context.site.slugs(Kind::Include)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("add `content/includes/{}.md`", name.value),
    };
    let span = inner.part(name.range.start, name.range.end);
    Some(Diagnostic::error(&RULE, span, format!("no text `{}` to include", name.value)).help(help))
}

/// Reports headings and footnotes of an included text.
fn own_parts(head: &Head) -> impl Iterator<Item = Diagnostic> {
    let outline = &head.body.outline;
    let headings = outline.headings.iter().map(|heading| (&heading.range, "heading"));
    let footnotes = outline.footnotes.iter().map(|range| (range, "footnote"));
    headings.chain(footnotes).map(|(range, part)| {
        let span = head.body.span.part(range.start, range.end);
        Diagnostic::error(&RULE, span, format!("a {part} in an included text"))
            .help("move it to the pages that include the text")
    })
}
