//! The word index: which pages speak of the words of a text, when no signature stands in it.
//!
//! Any word may match (BM25 of fields, Robertson and Zaragoza 2009, <https://doi.org/10.1561/1500000019>); a page
//! that has more of the rare ones goes first. Every weight is a small whole number, so that the script
//! `static/js/search.js` comes to the same order. `cargo bench --bench retrieval` measures what the constants do.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt, HashSet};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

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
    /// Address and title of each document, and what a line that tells of trouble in the words of its title would score.
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

/// A word of the title counts as so many of the signatures, one of a body of mean length as so many.
const TITLE: f64 = 2.5;
const BODY: f64 = 0.4;
/// The two constants of BM25: how fast repeats stop to count, and how much a long body is discounted.
const SATURATION: f64 = 1.0;
const LENGTH: f64 = 0.75;
/// What a known word on a line that tells of trouble counts, in the steps in which a search counts.
pub(crate) const FULL: u32 = 8;
/// Steps of a weight.
const STEPS: f64 = 7.0;
/// A word outside the title that adds less than this, rarity times weight, is left out: a quarter of the index, and
/// no page moves.
const LEAST: usize = 28;
/// Words longer than this are identifiers that no one types.
const LONGEST: usize = 24;
/// Digits in base 64.
pub(crate) const DIGITS: &[u8; 64] = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

const IGNORED: &str = " a an and are as at be been but by can do does for from has have he how i if in into is it its me my \
                       no not of on or so than that the then there these this to up was we were what when which with you your ";

static IGNORED_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| IGNORED.split_whitespace().collect());

/// What tells of trouble; words on such lines count twice, and a log without any is near no page.
pub(crate) const TROUBLE: [&str; 20] = [
    "error",
    "fail",
    "exception",
    "cannot",
    "could not",
    "couldn't",
    "unable",
    "invalid",
    "not found",
    "unsupported",
    "not supported",
    "not compatible",
    "not match",
    "mismatch",
    "exceed",
    "larger than",
    "fatal",
    "kill",
    "exit code",
    "warning",
];

/// Words of documents as they come, each kept once however many documents have it.
#[derive(Debug, Default)]
pub struct WordCounts {
    /// Address, title and length of each document.
    documents: Vec<(String, String, u32)>,
    found: HashMap<String, Vec<(u32, Count)>>,
}

impl WordCounts {
    /// Adds the words of documents with these addresses and titles.
    pub fn add(&mut self, names: impl IntoIterator<Item = (String, String)>, counted: &Counted) {
        let first = self.documents.len() as u32;
        let named = names.into_iter().zip(&counted.lengths);
        self.documents.extend(named.map(|((address, title), length)| (address, title, *length)));
        let mut rest = &counted.places[..];
        for (word, places) in counted.words.split(' ').zip(&counted.counts) {
            let here;
            (here, rest) = rest.split_at(*places);
            let here = here.iter().map(|(document, count)| (first + document, *count));
            match self.found.get_mut(word) {
                Some(found) => found.extend(here),
                None => drop(self.found.insert(word.to_owned(), here.collect())),
            }
        }
    }

    /// The index of all of them.
    pub fn finish(self) -> WordIndex {
        let lengths: Vec<f64> = self.documents.iter().map(|(.., length)| f64::from(*length)).collect();
        let mean = lengths.iter().sum::<f64>() / (lengths.len().max(1) as f64);
        let mut index = WordIndex {
            documents: self.documents.into_iter().map(|(address, title, _)| (address, title, 0)).collect(),
            words: String::new(),
            postings: String::new(),
            ignored: IGNORED.to_owned(),
            trouble: TROUBLE.map(str::to_owned).to_vec(),
        };
        let mut found: Vec<_> = self.found.into_iter().collect();
        found.par_sort_unstable_by(|(one, _), (two, _)| one.cmp(two));
        let mut before = "";
        for (word, counts) in &found {
            let rarity = rarity(counts.len(), lengths.len());
            let entries = counts.iter().map(|(document, count)| {
                let document = *document as usize;
                let norm = 1.0 - LENGTH + LENGTH * lengths[document] / mean.max(1.0);
                Entry { document, weight: count.weight(norm), titled: count.title > 0 }
            });
            let entries: Vec<Entry> =
                entries.filter(|entry| entry.titled || rarity * entry.weight >= LEAST).collect();
            if entries.is_empty() {
                continue;
            }
            for entry in entries.iter().filter(|entry| entry.titled) {
                index.documents[entry.document].2 += (rarity * entry.weight) as u32;
            }
            index.push(before, word, rarity, &entries);
            before = word;
        }
        for (.., worth) in &mut index.documents {
            *worth = (*worth * FULL).max(1);
        }
        index
    }
}

impl WordIndex {
    /// Indexes documents; a hit refers to them by address and title.
    pub fn build(documents: &[Document]) -> Self {
        let mut counts = WordCounts::default();
        let name = |document: &Document| (document.address.clone(), document.title.clone());
        counts.add(documents.iter().map(name), &Counted::of(documents));
        counts.finish()
    }

