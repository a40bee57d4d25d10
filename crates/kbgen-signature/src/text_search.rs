//! Searches the text index for questions and for logs without a known signature.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use foldhash::{HashMap, HashMapExt};
use serde::Serialize;

use crate::text_index::{ERROR_PHRASES, TextIndex, ZERO_DIGIT, terms};

/// Maximum number of distinct terms of a query.
const MAX_QUERY_TERMS: usize = 400;
/// Maximum number of terms, duplicates included, that are read from lines with an error phrase, and from other lines.
const MAX_SCANNED_TERMS: usize = 20_000;
/// Maximum number of unknown terms that are compared with every indexed term.
const MAX_FUZZY_TERMS: usize = 40;
/// Longest text, in UTF-16 code units as in JavaScript, whose last word is completed.
const MAX_COMPLETED_LENGTH: usize = 100;
/// Minimum [`SearchHit::share`] of a page that is suggested for a single message.
///
/// A log gets none: of 16 reports whose log would get one, the page was right for 4.
const MIN_MESSAGE_SHARE: u32 = 80;
/// Characters that messages have and typed questions do not.
const MESSAGE_CHARACTERS: [char; 9] = ['=', '{', '}', '[', ']', '<', '>', '"', '\\'];
/// Longest text, in UTF-16 code units as in JavaScript, that is typed in spite of an error phrase or an underscore.
const MAX_TYPED_LENGTH: usize = 60;
/// The same for a question, which has no error phrase.
const MIN_QUESTION_SHARE: u32 = 40;
/// Least share of the terms of a query, by inverse document frequency, that a suggested page or one of its questions has, as
/// a fraction.
///
/// Of 126 reports of one line, 44 had a suggestion without a minimum, and 15 of them a right one; with it 14 have one, and 5
/// of them a right one. Of the pages suggested, 30 % are right instead of 20 %.
const MIN_COVERAGE: (u32, u32) = (9, 20);
/// Inverse document frequency of a term that no page has, for the coverage.
const UNKNOWN_IDF: u32 = 50;
/// The score of a page for a typed question is multiplied by this sum of its cover, squared, and a constant: the cover is the
/// largest [`SearchHit::share`] of its questions, at most 100.
///
/// Of 95 typed questions that were kept apart, the right page is first for 80 %.
const BASE_COVER: u64 = 5000;
/// Longest question, in UTF-16 code units as in JavaScript.
const MAX_QUESTION_LENGTH: usize = 200;
/// Fewest letters and digits of a title that is found within a longer text.
const MIN_TITLE_LETTERS: usize = 8;

/// A page whose title is in the query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TitleMatch<'i> {
    /// Address of the page.
    pub address: &'i str,
    /// Title of the page.
    pub title: &'i str,
    /// Whether the query is only the title.
    pub whole: bool,
}

/// Returns whether a text is one line of at most 200 UTF-16 code units: a question or a single message, not a log.
pub fn is_question(text: &str) -> bool {
    let text = text.trim();
    !text.contains('\n') && text.encode_utf16().nth(MAX_QUESTION_LENGTH).is_none()
}

/// Most lines of a post that has a question.
const MAX_POST_LINES: usize = 3;

/// The questions in a text.
#[derive(Debug, Default)]
pub struct Questions<'t> {
    /// Texts that may have the title of a page.
    pub titles: Vec<&'t str>,
    /// Text that similar pages are searched for; none if a post has a message.
    pub searched: Option<&'t str>,
}

impl<'t> Questions<'t> {
    /// Returns the text itself if it [`is_question`]; of a post of up to three lines the first one, such as a title, and each
    /// other line that is a sentence.
    pub fn of(text: &'t str) -> Self {
        if is_question(text) {
            return Self { titles: vec![text], searched: Some(text) };
        }
        let lines = text.split('\n').map(str::trim).filter(|line| !line.is_empty());
        let lines: Vec<&str> = lines.take(MAX_POST_LINES + 1).collect();
        if lines.len() > MAX_POST_LINES || !lines.iter().all(|line| is_question(line)) {
            return Self::default();
        }
        let is_sentence = |line: &str| line.contains(' ') && !has_message_form(line);
        let count = lines.len();
        let lines = lines.into_iter().enumerate();
        let titles: Vec<&str> =
            lines.filter(|(at, line)| *at == 0 || is_sentence(line)).map(|(_, line)| line).collect();
        Self { searched: titles.first().copied().filter(|_| titles.len() == count), titles }
    }
}

/// A page that contains terms of the query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    /// Address of the page.
    pub address: String,
    /// Title of the page.
    pub title: String,
    /// BM25 score in integer units; comparable within one search only.
    pub score: u32,
    /// The score as a percentage of the score of the page's own title, or of that of one of its questions, whichever is more;
    /// 0 for a log or message without an error phrase.
    pub share: u32,
    /// Whether the page, or one of its questions, has enough of the terms of the query to be suggested.
    pub covered: bool,
}

