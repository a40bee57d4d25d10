//! Finds messages of which a text has only a part.

use crate::matcher::literal_chars;
use crate::normal::{GAP_NONE, NormalText};
use crate::parts::KEY_LENGTH;
use crate::pattern::PatternPart;
use crate::scanner::Scanner;

/// Fewest characters of a text that count as a part of a message.
const MIN_TRUNCATED_LENGTH: usize = 16;

impl Scanner {
    /// Returns the patterns whose first characters are the end of the text, or whose literal text contains the text, with the
    /// number of characters; ignores punctuation at the end.
    pub fn truncated_matches(&self, text: &str) -> Vec<(usize, usize)> {
        let text = NormalText::of_log(text);
        let is_punctuation = |byte: &&u8| b".,:;!?".contains(*byte);
        let bytes = &text.bytes[..text.len() - text.bytes.iter().rev().take_while(is_punctuation).count()];
        let Some(last) = bytes.len().checked_sub(MIN_TRUNCATED_LENGTH) else { return Vec::new() };
        let is_word_start = |at: &usize| text.gaps[*at] != GAP_NONE;
        // Most of the text belongs to the message.
        let starts = 0..=last.min(bytes.len() / 2);
        let ends: Vec<&[u8]> = starts.filter(is_word_start).map(|at| &bytes[at..]).collect();
        let length = |pattern: usize| {
            // Most patterns are rejected at their first characters, without a copy.
            let parts = &self.table.patterns[pattern].parts;
            let is_prefix = |end: &&&[u8]| {
                let leading = parts.first().and_then(PatternPart::literal);
                let mut leading = literal_chars(leading.unwrap_or_default());
                end.iter().all(|byte| leading.next() == Some(*byte)) && leading.next().is_some()
            };
            let end = ends.iter().find(is_prefix).map(|end| end.len());
            let has = |text: &[u8], part: &[u8]| text.windows(part.len()).any(|found| found == part);
            // The page loads only patterns whose key the text contains.
            let has_key =
                |anchor: &[u8]| !anchor.is_empty() && has(bytes, &anchor[..anchor.len().min(KEY_LENGTH)]);
            let contains = |literal: Vec<u8>| literal.len() > bytes.len() && has(&literal, bytes);
            let mut literals =
                parts.iter().filter_map(PatternPart::literal).map(|text| literal_chars(text).collect());
            let mut is_part = || has_key(&self.anchor(pattern)) && literals.any(contains);
            end.or_else(|| is_part().then_some(bytes.len()))
        };
        (0..self.table.patterns.len()).filter_map(|pattern| Some((pattern, length(pattern)?))).collect()
    }
}