    fn push(&mut self, before: &str, word: &str, rarity: usize, entries: &[Entry]) {
        let shared =
            before.bytes().zip(word.bytes()).take_while(|(left, right)| left == right).count().min(25);
        self.words.push(char::from(b'A' + shared as u8));
        self.words.push_str(&word[shared..]);
        if !self.postings.is_empty() {
            self.postings.push(' ');
        }
        self.postings.push(char::from(DIGITS[rarity]));
        let mut last = 0;
        for entry in entries {
            let mut gap = entry.document - last;
            last = entry.document;
            while gap >= 32 {
                self.postings.push(char::from(DIGITS[32 + gap % 32]));
                gap /= 32;
            }
            self.postings.push(char::from(DIGITS[gap]));
            self.postings.push(char::from(DIGITS[entry.weight]));
        }
    }
}

/// A word in a document.
struct Entry {
    document: usize,
    weight: usize,
    /// Whether it stands in the title.
    titled: bool,
}

/// From 1 to 63, for a word that so many of all documents have.
pub(crate) fn rarity(with: usize, total: usize) -> usize {
    let (with, total) = (with as f64, total as f64);
    let rarity = (1.0 + (total - with + 0.5) / (with + 0.5)).ln() * 8.0;
    (rarity.round() as usize).clamp(1, 63)
}

/// The words of some documents.
#[derive(Debug, Serialize, Deserialize)]
pub struct Counted {
    /// For each document, how many words its body has.
    lengths: Vec<u32>,
    /// Each word once, in order, with a space between.
    words: String,
    /// For each word, in how many documents it stands.
    counts: Vec<usize>,
    /// For each word its documents, counted from the first of these, and how often it stands there.
    places: Vec<(u32, Count)>,
}

/// How often a word stands in a document.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct Count {
    title: u32,
    signatures: u32,
    body: u32,
}

impl Count {
    /// From 1 to `STEPS`; `norm` is 1 for a body of mean length, more for a longer one.
    fn weight(self, norm: f64) -> usize {
        let [title, signatures, body] = [self.title, self.signatures, self.body].map(f64::from);
        let count = TITLE * title + signatures + BODY * body / norm;
        (STEPS * count / (count + SATURATION)).round().max(1.0) as usize
    }
}

impl Counted {
    /// Counts the words of documents.
    pub fn of(documents: &[Document]) -> Self {
        let counts: Vec<HashMap<String, Count>> = documents.par_iter().map(count).collect();
        let lengths = counts.iter().map(|counts| counts.values().map(|count| count.body).sum()).collect();
        let mut found: BTreeMap<String, Vec<(u32, Count)>> = BTreeMap::new();
        for (at, counts) in (0..).zip(counts) {
            counts.into_iter().for_each(|(word, count)| found.entry(word).or_default().push((at, count)));
        }
        let words: Vec<&str> = found.keys().map(String::as_str).collect();
        Self {
            lengths,
            words: words.join(" "),
            counts: found.values().map(Vec::len).collect(),
            places: found.into_values().flatten().collect(),
        }
    }
}

fn count(document: &Document) -> HashMap<String, Count> {
    let mut counts: HashMap<String, Count> = HashMap::new();
    let mut add = |text: &str, field: fn(&mut Count) -> &mut u32| {
        each(text, |word| match counts.get_mut(word) {
            Some(count) => *field(count) += 1,
            None => *field(counts.entry(word.to_owned()).or_default()) = 1,
        });
    };
    add(&document.title, |count| &mut count.title);
    add(&document.signatures, |count| &mut count.signatures);
    add(&document.body, |count| &mut count.body);
    counts
}

/// The words of a text, one by one: see [`each`].
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    each(text, |word| words.push(word.to_owned()));
    words
}

/// Hands over the words of a text in lower case: runs of ASCII letters and digits; a name such as `EngineDeadError` is
/// also its parts. Common words, one letter, and short and long numbers are left out; a plural is its singular.
fn each(text: &str, mut take: impl FnMut(&str)) {
    for run in text.split(|character: char| !character.is_ascii_alphanumeric()) {
        let bytes = run.as_bytes();
        keep(run, &mut take);
        if run.len() > 60 {
            continue;
        }
        let mut start = 0;
        for at in 1..bytes.len() {
            if bytes[at - 1].is_ascii_lowercase() && bytes[at].is_ascii_uppercase() {
                keep(&run[start..at], &mut take);
                start = at;
            }
        }
        if start > 0 {
            keep(&run[start..], &mut take);
        }
    }
}

fn keep(run: &str, take: &mut impl FnMut(&str)) {
    let number = run.bytes().all(|byte| byte.is_ascii_digit());
    let fits = if number { (3..=5).contains(&run.len()) } else { (2..=LONGEST).contains(&run.len()) };
    if !fits {
        return;
    }
    let mut letters = [0; LONGEST];
    let letters = &mut letters[..run.len()];
    letters.copy_from_slice(run.as_bytes());
    letters.make_ascii_lowercase();
    let word = str::from_utf8(letters).expect("letters and digits are ASCII");
    if IGNORED_WORDS.contains(word) {
        return;
    }
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    take(if is_plural { &word[..word.len() - 1] } else { word });
}
