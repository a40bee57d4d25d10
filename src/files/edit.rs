//! Edits of sources: replacements of spans.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::files::source::{SourceId, Sources};
use crate::files::span::Span;

/// A replacement of a span.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Edit {
    /// Span to replace; empty to insert before its start.
    pub span: Span,
    /// New text.
    pub text: String,
}

impl Edit {
    /// Creates an edit.
    pub fn new(span: Span, text: impl Into<String>) -> Self {
        Self { span, text: text.into() }
    }
}

/// Returns the edits that can be applied together, in order: duplicates once, of overlapping ones only the first.
pub fn compatible(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_unstable();
    edits.dedup();
    let mut ends: BTreeMap<SourceId, usize> = BTreeMap::new();
    edits.retain(|Edit { span, .. }| {
        let end = ends.entry(span.source).or_default();
        let is_free = span.start >= *end;
        if is_free {
            *end = span.end;
        }
        is_free
    });
    edits
}

/// Returns the new texts of the edited sources, with the [`compatible`] ones of the edits.
pub fn apply(edits: Vec<Edit>, sources: &Sources) -> BTreeMap<SourceId, String> {
    let mut by_source: BTreeMap<SourceId, Vec<(Range<usize>, String)>> = BTreeMap::new();
    for Edit { span, text } in compatible(edits) {
        by_source.entry(span.source).or_default().push((span.start..span.end, text));
    }
    let edited = |(id, edits)| (id, replace_ranges(&sources.get(id).text, edits));
    by_source.into_iter().map(edited).collect()
}

/// Replaces ranges of a text; of overlapping ones, only the first.
pub fn replace_ranges(text: &str, mut replacements: Vec<(Range<usize>, String)>) -> String {
    replacements.sort_by_key(|(range, _)| (range.start, range.end));
    let mut edited = String::with_capacity(text.len());
    let mut end = 0;
    for (range, new) in replacements {
        if range.start >= end {
            edited.push_str(&text[end..range.start]);
            edited.push_str(&new);
            end = range.end;
        }
    }
    edited.push_str(&text[end..]);
    edited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_outside_edits_stay() {
        let mut sources = Sources::default();
        let id = sources.add("a.md", "one two three\r\n");
        let edit = |start, end, text| Edit::new(Span::new(id, start, end), text);
        let edits =
            vec![edit(8, 13, "3"), edit(0, 3, "1"), edit(0, 3, "1"), edit(2, 5, "x"), edit(4, 4, "+")];
        assert_eq!(apply(edits, &sources)[&id], "1 +two 3\r\n");
    }
}
