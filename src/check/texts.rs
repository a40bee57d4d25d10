//! The texts of pages that a reader sees, with their places.

use crate::check::Subject;
use crate::files::{Span, Spanned};
use crate::markdown::{Outline, outline_inline};
use crate::site::Head;

/// Heads of the pages that are judged, and of extractors: they have no page, but people read them.
pub(super) fn heads<'s>(subject: &Subject<'s>) -> impl Iterator<Item = &'s Head> {
    subject.pages.heads().chain(subject.pages.extractors.iter().map(|extractor| &extractor.head))
}

/// One-line Markdown of the front matter with its outline. Quotes and folded lines move what is in a value, so its
/// findings are placed at the whole value.
pub(super) fn lines<'s>(subject: &Subject<'s>) -> impl Iterator<Item = (&'s Spanned<String>, Outline)> {
    let causes = subject.pages.errors.iter().flat_map(|error| &error.data.causes);
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
pub(super) fn whole<'s>(subject: &Subject<'s>, head: &'s Head) -> impl Iterator<Item = Text<'s>> {
    let front = Text { text: subject.sources.text(head.front), place: Place::Exact(head.front) };
    let escaped =
        head.escaped.iter().map(|value| Text { text: &value.value, place: Place::Value(value.span) });
    let body = Text { text: subject.sources.text(head.body.span), place: Place::Exact(head.body.span) };
    [front, body].into_iter().chain(escaped)
}

/// A text and where it was read.
pub(super) struct Text<'s> {
    /// The text.
    pub text: &'s str,
    place: Place,
}

enum Place {
    /// Every byte of the text has its place.
    Exact(Span),
    /// Bytes of the text are others than those written.
    Value(Span),
}

impl Text<'_> {
    /// The place of a range of the text.
    pub fn span(&self, range: &std::ops::Range<usize>) -> Span {
        match self.place {
            Place::Exact(span) => span.part(range.start, range.end),
            Place::Value(span) => span,
        }
    }
}
