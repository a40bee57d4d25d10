//! How much a signature tells: whether its literal text is rare enough to assert an error.
//!
//! The unit is the bit. A word tells as many as its rarity among the sentences of our pages, at most [`KNOWN`] and in
//! healthy logs at most six; `common_words.txt` lists them, and `tests/it/common_words.rs` writes it anew.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use crate::pattern::{HoleType, Part, Pattern};

/// The fewest bits of a signature that asserts an error; one that tells less only suggests its page.
pub const LEAST_BITS: u32 = 17;

/// A word that is not listed.
const UNKNOWN: u32 = 10;
/// From this length on, each letter of a word that is not listed tells two more bits: it is an identifier.
const IDENTIFIER: usize = 10;
/// A beginning or end of a line.
const EDGE: u32 = 5;
/// A hole that takes only what its type says.
const TYPED: u32 = 2;

static COMMON: LazyLock<HashMap<&str, u32>> = LazyLock::new(|| {
    let lines = include_str!("common_words.txt").lines().filter_map(|line| line.split_once(' '));
    let bits = lines.filter_map(|(bits, words)| Some((bits.parse().ok()?, words)));
    bits.flat_map(|(bits, words)| words.split(' ').map(move |word| (word, bits))).collect()
});

/// The bits that these patterns together tell: each word, mark and joint of words once, and each hole.
pub(crate) fn specificity(all: &[Pattern]) -> u32 {
    let mut told = BTreeSet::new();
    let mut holes = 0;
    for part in all.iter().flat_map(|pattern| &pattern.parts) {
        match part {
            Part::Text(text) => told.extend(tokens(text)),
            Part::Hole(HoleType::Any, _) => {}
            Part::Hole(HoleType::Start | HoleType::End, _) => holes += EDGE,
            Part::Hole(..) => holes += TYPED,
        }
    }
    holes + told.into_iter().map(Token::bits).sum::<u32>()
}

/// A part of literal text.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Token<'t> {
    /// Letters and digits.
    Word(&'t str),
    /// A punctuation mark.
    Mark(char),
    /// The marks that join two words without white space, as in `cuda_error`.
    Joint(&'t str),
}

impl Token<'_> {
    fn bits(self) -> u32 {
        match self {
            Self::Mark(_) | Self::Joint(_) => 1,
            Self::Word(word) => COMMON
                .get(word)
                .copied()
                .unwrap_or_else(|| UNKNOWN + 2 * word.len().saturating_sub(IDENTIFIER) as u32),
        }
    }
}

/// The tokens of a literal text in normal form.
fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    for run in text.split(' ') {
        let is_word = |c: char| c.is_alphanumeric();
        tokens.extend(run.split(|c| !is_word(c)).filter(|word| !word.is_empty()).map(Token::Word));
        tokens.extend(run.chars().filter(|c| !is_word(*c)).map(Token::Mark));
        let joints = run.trim_matches(|c| !is_word(c)).split(is_word);
        tokens.extend(joints.filter(|joint| !joint.is_empty()).map(Token::Joint));
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
    fn careless_signatures_tell_too_little() {
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
            assert!(bits(text) < LEAST_BITS, "{text}: {}", bits(text));
        }
    }

    #[test]
    fn short_messages_of_one_program_tell_enough() {
        for text in [
            "CUDA error: out of memory",
            "CUDA out of memory. Tried to allocate {requested:bytes}",
            "AsyncEngineDeadError",
            "CUDNN_STATUS_NOT_INITIALIZED",
            "{start}Killed{end}",
            "(os error 28)",
        ] {
            assert!(bits(text) >= LEAST_BITS, "{text}: {}", bits(text));
        }
    }

    #[test]
    fn what_is_said_twice_tells_no_more() {
        let twice = ["error: error", "error:"].map(|text| Pattern::parse(text).expect(text));
        assert_eq!(specificity(&twice), bits("error:"));
    }
}
