//! Parsers of option values, with messages that say what is expected.

use std::str::FromStr;

use jiff::civil::Date;

/// Parses a number of results.
pub(super) fn count(text: &str) -> Result<usize, &'static str> {
    text.parse().ok().filter(|count| *count > 0).ok_or("expected a whole number of at least 1")
}

/// Parses a date.
pub(super) fn date(text: &str) -> Result<Date, &'static str> {
    text.parse().map_err(|_| "expected an existing date, such as 2026-06-12")
}

/// Parses the name of a repository: `owner/name`.
pub(super) fn repository(text: &str) -> Result<String, &'static str> {
    let is_part = |part: &str| !part.is_empty() && !part.contains(['/', ':']);
    match text.split_once('/') {
        Some((owner, name)) if is_part(owner) && is_part(name) => Ok(text.to_string()),
        _ => Err("expected the owner and the name of the repository, such as ggml-org/llama.cpp"),
    }
}

/// Parses a number of days.
pub(super) fn days<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "expected a whole number of days")
}
