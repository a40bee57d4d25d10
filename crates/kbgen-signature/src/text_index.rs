//! A full-text index of pages, for logs without a known signature and for questions.
//!
//! Ranks by BM25F (Robertson and Zaragoza 2009, <https://doi.org/10.1561/1500000019>). Weights are small integers, so that
//! `static/js/search.js` computes the same order. `cargo bench --bench retrieval` measures the effect of the constants.

use std::ops::Range;
use std::sync::LazyLock;

use foldhash::{HashMap, HashMapExt, HashSet};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The indexed texts of a page.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// Address of the page; part of each hit.
    pub address: String,
    /// Title; part of each hit.
    pub title: String,
    /// Patterns and samples of its signatures.
    pub signatures: String,
    /// Plain text of the page.
    pub body: String,
    /// Percentage by which its score for a typed question is increased.
    pub boost: u8,
}

/// The index in its serialized form: two long strings.
#[derive(Debug, Serialize, Deserialize)]
pub struct TextIndex {
    /// Address and title of each document, and the score of its own title as a line with an error phrase.
    pub(crate) documents: Vec<(String, String, u32)>,
    /// [`Document::boost`] of each document.
    pub(crate) boosts: Vec<u8>,
    /// Terms in order. Each is a capital letter for the number of letters it shares with the previous term (`A` for none),
    /// and its other letters.
    pub(crate) words: String,
    /// For each term, separated by spaces: its inverse document frequency as a base-64 digit (`0` to `o`), then for each
    /// document the distance from the previous one (5-bit digits, lowest first, 32 added to all but the last) and the
    /// weight as a digit.
    pub(crate) postings: String,
}

/// Weights of a term in the title, and in a body of mean length, relative to one in a signature.
const TITLE_WEIGHT: f64 = 2.5;
const BODY_WEIGHT: f64 = 0.4;
/// The constants k1 (term frequency saturation) and b (length normalization) of BM25.
const K1: f64 = 1.0;
const B: f64 = 0.75;
/// Factor of an exact match on a line with an error phrase, in the units of a search.
pub(crate) const MAX_MATCH_FACTOR: u32 = 8;
/// Largest weight of a term.
const WEIGHT_LEVELS: f64 = 7.0;
/// Smallest product of inverse document frequency and weight of a term outside the title. Omitting smaller ones saves about
/// 30 % of the index; of 447 typed questions as many find their page as with a minimum of 28.
const MIN_CONTRIBUTION: usize = 36;
/// Number of documents that are counted together.
const GROUP_SIZE: usize = 256;
/// Length of the longest stop word.
const MAX_STOP_WORD_LENGTH: usize = 5;
/// Longest indexed word; longer ones are identifiers that nobody types.
const MAX_WORD_LENGTH: usize = 24;
/// Digit 0 of the postings; the others follow in the order of ASCII.
pub(crate) const ZERO_DIGIT: u8 = b'0';

pub(crate) const STOP_WORDS: &str = " a an and are as at be been but by can do does for from has have he how i if in into is it its me my \
                       no not of on or so than that the then there these this to up was we were what when which with you your ";

static STOP_WORD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split_whitespace().collect());

