//! Edits of sources: replacements of spans.

use std::collections::BTreeMap;

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
    let mut texts: BTreeMap<SourceId, (String, usize)> = BTreeMap::new();
    for Edit { span, text } in compatible(edits) {
        let (new, end) = texts.entry(span.source).or_default();
        new.push_str(&sources.get(span.source).text[*end..span.start]);
        new.push_str(&text);
        *end = span.end;
    }
    let finish = |(id, (mut text, end)): (SourceId, (String, usize))| {
        text.push_str(&sources.get(id).text[end..]);
        (id, text)
    };
    texts.into_iter().map(finish).collect()
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
