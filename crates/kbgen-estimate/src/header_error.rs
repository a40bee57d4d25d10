//! Reasons why the header of a model file cannot be read.

use std::fmt;
use std::io;

/// Reason why a header cannot be read.
#[derive(Debug)]
pub enum HeaderError {
    /// I/O error.
    Io(io::Error),
    /// End of the file within the header.
    Truncated,
    /// Another format or a damaged header; the phrase describes it.
    Invalid(String),
}

impl fmt::Display for HeaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeaderError::Io(error) => error.fmt(f),
            HeaderError::Truncated => f.write_str("the file ends within its header"),
            HeaderError::Invalid(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for HeaderError {}

impl From<io::Error> for HeaderError {
    fn from(error: io::Error) -> HeaderError {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => HeaderError::Truncated,
            _ => HeaderError::Io(error),
        }
    }
}
