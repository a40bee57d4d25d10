//! Where something stands: a byte range of one source, and its line and column for people.

use serde::{Deserialize, Serialize};

use crate::files::source::SourceId;

/// A byte range of one source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// The source it lies in.
    pub source: SourceId,
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range `start..end` of `source`.
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        Self { source, start, end: end.max(start) }
    }

    /// The empty place at the top of a source, for faults of a file as a whole.
    pub fn top(source: SourceId) -> Self {
        Self::new(source, 0, 0)
    }

    /// The part `start..end` of this span, counted in bytes from its first one.
    pub fn part(self, start: usize, end: usize) -> Self {
        Self::new(self.source, self.start + start, self.start + end)
    }
}

/// A value and the place it was read from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spanned<T> {
    /// What was read.
    pub value: T,
    /// Where it stands.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// `value`, read at `span`.
    pub fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: change(self.value), span: self.span }
    }
}

/// A line and a column, both counted from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from the top of the file.
    pub line: usize,
    /// Column, in characters (Unicode scalar values).
    pub column: usize,
}
