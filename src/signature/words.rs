//! The word index: which pages speak of the words of a text, when no signature stands in it.
//!
//! Any word may match (BM25, Robertson and Zaragoza 2009, <https://doi.org/10.1561/1500000019>); a page that has
//! more of the rare ones goes first. Every weight is a small whole number, so that the script
//! `static/js/search.js` comes to the same order.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What is indexed of a page.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Where the page is; comes back in a hit.
    pub address: String,
    /// The title; comes back in a hit.
    pub title: String,
    /// The wordings of its signatures.
    pub signatures: String,
    /// Everything else.
    pub body: String,
}

/// The index in the form in which it is stored: JSON with two long strings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WordIndex {
    /// Address and title of each document, and what all words of its title and signatures are worth.
    pub(crate) documents: Vec<(String, String, u32)>,
    /// The words in order; each is a capital letter, which tells how many letters it shares with the word before
    /// (`A` for none), and the rest of its letters.
    pub(crate) words: String,
    /// For each word, separated by spaces: one digit of base 64 for how rare it is, then for each document the
    /// distance from the one before (digits of five bits, the lowest first, 32 added to all but the last) and one
    /// digit for the weight of the word there.
    pub(crate) postings: String,
    /// Words that are not indexed, each between spaces; for the script.
    pub(crate) ignored: String,
    /// What tells of trouble on a line; for the script.
    pub(crate) trouble: Vec<String>,
}

/// The share of a weight that the title and the signatures have; the rest is the body's.
const HEAD: f64 = 0.7;
/// A word of the title counts as so many of the signatures.
const TITLE: f64 = 2.0;
/// The two constants of BM25: how fast repeats stop to count, and how much a long document is discounted.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;
/// Steps of a weight.
pub(crate) const STEPS: f64 = 15.0;
/// Words longer than this are identifiers that no one types.
const LONGEST: usize = 24;
/// Digits in base 64.
pub(crate) const DIGITS: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

const IGNORED: &str = " a an and are as at be been but by can do does for from has have he how i if in into is it its me my \
                       no not of on or so than that the then there these this to up was we were what when which with you your ";

/// What tells of trouble; words on such lines count twice.
pub(crate) const TROUBLE: [&str; 10] = [
    "error",
    "fail",
    "exception",
    "cannot",
    "could not",
    "unable",
    "invalid",
    "not found",
    "unsupported",
    "fatal",
];

impl WordIndex {
    /// Indexes documents; a hit refers to them by address and title.
    pub fn build(documents: &[Document]) -> Self {
        let counts: Vec<BTreeMap<String, Count>> = documents.iter().map(count).collect();
        let lengths: Vec<f64> =
            counts.iter().map(|words| words.values().map(|count| count.body).sum()).collect();
        let mean = lengths.iter().sum::<f64>() / (lengths.len().max(1) as f64);
        let mut found: BTreeMap<&str, Vec<(usize, usize)>> = BTreeMap::new();
        for (document, words) in counts.iter().enumerate() {
            let norm = SATURATION * (1.0 - LENGTH + LENGTH * lengths[document] / mean.max(1.0));
            for (word, count) in words {
                found.entry(word).or_default().push((document, count.weight(norm)));
            }
        }
        let mut index = Self {
            documents: documents
                .iter()
                .map(|document| (document.address.clone(), document.title.clone(), 0))
                .collect(),
            words: String::new(),
            postings: String::new(),
            ignored: IGNORED.to_owned(),
            trouble: TROUBLE.map(str::to_owned).to_vec(),
        };
        let mut before = "";
        for (word, entries) in found {
            let rarity = index.push(before, word, &entries, counts.len());
            for (document, weight) in entries {
                if counts[document][word].head > 0.0 {
                    index.documents[document].2 += (rarity * weight) as u32;
                }
            }
            before = word;
        }
        index
    }

    /// `documents` are places in the list with the weight of the word there; returns how rare the word is.
    fn push(&mut self, before: &str, word: &str, documents: &[(usize, usize)], total: usize) -> usize {
        let shared =
            before.bytes().zip(word.bytes()).take_while(|(left, right)| left == right).count().min(25);
        self.words.push(char::from(b'A' + shared as u8));
        self.words.push_str(&word[shared..]);
        if !self.postings.is_empty() {
            self.postings.push(' ');
        }
        let rarity = rarity(documents.len(), total);
        self.postings.push(char::from(DIGITS[rarity]));
        let mut last = 0;
        for (document, weight) in documents {
            let mut gap = document - last;
            last = *document;
            while gap >= 32 {
                self.postings.push(char::from(DIGITS[32 + gap % 32]));
                gap /= 32;
            }
            self.postings.push(char::from(DIGITS[gap]));
            self.postings.push(char::from(DIGITS[*weight]));
        }
        rarity
    }
}

/// How rare a word is that stands in so many of all documents: 1 to 63, in eighths of the natural logarithm.
pub(crate) fn rarity(with: usize, total: usize) -> usize {
    let (with, total) = (with as f64, total as f64);
    let rarity = (1.0 + (total - with + 0.5) / (with + 0.5)).ln() * 8.0;
    (rarity.round() as usize).clamp(1, 63)
}

/// How often a word stands in a document.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    /// In the title and the signatures.
    head: f64,
    /// Elsewhere.
    body: f64,
}

impl Count {
    /// From 1 to `STEPS`; `norm` is the count at which a word of the body has half its weight.
    fn weight(self, norm: f64) -> usize {
        let head = self.head / (self.head + SATURATION);
        let body = self.body / (self.body + norm);
        (STEPS * (HEAD * head + (1.0 - HEAD) * body)).round().max(1.0) as usize
    }
}

fn count(document: &Document) -> BTreeMap<String, Count> {
    let mut counts: BTreeMap<String, Count> = BTreeMap::new();
    for word in split(&document.title) {
        counts.entry(word).or_default().head += TITLE;
    }
    for word in split(&document.signatures) {
        counts.entry(word).or_default().head += 1.0;
    }
    for word in split(&document.body) {
        counts.entry(word).or_default().body += 1.0;
    }
    counts
}

/// The words of a text in lower case: runs of ASCII letters and digits; a name such as `EngineDeadError` is
/// also its parts. Common words, one letter, and short and long numbers are left out.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in text.split(|character: char| !character.is_ascii_alphanumeric()) {
        let bytes = run.as_bytes();
        let humps: Vec<usize> = (1..bytes.len())
            .filter(|&at| bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase())
            .collect();
        keep(run, &mut words);
        if !humps.is_empty() && run.len() <= 60 {
            let ends = humps.iter().copied().chain([run.len()]);
            let mut start = 0;
            for end in ends {
                keep(&run[start..end], &mut words);
                start = end;
            }
        }
    }
    words
}

fn keep(run: &str, words: &mut Vec<String>) {
    let number = run.bytes().all(|byte| byte.is_ascii_digit());
    let fits = if number { (3..=5).contains(&run.len()) } else { (2..=LONGEST).contains(&run.len()) };
    if !fits {
        return;
    }
    let word = run.to_ascii_lowercase();
    if !IGNORED.contains(&format!(" {word} ")) {
        words.push(word);
    }
}
