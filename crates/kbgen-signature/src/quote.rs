//! Quotes the line of a message.

use crate::stream::floor_char_boundary;

/// Maximum bytes of a line on each side of the beginning of a match.
const LINE_CONTEXT: usize = 200;
/// Maximum bytes of a short quote before the beginning of the match, and after it.
const SHORT_CONTEXT: [usize; 2] = [40, 160];

/// The line of a message, truncated around the match.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Quote {
    /// The line, truncated on both sides if it is long.
    pub line: String,
    /// Byte offset of the match in it.
    at: usize,
}

impl Quote {
    /// Quotes the line around a byte offset.
    pub(crate) fn new(text: &str, at: usize) -> Self {
        let from = floor_char_boundary(text, at.saturating_sub(LINE_CONTEXT));
        let to = floor_char_boundary(text, at + LINE_CONTEXT);
        let start = text[from..at].rfind('\n').map_or(from, |end| from + end + 1);
        let end = text[at..to].find('\n').map_or(to, |end| at + end);
        let before = text[start..at].trim_start();
        Self { line: format!("{before}{}", text[at..end].trim_end()), at: before.len() }
    }

    /// Returns the part around the match, in whole words. The script of the page shortens lines in the same way.
    pub fn short(&self) -> String {
        let from = floor_char_boundary(&self.line, self.at.saturating_sub(SHORT_CONTEXT[0]));
        let to = floor_char_boundary(&self.line, self.at + SHORT_CONTEXT[1]);
        let (mut before, mut after) = (&self.line[from..self.at], &self.line[self.at..to]);
        let (mut start, mut end) = ("", "");
        if from > 0 {
            before = before.split_once(' ').map_or(before, |(_, words)| words);
            start = "…";
        }
        if to < self.line.len() {
            after = after.rsplit_once(' ').map_or(after, |(words, _)| words);
            end = "…";
        }
        format!("{start}{before}{after}{end}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_quotes_consist_of_whole_words_around_the_match() {
        let line = format!("{}the message{}", "before ".repeat(60), " after".repeat(60));
        let quote = Quote::new(&format!("first\n{line}\nlast"), "first\n".len() + 420).short();
        let words: Vec<&str> = quote.trim_matches('…').split(' ').collect();
        assert!(words.iter().all(|word| ["before", "the", "message", "after"].contains(word)), "{quote}");
        assert!(quote.starts_with("…before") && quote.ends_with("after…"), "{quote}");
        assert!(quote.contains("before the message after"), "{quote}");
        assert_eq!(Quote::new("one\n  a short line \nthree", 8).short(), "a short line");
    }
}
