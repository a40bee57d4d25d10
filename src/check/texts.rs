//! The texts of pages that a reader sees, with their places.

use crate::check::CheckContext;
use crate::files::{Placed, Span};
use crate::markdown::{Outline, outline_inline};
use crate::site::Head;

/// Heads of the pages that are judged, and of extractors: they have no page, but people read them.
pub(super) fn heads<'s>(context: &CheckContext<'s>) -> impl Iterator<Item = &'s Head> {
    context.pages.heads().chain(context.pages.extractors.iter().map(|extractor| &extractor.head))
}

/// One-line Markdown of the front matter with its outline. Quotes and folded lines move what is in a value, so its
/// findings are placed at the whole value.
pub(super) fn lines<'s>(context: &CheckContext<'s>) -> impl Iterator<Item = (&'s Placed<String>, Outline)> {
    let causes = context.pages.errors.iter().flat_map(|error| &error.data.causes);
    let lines = causes.flat_map(|cause| [&cause.title, &cause.tell]);
    lines.filter(|line| line.value.contains(['`', '[', '<'])).map(|line| (line, outline_inline(&line.value)))
}

/// Whether a byte of a body lies in inline code or in a fenced code block.
pub(super) fn is_code(head: &Head, at: usize) -> bool {
    let outline = &head.body.outline;
    let inline = outline.code.partition_point(|range| range.end <= at);
    let fence = outline.fences.partition_point(|fence| fence.range.end <= at);
    outline.code.get(inline).is_some_and(|range| range.contains(&at))
        || outline.fences.get(fence).is_some_and(|fence| fence.range.contains(&at))
}

/// The texts of a page in which characters count: its front matter, values that are written with escapes, its body.
pub(super) fn whole<'s>(context: &CheckContext<'s>, head: &'s Head) -> impl Iterator<Item = CheckedText<'s>> {
    let front =
        CheckedText { text: context.sources.text(head.front), location: TextLocation::Exact(head.front) };
    let escaped = head
        .escaped
        .iter()
        .map(|value| CheckedText { text: &value.value, location: TextLocation::Value(value.span) });
    let body = CheckedText {
        text: context.sources.text(head.body.span),
        location: TextLocation::Exact(head.body.span),
    };
    [front, body].into_iter().chain(escaped)
}

/// A text and where it was read.
pub(super) struct CheckedText<'s> {
    /// The text.
    pub text: &'s str,
    location: TextLocation,
}

enum TextLocation {
    /// Every byte of the text has its place.
    Exact(Span),
    /// Bytes of the text are others than those written.
    Value(Span),
}

impl CheckedText<'_> {
    /// The place of a range of the text.
    pub fn span(&self, range: &std::ops::Range<usize>) -> Span {
        match self.location {
            TextLocation::Exact(span) => span.part(range.start, range.end),
            TextLocation::Value(span) => span,
        }
    }
}
