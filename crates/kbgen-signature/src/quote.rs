//! Quotes the line of a message.

use crate::stream::floor_char_boundary;

/// Maximum bytes of a line that are quoted on each side of a match.
const QUOTE_CONTEXT: usize = 200;

/// Returns the line around a byte offset, truncated to whole words and at most [`QUOTE_CONTEXT`] on each side.
pub(crate) fn quote(text: &str, at: usize) -> String {
    let from = floor_char_boundary(text, at.saturating_sub(QUOTE_CONTEXT));
    let to = floor_char_boundary(text, at + QUOTE_CONTEXT);
    let (before, after) = (&text[from..at], &text[at..to]);
    let (start, before) = match before.rsplit_once('\n') {
        Some((_, line)) => ("", line),
        None if from > 0 => ("…", before.split_once(' ').map_or(before, |(_, words)| words)),
        None => ("", before),
    };
    let (end, after) = match after.split_once('\n') {
        Some((line, _)) => ("", line),
        None if to < text.len() => ("…", after.rsplit_once(' ').map_or(after, |(words, _)| words)),
        None => ("", after),
    };
    format!("{start}{}{}{end}", before.trim_start(), after.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_long_lines_consist_of_whole_words() {
        let line = format!("{}the message{}", "before ".repeat(60), " after".repeat(60));
        let quoted = quote(&format!("first\n{line}\nlast"), "first\n".len() + 420);
        let words: Vec<&str> = quoted.trim_matches('…').split(' ').collect();
        assert!(words.iter().all(|word| ["before", "the", "message", "after"].contains(word)), "{quoted}");
        assert!(
            quoted.starts_with('…') && quoted.ends_with('…') && quoted.contains("before the message after")
        );
        assert_eq!(quote("one\n  a short line \nthree", 8), "a short line");
    }
}
