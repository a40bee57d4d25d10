//! Locates a part of a front matter value in its file.

use std::ops::Range;

use crate::files::{Placed, Sources, Span};

/// Returns the span of `range` of a value, which may be quoted in the file.
///
/// Returns the span of the whole value if escapes or line breaks make the source text differ from it.
pub(super) fn locate(sources: &Sources, text: &Placed<String>, range: &Range<usize>) -> Span {
    let source = sources.text(text.span);
    let quotes = usize::from(source.starts_with(['"', '\'']));
    match source.get(quotes..quotes + text.value.len()) {
        Some(inner) if inner == text.value => text.span.part(quotes + range.start, quotes + range.end),
        _ => text.span,
    }
}
