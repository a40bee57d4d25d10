//! Computes the specificity of signatures: whether their literal text is rare enough to assert an error.
//!
//! The unit is bits of information. `common_words.txt` lists the bits of words from their frequency in the sentences of the
//! pages; words in healthy logs have at most six. `tests/it/common_words.rs` generates the file.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::pattern::{Pattern, PatternPart, PlaceholderType};

/// Minimum bits of a signature that asserts an error; with fewer bits, it only suggests its page.
pub const MIN_ASSERTING_BITS: u32 = 17;

const UNLISTED_WORD_BITS: u32 = 10;
/// Each letter of an unlisted word beyond this length adds two bits, because the word is an identifier.
const IDENTIFIER_LENGTH: usize = 10;
const LINE_EDGE_BITS: u32 = 5;
const TYPED_PLACEHOLDER_BITS: u32 = 2;

static COMMON_WORDS: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let lines = include_str!("common_words.txt").lines().filter_map(|line| line.split_once(' '));
    let bits = lines.filter_map(|(bits, words)| Some((bits.parse().ok()?, words)));
    bits.flat_map(|(bits, words)| words.split(' ').map(move |word| (word, bits))).collect()
});

/// Returns the bits of all patterns together: each word, punctuation mark and joiner once, and each placeholder.
pub(crate) fn specificity(all: &[Pattern]) -> u32 {
    let mut unique = BTreeSet::new();
    let mut placeholder_bits = 0;
    for part in all.iter().flat_map(|pattern| &pattern.parts) {
        match part {
            PatternPart::Text(text) => unique.extend(tokens(text)),
            PatternPart::Placeholder(PlaceholderType::Any, _) => {}
            PatternPart::Placeholder(PlaceholderType::Start | PlaceholderType::End, _) => {
                placeholder_bits += LINE_EDGE_BITS
            }
            PatternPart::Placeholder(..) => placeholder_bits += TYPED_PLACEHOLDER_BITS,
        }
    }
    placeholder_bits + unique.into_iter().map(TextToken::bits).sum::<u32>()
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum TextToken<'t> {
    /// A run of letters and digits.
    Word(&'t str),
    Mark(char),
    /// Punctuation between two words without white space, as in `cuda_error`.
    Joiner(&'t str),
}

impl TextToken<'_> {
    fn bits(self) -> u32 {
        match self {
            Self::Mark(_) | Self::Joiner(_) => 1,
            Self::Word(word) => COMMON_WORDS.get(word).copied().unwrap_or_else(|| {
                UNLISTED_WORD_BITS + 2 * word.len().saturating_sub(IDENTIFIER_LENGTH) as u32
            }),
        }
    }
}

/// Splits literal text in normal form into tokens.
fn tokens(text: &str) -> Vec<TextToken<'_>> {
    let mut tokens = Vec::new();
    for run in text.split(' ') {
        let is_word = |c: char| c.is_alphanumeric();
        tokens.extend(run.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(TextToken::Word));
        tokens.extend(run.chars().filter(|c| !is_word(*c)).map(TextToken::Mark));
        let joiners = run.trim_matches(|c| !is_word(c)).split(is_word);
        tokens.extend(joiners.filter(|joiner| !joiner.is_empty()).map(TextToken::Joiner));
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bits(text: &str) -> u32 {
        specificity(&[Pattern::parse(text).expect(text)])
    }

    #[test]
    fn generic_messages_are_not_specific() {
        for text in [
            "memory: {reason:any}",
            "out of memory",
            "error: {x:any}",
            "RuntimeError: {x:any}",
            "ValueError",
            "CUDA error",
            "GPU memory",
            "failed to load",
            "connection refused",
            "invalid argument",
            "loading model",
            "model loaded",
            "model not found",
            "not found",
            "not supported",
            "server listening on {address:any}",
            "killed",
            "timeout",
        ] {
            assert!(bits(text) < MIN_ASSERTING_BITS, "{text}: {}", bits(text));
        }
    }

    #[test]
    fn short_messages_of_one_program_are_specific() {
        for text in [
            "CUDA error: out of memory",
            "CUDA out of memory. Tried to allocate {requested:bytes}",
            "AsyncEngineDeadError",
            "CUDNN_STATUS_NOT_INITIALIZED",
            "{start}Killed{end}",
            "(os error 28)",
        ] {
            assert!(bits(text) >= MIN_ASSERTING_BITS, "{text}: {}", bits(text));
        }
    }

    #[test]
    fn repeated_words_count_once() {
        let twice = ["error: error", "error:"].map(|text| Pattern::parse(text).expect(text));
        assert_eq!(specificity(&twice), bits("error:"));
    }
}
