//! The error type of patterns, expressions and templates.

use std::fmt;
use std::ops::Range;

/// The first mistake in the text of a pattern, an expression or a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    /// Byte range of the mistake; empty where something is missing.
    pub range: Range<usize>,
    /// A lowercase phrase without a full stop.
    pub message: String,
    /// One action that fixes the mistake.
    pub help: String,
}

impl ParseError {
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { range, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.message, self.help)
    }
}

impl std::error::Error for ParseError {}
