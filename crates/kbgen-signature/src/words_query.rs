//! A search in the word index: for what a person types, and for a pasted log that no signature fits.

use serde::Serialize;
use std::collections::BTreeSet;

use crate::words::{DIGITS, TROUBLE, WordIndex, split};

/// So many different words of a text count.
const WORDS: usize = 400;
/// So many words are looked at, on troubled lines and on others; a text that repeats itself says nothing new.
const LOOKED_AT: usize = 20_000;
/// So many unknown words are compared with every known one.
const MISSPELT: usize = 40;
/// A text up to this length, in the units of UTF-16 that a script counts, was typed: its last word may be unfinished.
const TYPED: usize = 100;
/// From this share on a page is near enough to be offered for a log that no signature fits. 97 % of 260 logs of errors
/// with a page are offered one, and 2 of 27 healthy logs, which tell of an error that passed. With the signatures of
/// the right page hidden, as for a wording that nobody wrote down yet, 95 % are offered a page and 79 % the right one.
/// A failure of another field is mostly offered some page too.
pub const NEAR: u32 = 70;

/// The same for a typed question, of which every word was chosen.
pub const NEAR_QUESTION: u32 = 40;
/// The longest text, in the units of UTF-16 that a script counts, that is taken for a typed question.
const QUESTION: usize = 200;
/// The least letters and digits of a title that is recognized within a longer text.
const TITLE_LETTERS: usize = 8;

/// A page whose title is typed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Titled<'i> {
    /// Where the page is.
    pub address: &'i str,
    /// Its title.
    pub title: &'i str,
    /// Whether the text is the title and nothing else.
    pub whole: bool,
}

/// Whether a text is a typed question or a single message, and not a log: one short line.
pub fn is_question(text: &str) -> bool {
    let text = text.trim();
    !text.contains('\n') && text.encode_utf16().nth(QUESTION).is_none()
}

/// A page that speaks of the words of a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Hit {
    /// Where the page is.
    pub address: String,
    /// Its title.
    pub title: String,
    /// How much it has of the text. Comparable within one search only.
    pub score: u32,
    /// The score in hundredths of what the page's own title would have in the same place; 0 for a log without a line
    /// that tells of trouble. See [`NEAR`].
    pub share: u32,
}

impl WordIndex {
    /// The pages that have most of the words of a text, best first. Typing errors of one letter are forgiven.
    pub fn search(&self, text: &str, limit: usize) -> Vec<Hit> {
        let words = self.read_words();
        let postings: Vec<&str> = self.postings.split(' ').collect();
        let mut scores = vec![0u32; self.documents.len()];
        let mut misspelt = 0;
        let asked = asked(text);
        let troubled = asked.first().is_some_and(|(_, factor)| *factor > 1);
        for (word, factor) in asked {
            let mut known = Vec::new();
            if let Ok(at) = words.binary_search(&word) {
                known.push((at, 4));
            } else if word.len() > 3 && !word.bytes().all(|byte| byte.is_ascii_digit()) && misspelt < MISSPELT
            {
                misspelt += 1;
                known.extend((0..words.len()).filter(|&at| one_apart(&words[at], &word)).map(|at| (at, 3)));
            }
            for (at, closeness) in known {
                add(postings[at], closeness * factor, &mut scores);
            }
        }
        if let Some(prefix) = unfinished(text) {
            let first = words.partition_point(|word| **word < *prefix);
            let same = words[first..].iter().take_while(|word| word.starts_with(&prefix)).count();
            for (word, posting) in words[first..first + same].iter().zip(&postings[first..]) {
                if *word != prefix {
                    add(posting, 2, &mut scores);
                }
            }
        }
        let mut order: Vec<usize> = (0..scores.len()).filter(|&at| scores[at] > 0).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(scores[at]));
        order.truncate(limit);
        // Words on a line that tells of trouble count twice.
        let factor = match troubled {
            true => 100,
            false if is_question(text) => 200,
            false => 0,
        };
        let hit = |at: usize| {
            let (address, title, worth) = self.documents[at].clone();
            let share = scores[at] * factor / worth.max(1);
            Hit { address, title, score: scores[at], share }
        };
        order.into_iter().map(hit).collect()
    }

    /// The pages whose title a question is, or holds; the whole first, then the longest.
    pub fn titled(&self, text: &str) -> Vec<Titled<'_>> {
        if !is_question(text) {
            return Vec::new();
        }
        let asked = plain(text);
        let mut found: Vec<(usize, Titled<'_>)> = Vec::new();
        for (address, title, _) in &self.documents {
            let words = plain(title);
            let letters = words.bytes().filter(|byte| *byte != b' ').count();
            let whole = letters > 0 && words == asked;
            if whole || letters >= TITLE_LETTERS && asked.contains(&words) {
                found.push((words.len(), Titled { address, title, whole }));
            }
        }
        found.sort_by_key(|(length, _)| std::cmp::Reverse(*length));
        found.into_iter().map(|(_, titled)| titled).collect()
    }

    fn read_words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let starts = self.words.char_indices().filter(|(_, character)| character.is_ascii_uppercase());
        let starts: Vec<usize> = starts.map(|(at, _)| at).chain([self.words.len()]).collect();
        for pair in starts.windows(2) {
            let shared = usize::from(self.words.as_bytes()[pair[0]] - b'A');
            let before = words.last().map_or("", String::as_str);
            words.push(format!(
                "{}{}",
                &before[..shared.min(before.len())],
                &self.words[pair[0] + 1..pair[1]]
            ));
        }
        words
    }
}

