//! Reads the line of an exception: its name and its message.
//!
//! `static/js/readings.js` implements the same algorithm; change both together.

/// Most characters of a message, a function or a path that are kept.
pub(crate) const MAX_LENGTH: usize = 400;
/// Endings of the names of exceptions.
pub(crate) const ENDINGS: [&str; 7] =
    ["Error", "Exception", "Interrupt", "Exit", "Timeout", "Failure", "StopIteration"];

/// Returns whether a name can begin with a character.
pub(crate) fn is_first(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

/// Returns whether a text is a name, which may have dots.
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(is_first)
        && characters.all(|other| other.is_ascii_alphanumeric() || "._".contains(other))
}

/// Part of a log that a line is in.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum LogPart {
    Text,
    /// A traceback, before its first frame.
    Traceback,
    /// A traceback, after a frame.
    Frames,
    /// A traceback, below its frame and not indented as code is.
    Below,
}

/// Reads `package.NameError: message` as name and message. After a frame, `Exception` and any class of a module are names;
/// below it also `socket.timeout: message`, but no progress bar of a file.
pub(crate) fn exception(content: &str, part: LogPart) -> Option<(String, String)> {
    let (name, message) = match content.split_once(':') {
        Some((name, message)) => (name, message.trim()),
        None => (content, ""),
    };
    let last = name.rsplit('.').next()?;
    let is_class = last != name && last.starts_with(|first: char| first.is_ascii_uppercase());
    let ends =
        ENDINGS.iter().any(|ending| last.ends_with(ending) && (last != *ending || last == "StopIteration"));
    let is_behind = matches!(part, LogPart::Frames | LogPart::Below);
    let is_member = last != name && !last.is_empty() && !message.is_empty() && !message.contains("%|");
    let is_known =
        ends || is_behind && (is_class || name == "Exception") || part == LogPart::Below && is_member;
    let is_exception = is_name(name) && is_known && (part != LogPart::Text || !message.is_empty());
    is_exception.then(|| (name.to_owned(), cut(message)))
}

/// Reads the first exception with a message within a line, as in `load failed: ValueError: message`.
pub(crate) fn inline_exception(content: &str) -> Option<(String, String)> {
    content.match_indices(": ").find_map(|(end, _)| {
        let before = &content[..end];
        let start =
            before.trim_end_matches(|one: char| one.is_ascii_alphanumeric() || "._".contains(one)).len();
        let message = content[end + 1..].trim();
        match &before[start..] {
            name @ "Exception" if !message.is_empty() => Some((name.to_owned(), cut(message))),
            _ => exception(&content[start..], LogPart::Text),
        }
    })
}

fn cut(message: &str) -> String {
    message.chars().take(MAX_LENGTH).collect()
}