/// Substrings of lines whose words count twice; without any, a log has no similar pages.
pub(crate) static ERROR_PHRASES: [&str; 20] = [
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

/// Builds an index from documents that are added in groups.
#[derive(Debug, Default)]
pub struct TextIndexBuilder {
    /// Address, title and body length of each document.
    documents: Vec<(String, String, u32)>,
    /// [`Document::boost`] of each document.
    boosts: Vec<u8>,
    /// Groups, each with the number of its first document.
    groups: Vec<(usize, TermCounts)>,
}

impl TextIndexBuilder {
    /// Adds documents with their addresses, titles and boosts. A document with the address of an earlier one is a question
    /// that this page answers; questions come last.
    pub fn add(&mut self, names: impl IntoIterator<Item = (String, String, u8)>, counted: TermCounts) {
        let first = self.documents.len();
        for ((address, title, boost), length) in names.into_iter().zip(&counted.lengths) {
            self.documents.push((address, title, *length));
            self.boosts.push(boost);
        }
        self.groups.push((first, counted));
    }

    /// Computes weights and serializes the index.
    pub fn finish(self) -> TextIndex {
        let lengths: Vec<f64> = self.documents.iter().map(|(.., length)| f64::from(*length)).collect();
        let mean = lengths.iter().sum::<f64>() / (lengths.len().max(1) as f64);
        let mut index = TextIndex {
            documents: self.documents.into_iter().map(|(address, title, _)| (address, title, 0)).collect(),
            boosts: self.boosts,
            words: String::new(),
            postings: String::new(),
        };
        // For each term the group and the range of its frequencies there, which are not copied: they are most of the memory.
        let mut terms: HashMap<&str, Vec<(u32, Range<u32>)>> = HashMap::new();
        for (group, (_, counted)) in (0..).zip(&self.groups) {
            let mut start = 0;
            for (word, documents) in counted.words.split(' ').zip(&counted.document_counts) {
                let end = start + documents;
                terms.entry(word).or_default().push((group, start..end));
                start = end;
            }
        }
        let mut terms: Vec<_> = terms.into_iter().collect();
        terms.par_sort_unstable_by(|(one, _), (two, _)| one.cmp(two));
        let mut previous = "";
        for (word, places) in terms {
            let idf = idf(places.iter().map(|(_, range)| range.len()).sum(), lengths.len());
            let counts = places.into_iter().flat_map(|(group, range)| {
                let (first, counted) = &self.groups[group as usize];
                let frequencies = &counted.frequencies[range.start as usize..range.end as usize];
                frequencies.iter().map(move |(document, count)| (first + *document as usize, count))
            });
            let postings = counts.map(|(document, count)| {
                let norm = 1.0 - B + B * lengths[document] / mean.max(1.0);
                Posting { document, weight: count.weight(norm), in_title: count.title > 0 }
            });
            let postings: Vec<Posting> = postings
                .filter(|posting| posting.in_title || idf * posting.weight >= MIN_CONTRIBUTION)
                .collect();
            if postings.is_empty() {
                continue;
            }
            for posting in postings.iter().filter(|posting| posting.in_title) {
                index.documents[posting.document].2 += (idf * posting.weight) as u32;
            }
            index.push(previous, word, idf, &postings);
            previous = word;
        }
        for (.., title_score) in &mut index.documents {
            *title_score = (*title_score * MAX_MATCH_FACTOR).max(1);
        }
        index
    }
}

impl TextIndex {
    /// Indexes documents.
    pub fn build(documents: &[Document]) -> Self {
        let mut builder = TextIndexBuilder::default();
        let name = |document: &Document| (document.address.clone(), document.title.clone(), document.boost);
        let groups: Vec<TermCounts> = documents.par_chunks(GROUP_SIZE).map(TermCounts::of).collect();
        for (documents, counts) in documents.chunks(GROUP_SIZE).zip(groups) {
            builder.add(documents.iter().map(name), counts);
        }
        builder.finish()
    }

    fn push(&mut self, previous: &str, word: &str, idf: usize, postings: &[Posting]) {
        let shared =
            previous.bytes().zip(word.bytes()).take_while(|(left, right)| left == right).count().min(25);
        self.words.push(char::from(b'A' + shared as u8));
        self.words.push_str(&word[shared..]);
        if !self.postings.is_empty() {
            self.postings.push(' ');
        }
        self.postings.push(digit(idf));
        let mut last = 0;
        for posting in postings {
            let mut gap = posting.document - last;
            last = posting.document;
            while gap >= 32 {
                self.postings.push(digit(32 + gap % 32));
                gap /= 32;
            }
            self.postings.push(digit(gap));
            self.postings.push(digit(posting.weight));
        }
    }
}

/// Returns the base-64 digit of a value below 64.
fn digit(value: usize) -> char {
    char::from(ZERO_DIGIT + value as u8)
}

/// An occurrence of a term in a document.
struct Posting {
    document: usize,
    weight: usize,
    in_title: bool,
}

/// Returns the inverse document frequency of a term in `with` of `total` documents, as an integer from 1 to 63.
pub(crate) fn idf(with: usize, total: usize) -> usize {
    let (with, total) = (with as f64, total as f64);
    let idf = (1.0 + (total - with + 0.5) / (with + 0.5)).ln() * 8.0;
    (idf.round() as usize).clamp(1, 63)
}

/// Term frequencies of a group of documents, so that they can be cached.
#[derive(Debug, Serialize, Deserialize)]
pub struct TermCounts {
    /// Number of words in the body of each document.
    lengths: Vec<u32>,
    /// All terms in order, separated by spaces.
    words: String,
    /// Number of documents with each term.
    document_counts: Vec<u32>,
    /// For each term its documents, as indices in the group, and its frequencies there.
    frequencies: Vec<(u32, TermFrequencies)>,
}

/// Frequencies of a term in a document, by field. Title and signatures are small fields, counted up to 255.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct TermFrequencies {
    title: u8,
    signatures: u8,
    body: u16,
}

