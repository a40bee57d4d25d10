//! Spans: byte ranges in sources, and their lines and columns.

use serde::{Deserialize, Serialize};

use crate::files::source::SourceId;

/// A byte range of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// Source that contains the range.
    pub source: SourceId,
    /// Offset of the first byte.
    pub start: usize,
    /// Offset after the last byte.
    pub end: usize,
}

impl Span {
    /// Creates the span `start..end` of `source`.
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        Self { source, start, end: end.max(start) }
    }

    /// Returns the empty span at the start of a source, for findings about a whole file.
    pub fn top(source: SourceId) -> Self {
        Self::new(source, 0, 0)
    }

    /// Returns the span of `start..end`, relative to the start of this span.
    pub fn part(self, start: usize, end: usize) -> Self {
        Self::new(self.source, self.start + start, self.start + end)
    }
}

/// A value with the span that it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spanned<T> {
    /// Parsed value.
    pub value: T,
    /// Span in the source.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// Creates a value with its span.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// Maps the value and keeps the span.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), span: self.span }
    }
}

/// Line and column, both counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line number.
    pub line: usize,
    /// Column in Unicode scalar values.
    pub column: usize,
}
