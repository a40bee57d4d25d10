//! Texts of pages with their locations.

use crate::check::CheckContext;
use crate::files::{Span, Spanned};
use crate::markdown::{Outline, outline_inline};
use crate::site::Head;

/// Characters without which a line has no link, and those without which it has no code.
pub(super) const LINK_MARKS: &[char] = &['[', '<'];
pub(super) const CODE_MARKS: &[char] = &['`'];

/// Returns the heads of the checked pages and of extractors and readings, which have no page but are read by people.
pub(super) fn heads<'s>(context: &CheckContext<'s>) -> impl Iterator<Item = &'s Head> {
    let extractors = context.pages.extractors.iter().map(|page| &page.head);
    let readings = context.pages.readings.iter().map(|page| &page.head);
    context.pages.heads().chain(extractors).chain(readings)
}

/// Returns those of [`heads`] that were read from a file of their own; a category may be implied by the files of its errors.
pub(super) fn files<'s>(context: &CheckContext<'s>) -> impl Iterator<Item = &'s Head> {
    let sources = context.sources;
    heads(context).filter(move |head| !head.is_unread() && sources.get(head.source).path == head.path)
}

/// Returns the one-line Markdown of the front matter that contains one of `marks`, with its outline. Quotes and folded lines
/// shift offsets, so findings cover the whole value.
pub(super) fn lines<'s>(
    context: &CheckContext<'s>,
    marks: &'static [char],
) -> impl Iterator<Item = (&'s Spanned<String>, Outline)> {
    let causes = context.pages.errors.iter().flat_map(|error| &error.data.causes);
    let lines = causes.flat_map(|cause| [&cause.title, &cause.tell]);
    lines.filter(move |line| line.value.contains(marks)).map(|line| (line, outline_inline(&line.value)))
}

/// Returns whether a byte of a body is in inline code or in a fenced code block.
pub(super) fn is_code(head: &Head, at: usize) -> bool {
    let outline = &head.body.outline;
    let inline = outline.code.partition_point(|range| range.end <= at);
    let fence = outline.fences.partition_point(|fence| fence.range.end <= at);
    outline.code.get(inline).is_some_and(|range| range.contains(&at))
        || outline.fences.get(fence).is_some_and(|fence| fence.range.contains(&at))
}

/// Returns the texts of a page for checks of characters: front matter, values written with escapes, body.
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

/// Text with its location.
pub(super) struct CheckedText<'s> {
    pub text: &'s str,
    location: TextLocation,
}

enum TextLocation {
    /// The text is the source text.
    Exact(Span),
    /// The text is a decoded value.
    Value(Span),
}

impl CheckedText<'_> {
    /// Returns the span of a range of the text.
    pub fn span(&self, range: &std::ops::Range<usize>) -> Span {
        match self.location {
            TextLocation::Exact(span) => span.part(range.start, range.end),
            TextLocation::Value(span) => span,
        }
    }
}