impl SearchHit {
    /// Returns whether a page is close enough to be suggested for the text that was searched for.
    pub fn is_suggested(&self, text: &str) -> bool {
        let least = if is_message(text) { MIN_MESSAGE_SHARE } else { MIN_QUESTION_SHARE };
        is_question(text) && self.covered && self.share >= least
    }
}

impl TextIndex {
    /// Returns the pages with the highest scores, best first, each once. Terms of four or more letters match with one typing
    /// error. For a typed question, a page with a question that has its terms, and few others, comes before a long page with
    /// the same terms.
    pub fn search(&self, text: &str, limit: usize) -> Vec<SearchHit> {
        let words = self.decode_words();
        let postings: Vec<&str> = self.postings.split(' ').collect();
        let mut scores = vec![0u32; self.documents.len()];
        let mut found = scores.clone();
        let mut total = 0;
        let mut fuzzy_terms = 0;
        let query = query_terms(text);
        let has_error_phrase = query.first().is_some_and(|(_, factor)| *factor > 1);
        for (word, factor) in query {
            let mut known = Vec::new();
            if let Ok(at) = words.binary_search(&word) {
                known.push((at, 4));
            } else if word.len() > 3
                && !word.bytes().all(|byte| byte.is_ascii_digit())
                && fuzzy_terms < MAX_FUZZY_TERMS
            {
                fuzzy_terms += 1;
                known.extend(
                    (0..words.len()).filter(|&at| is_one_edit_apart(&words[at], &word)).map(|at| (at, 3)),
                );
            }
            total += known.last().map_or(UNKNOWN_IDF, |(at, _)| idf_of(postings[*at]));
            for (at, closeness) in known {
                add_scores(postings[at], closeness * factor, &mut scores, Some(&mut found));
            }
        }
        if let Some(prefix) = incomplete_word(text) {
            let first = words.partition_point(|word| **word < *prefix);
            let same = words[first..].iter().take_while(|word| word.starts_with(&prefix)).count();
            for (word, posting) in words[first..first + same].iter().zip(&postings[first..]) {
                if *word != prefix {
                    add_scores(posting, 2, &mut scores, None);
                }
            }
        }
        let is_typed = is_typed(text);
        // Words on a line with an error phrase count twice.
        let factor = match has_error_phrase {
            true => 100,
            false if is_typed => 200,
            false => 0,
        };
        let share = |at: usize| scores[at] * factor / self.documents[at].2.max(1);
        let mut shares: Vec<u32> = (0..scores.len()).map(share).collect();
        let mut covers = vec![0; scores.len()];
        for (at, page) in self.question_owners() {
            covers[page] = covers[page].max(u64::from(shares[at].min(100)));
            shares[page] = shares[page].max(shares[at]);
            scores[page] = scores[page].max(std::mem::take(&mut scores[at]));
            found[page] = found[page].max(found[at]);
        }
        let weight = |at: usize| match is_typed {
            true => (BASE_COVER + covers[at] * covers[at]) * (100 + u64::from(self.boosts[at])),
            false => 1,
        };
        let rank = |at: usize| u64::from(scores[at]) * weight(at);
        let mut order: Vec<usize> = (0..scores.len()).filter(|&at| scores[at] > 0).collect();
        order.sort_by_key(|&at| Reverse(rank(at)));
        order.truncate(limit);
        let hit = |at: usize| {
            let (address, title, _) = self.documents[at].clone();
            let covered = found[at] * MIN_COVERAGE.1 >= total * MIN_COVERAGE.0;
            SearchHit { address, title, score: scores[at], share: shares[at], covered }
        };
        order.into_iter().map(hit).collect()
    }

    /// Returns the documents that have the address of an earlier one, and that one: questions with the page that answers them.
    pub(crate) fn question_owners(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut pages = HashMap::new();
        self.documents.iter().enumerate().filter_map(move |(at, (address, ..))| {
            let page = *pages.entry(address).or_insert(at);
            (page < at).then_some((at, page))
        })
    }

    /// Returns the pages whose title is the question or a part of it, longest title first; none for a log.
    pub fn title_matches(&self, text: &str) -> Vec<TitleMatch<'_>> {
        if !is_question(text) {
            return Vec::new();
        }
        let query = normalized_words(text);
        let letters_of = |text: &str| text.bytes().filter(u8::is_ascii_alphanumeric).count();
        let query_letters = letters_of(text);
        let mut found: Vec<(usize, TitleMatch<'_>)> = Vec::new();
        for (address, title, _) in &self.documents {
            let letters = letters_of(title);
            if letters > query_letters {
                continue;
            }
            let words = normalized_words(title);
            let whole = letters > 0 && words == query;
            if whole || letters >= MIN_TITLE_LETTERS && query.contains(&words) {
                found.push((words.len(), TitleMatch { address, title, whole }));
            }
        }
        found.sort_by_key(|(length, _)| Reverse(*length));
        found.into_iter().map(|(_, title_match)| title_match).collect()
    }

