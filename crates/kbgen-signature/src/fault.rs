//! What is wrong with a pattern or an expression, and where in its text.

use std::fmt;
use std::ops::Range;

/// A mistake in the text of a pattern or an expression.
///
/// The message is a phrase in lower case; the help names one thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The byte range of the text that is at fault; empty where something is missing.
    pub range: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub help: String,
}

impl Fault {
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { range, message: message.into(), help: help.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({})", self.message, self.help)
    }
}

impl std::error::Error for Fault {}