/// The runs of letters and digits of a text in lower case, each between spaces.
fn plain(text: &str) -> String {
    let runs = text.split(|character: char| !character.is_ascii_alphanumeric()).filter(|run| !run.is_empty());
    format!(" {} ", runs.collect::<Vec<_>>().join(" ").to_ascii_lowercase())
}

/// The different words of a text with their factor, in the order of the text; those of troubled lines first.
fn asked(text: &str) -> Vec<(String, u32)> {
    let mut seen = BTreeSet::new();
    let mut words = Vec::new();
    let troubled = |line: &str| TROUBLE.iter().any(|word| line.to_ascii_lowercase().contains(word));
    for (factor, wanted) in [(2, true), (1, false)] {
        let lines = text.split('\n').filter(|line| troubled(line) == wanted);
        for word in lines.flat_map(split).take(LOOKED_AT) {
            if words.len() < WORDS && seen.insert(word.clone()) {
                words.push((word, factor));
            }
        }
    }
    words
}

/// The last word of a typed text, which may go on.
fn unfinished(text: &str) -> Option<String> {
    if text.encode_utf16().nth(TYPED).is_some()
        || !text.ends_with(|character: char| character.is_ascii_alphanumeric())
    {
        return None;
    }
    let last = text.rsplit(|character: char| !character.is_ascii_alphanumeric()).next()?;
    (last.len() > 1).then(|| last.to_ascii_lowercase())
}

fn add(posting: &str, factor: u32, scores: &mut [u32]) {
    let digit = |byte: u8| DIGITS.iter().position(|known| *known == byte).unwrap_or(0);
    let mut digits = posting.bytes().map(digit);
    let rarity = digits.next().unwrap_or(0) as u32;
    let mut document = 0;
    let mut at = 0;
    while let Some(mut part) = digits.next() {
        let (mut gap, mut place) = (0, 1);
        while part >= 32 {
            gap += (part - 32) * place;
            place *= 32;
            part = digits.next().unwrap_or(0);
        }
        gap += part * place;
        document = if at == 0 { gap } else { document + gap };
        at += 1;
        let weight = digits.next().unwrap_or(0) as u32;
        if let Some(score) = scores.get_mut(document) {
            *score += rarity * weight * factor;
        }
    }
}

/// Whether one letter added, lost, changed or swapped with its neighbor makes one word of the other.
fn one_apart(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    if short.len() < 4 || long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(left, right)| left == right).count();
    if short.len() < long.len() {
        return short[same..] == long[same + 1..];
    }
    let swapped = same + 1 < short.len()
        && short[same] == long[same + 1]
        && short[same + 1] == long[same]
        && short[same + 2..] == long[same + 2..];
    same < short.len() && (short[same + 1..] == long[same + 1..] || swapped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_letter_may_be_wrong() {
        for (one, other, expected) in [
            ("memory", "memmory", true),
            ("memory", "memry", true),
            ("memory", "mempry", true),
            ("memory", "meomry", true),
            ("memory", "memory", false),
            ("memory", "mory", false),
            ("cuda", "cud", false),
            ("cuda", "cudas", true),
        ] {
            assert_eq!(one_apart(one, other), expected, "{one} {other}");
            assert_eq!(one_apart(other, one), expected, "{other} {one}");
        }
    }
}