    pub(crate) fn decode_words(&self) -> Vec<String> {
        let mut words: Vec<String> = Vec::new();
        let starts = self.words.char_indices().filter(|(_, character)| character.is_ascii_uppercase());
        let starts: Vec<usize> = starts.map(|(at, _)| at).chain([self.words.len()]).collect();
        for pair in starts.windows(2) {
            let shared = usize::from(self.words.as_bytes()[pair[0]] - b'A');
            let previous = words.last().map_or("", String::as_str);
            words.push(format!(
                "{}{}",
                &previous[..shared.min(previous.len())],
                &self.words[pair[0] + 1..pair[1]]
            ));
        }
        words
    }
}

/// Returns the runs of letters and digits of a text in lower case, each between spaces.
fn normalized_words(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    words.push(' ');
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            words.push(character.to_ascii_lowercase());
        } else if !words.ends_with(' ') {
            words.push(' ');
        }
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
    words
}

/// Returns the distinct terms of a text with their factor, in text order; those of lines with an error phrase first.
fn query_terms(text: &str) -> Vec<(String, u32)> {
    let mut seen = BTreeSet::new();
    let mut words = Vec::new();
    let (error_lines, other_lines): (Vec<_>, Vec<_>) =
        text.split('\n').partition(|line| has_error_phrase(line));
    for (factor, lines) in [(2, error_lines), (1, other_lines)] {
        for word in lines.into_iter().flat_map(terms).take(MAX_SCANNED_TERMS) {
            if words.len() == MAX_QUERY_TERMS {
                break;
            }
            if !seen.contains(&word) {
                seen.insert(word.clone());
                words.push((word, factor));
            }
        }
    }
    words
}

/// Returns whether a text is a question that somebody typed, rather than a message.
pub fn is_typed(text: &str) -> bool {
    is_question(text) && !is_message(text)
}

/// Returns whether a question is a message rather than typed.
fn is_message(text: &str) -> bool {
    let is_long = text.trim().encode_utf16().nth(MAX_TYPED_LENGTH).is_some();
    has_message_form(text) || is_long && (text.contains('_') || has_error_phrase(text))
}

fn has_message_form(text: &str) -> bool {
    text.contains(MESSAGE_CHARACTERS) || text.contains(": ")
}

fn has_error_phrase(line: &str) -> bool {
    let line = line.to_ascii_lowercase();
    ERROR_PHRASES.iter().any(|phrase| line.contains(phrase))
}

/// Returns the last word of a short text that does not end with a space.
fn incomplete_word(text: &str) -> Option<String> {
    if text.encode_utf16().nth(MAX_COMPLETED_LENGTH).is_some()
        || !text.ends_with(|character: char| character.is_ascii_alphanumeric())
    {
        return None;
    }
    let last = text.rsplit(|character: char| !character.is_ascii_alphanumeric()).next()?;
    (last.len() > 1).then(|| last.to_ascii_lowercase())
}

/// Returns the value of a base-64 digit.
fn digit(byte: u8) -> usize {
    usize::from(byte.saturating_sub(ZERO_DIGIT))
}

/// Returns the inverse document frequency of a term.
pub(crate) fn idf_of(posting: &str) -> u32 {
    posting.bytes().next().map_or(0, digit) as u32
}

/// Adds the score of a term to each document that has it, and its inverse document frequency to the terms `found` there.
fn add_scores(posting: &str, factor: u32, scores: &mut [u32], mut found: Option<&mut Vec<u32>>) {
    let idf = idf_of(posting);
    for (document, weight) in decode_posting(posting) {
        let Some(score) = scores.get_mut(document) else { continue };
        *score += idf * weight * factor;
        if let Some(found) = &mut found {
            found[document] += idf;
        }
    }
}

/// Returns the documents of a term with its weight in each.
pub(crate) fn decode_posting(posting: &str) -> impl Iterator<Item = (usize, u32)> {
    let mut digits = posting.bytes().map(digit).skip(1);
    let mut document = 0;
    std::iter::from_fn(move || {
        let mut part = digits.next()?;
        let mut unit = 1;
        while part >= 32 {
            document += (part - 32) * unit;
            unit *= 32;
            part = digits.next().unwrap_or(0);
        }
        document += part * unit;
        Some((document, digits.next().unwrap_or(0) as u32))
    })
}

/// Returns whether the words differ by one inserted, deleted, replaced or transposed letter.
fn is_one_edit_apart(one: &str, other: &str) -> bool {
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
    fn one_edit_of_four_or_more_letters() {
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
            assert_eq!(is_one_edit_apart(one, other), expected, "{one} {other}");
            assert_eq!(is_one_edit_apart(other, one), expected, "{other} {one}");
        }
    }
}
