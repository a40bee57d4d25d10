//! Error pages as Markdown.

use std::fmt::Display;

use crate::escape::MarkdownText;
use crate::files::replace_ranges;
use crate::markdown::{links_inline, outline_inline, plain_inline};
use crate::render::prose::target_href;
use crate::render::views::RenderContext;
use crate::site::kinds::ErrorData;
use crate::site::{Head, Kind, Page};

/// Renders a page to Markdown: title and front matter in words, then the body with its figures filled in. Links start
/// with `root`, the relative path to the root of the site.
pub(super) fn alternate(cx: &RenderContext<'_>, error: &Page<ErrorData>, root: &str) -> MarkdownText {
    let data = &error.data;
    let head = &error.head;
    let mut text = MarkdownText::default();
    text.push_syntax("# ");
    text.push(&MarkdownText::plain(&head.title.value));
    text.push_syntax("\n\n");
    for sample in data.signatures.iter().flat_map(|signature| &signature.samples) {
        text.push(&MarkdownText::code_block(&sample.value));
    }
    text.push_syntax("## ");
    text.push(&MarkdownText::plain(cx.tr("Causes")));
    text.push_syntax("\n\n");
    for (cause, number) in data.causes.iter().zip(1..) {
        text.push(&MarkdownText::number(number));
        text.push_syntax("**");
        text.push(&line(cx, head, &cause.title.value, root));
        text.push_syntax("** ");
        text.push(&MarkdownText::plain(cx.tr("How to tell:")));
        text.push_syntax(" ");
        text.push(&line(cx, head, &cause.tell.value, root));
        text.push_syntax(" ");
        text.push(&MarkdownText::plain(cx.tr("Solutions")));
        for (at, id) in cause.solutions.iter().enumerate() {
            text.push_syntax(if at == 0 { ": " } else { ", " });
            text.push(&MarkdownText::code(&id.value));
        }
        text.push_syntax(".\n");
    }
    text.push_syntax("\n");
    let unlisted = cx.tr("If none of these causes applies, your error has another cause.");
    text.push(&MarkdownText::plain(unlisted));
    text.push_syntax("\n\n");
    text.push(&MarkdownText::checked(body(cx, head, root).trim()));
    text.push_syntax("\n\n## ");
    text.push(&MarkdownText::plain(cx.tr("Sources")));
    text.push_syntax("\n\n");
    for source in &data.evidence.sources {
        text.push_syntax("- ");
        text.push(&MarkdownText::address(&source.value));
        text.push_syntax("\n");
    }
    if let Some(verified) = &head.verified {
        text.push_syntax("\n");
        text.push(&MarkdownText::plain(&format!("{}: {}", cx.tr("Verified"), verified.value)));
        text.push_syntax("\n");
    }
    for change in &data.changes {
        text.push_syntax("\n");
        let values: [(&str, &dyn Display); 2] = [("date", &change.date.value), ("what", &change.what)];
        text.push(&MarkdownText::plain(&cx.fill("Changed on {date}: {what}", &values)));
        text.push_syntax("\n");
    }
    text
}

/// Returns the body with its figures filled in, and its links starting with `root`.
fn body(cx: &RenderContext<'_>, head: &Head, root: &str) -> String {
    let text = cx.inputs.sources.text(head.body.span);
    let known = cx.inputs.figures.get(head.path.as_str());
    let figures = head.body.outline.calls.iter().filter_map(|call| {
        let figure = known?.get(&call.range.start)?;
        Some((call.range.clone(), figure.text.clone()))
    });
    let includes = head.body.outline.calls.iter().filter_map(|call| {
        let included = cx.site().included(call).filter(|_| head.id.kind != Kind::Include)?;
        Some((call.range.clone(), body(cx, included, root).trim().to_string()))
    });
    let targets = cx.inputs.links.of(head);
    let links = head.body.outline.links.iter().filter_map(|link| {
        let target = targets?.target(&link.range)?;
        (text[link.range.clone()] == link.destination)
            .then(|| (link.range.clone(), target_href(root, target, cx.assets)))
    });
    replace_ranges(text, figures.chain(includes).chain(links).collect())
}

/// Returns one line of Markdown with links starting with `root`; plain text if it contains HTML or errors.
pub(super) fn line(cx: &RenderContext<'_>, head: &Head, text: &str, root: &str) -> MarkdownText {
    if text.contains(['<', '[']) && !outline_inline(text).errors.is_empty() {
        return MarkdownText::plain(&plain_inline(text));
    }
    let links = links_inline(text).into_iter().filter_map(|link| {
        let target = cx.inputs.links.of(head)?.lines.get(&link.destination)?;
        (text[link.range.clone()] == link.destination)
            .then(|| (link.range, target_href(root, target, cx.assets)))
    });
    MarkdownText::checked_line(&replace_ranges(text, links.collect()))
}
