//! Places inside a text of the front matter: where a pattern's fault stands in the file.

use std::ops::Range;

use crate::files::{Placed, Sources, Span};

/// The place of `range` inside a text that was read at `text.span`, which may stand in quotes.
///
/// Where escapes or line breaks make the written text differ from what it says, it is the whole text.
pub(super) fn place(sources: &Sources, text: &Placed<String>, range: &Range<usize>) -> Span {
    let written = sources.text(text.span);
    let quotes = usize::from(written.starts_with(['"', '\'']));
    match written.get(quotes..quotes + text.value.len()) {
        Some(inner) if inner == text.value => text.span.part(quotes + range.start, quotes + range.end),
        _ => text.span,
    }
}