impl TermFrequencies {
    /// Returns a weight from 1 to [`WEIGHT_LEVELS`]; `norm` is 1 for a body of mean length, more for a longer one.
    fn weight(self, norm: f64) -> usize {
        let [title, signatures] = [self.title, self.signatures].map(f64::from);
        let body = f64::from(self.body);
        let count = TITLE_WEIGHT * title + signatures + BODY_WEIGHT * body / norm;
        (WEIGHT_LEVELS * count / (count + K1)).round().max(1.0) as usize
    }
}

impl TermCounts {
    /// Counts the terms of documents.
    pub fn of(documents: &[Document]) -> Self {
        let mut found: HashMap<String, Vec<(u32, TermFrequencies)>> = HashMap::new();
        let mut lengths = vec![0; documents.len()];
        for ((at, document), length) in (0..).zip(documents).zip(&mut lengths) {
            let mut add = |text: &str, count_in: fn(&mut TermFrequencies)| {
                let mut total = 0;
                for_each_term(text, |word| {
                    total += 1;
                    let counts = match found.get_mut(word) {
                        Some(counts) => counts,
                        None => found.entry(word.to_owned()).or_default(),
                    };
                    if counts.last().is_none_or(|(last, _)| *last != at) {
                        counts.push((at, TermFrequencies::default()));
                    }
                    count_in(&mut counts.last_mut().expect("the document was added").1);
                });
                total
            };
            add(&document.title, |count| count.title = count.title.saturating_add(1));
            add(&document.signatures, |count| count.signatures = count.signatures.saturating_add(1));
            *length = add(&document.body, |count| count.body = count.body.saturating_add(1));
        }
        let mut found: Vec<_> = found.into_iter().collect();
        found.sort_unstable_by(|(one, _), (two, _)| one.cmp(two));
        let words: Vec<&str> = found.iter().map(|(word, _)| word.as_str()).collect();
        let words = words.join(" ");
        let document_counts: Vec<u32> = found.iter().map(|(_, counts)| counts.len() as u32).collect();
        let mut frequencies = Vec::with_capacity(found.iter().map(|(_, counts)| counts.len()).sum());
        found.into_iter().for_each(|(_, counts)| frequencies.extend(counts));
        Self { lengths, words, document_counts, frequencies }
    }
}

/// Returns the terms of a text; see [`for_each_term`].
pub(crate) fn terms(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for_each_term(text, |word| words.push(word.to_owned()));
    words
}

/// Returns the terms of a text without the parts of camel-case names.
pub(crate) fn whole_terms(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for run in runs(text) {
        emit_term(run, &mut |word| words.push(word.to_owned()));
    }
    words
}

/// Calls `emit` with each term of a text: runs of ASCII letters and digits in lower case; for a camel-case name such as
/// `EngineDeadError` also its parts. Omits stop words, single letters, and numbers of fewer than 3 or more than 5 digits;
/// removes a plural `s`.
fn for_each_term(text: &str, mut emit: impl FnMut(&str)) {
    for run in runs(text) {
        emit_term(run, &mut emit);
        if run.len() > 60 {
            continue;
        }
        let mut start = 0;
        for at in 1..run.len() {
            if run[at - 1].is_ascii_lowercase() && run[at].is_ascii_uppercase() {
                emit_term(&run[start..at], &mut emit);
                start = at;
            }
        }
        if start > 0 {
            emit_term(&run[start..], &mut emit);
        }
    }
}

/// Returns the runs of ASCII letters and digits, and empty ones.
fn runs(text: &str) -> impl Iterator<Item = &[u8]> {
    text.as_bytes().split(|byte| !byte.is_ascii_alphanumeric())
}

fn emit_term(run: &[u8], emit: &mut impl FnMut(&str)) {
    let is_number = run.iter().all(u8::is_ascii_digit);
    let is_indexed =
        if is_number { (3..=5).contains(&run.len()) } else { (2..=MAX_WORD_LENGTH).contains(&run.len()) };
    if !is_indexed {
        return;
    }
    let mut letters = [0; MAX_WORD_LENGTH];
    let letters = &mut letters[..run.len()];
    letters.copy_from_slice(run);
    letters.make_ascii_lowercase();
    let word = str::from_utf8(letters).expect("letters and digits are ASCII");
    if word.len() <= MAX_STOP_WORD_LENGTH && STOP_WORD_SET.contains(word) {
        return;
    }
    let is_plural = word.len() > 3 && word.ends_with('s') && !word.ends_with("ss");
    emit(if is_plural { &word[..word.len() - 1] } else { word });
}
