//! Tables in parts for the browser, which loads a part when a text needs it.
//!
//! Scripts find the same results as in a whole table: a pattern is in the part of the first characters of its anchor, and does
//! not match a text that lacks them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::anchor::{Anchor, anchor_bytes};
use crate::matcher::literal_chars;
use crate::pattern::{Pattern, PatternPart};
use crate::table::{Kind, Table, TablePage};
use crate::text_index::{ERROR_PHRASES, STOP_WORDS, TextIndex, whole_terms};
use crate::text_search::{decode_posting, idf_of};

/// Number of characters of an anchor that select a part. Patterns with a shorter anchor belong to every text.
pub(crate) const KEY_LENGTH: usize = 6;

/// A signature table in parts. Patterns and pages are keyed by their numbers in the table.
#[derive(Debug)]
pub struct TableParts<'t> {
    /// Version, extractors and readings.
    pub head: Map<String, Value>,
    /// Keys of the parts in order, without separators: the first characters of anchors.
    pub keys: String,
    /// Number of the first key of each part.
    pub starts: Vec<usize>,
    /// Patterns that belong to every text.
    pub always: PatternPartition<'t>,
    /// Patterns by part.
    pub patterns: Vec<PatternPartition<'t>>,
    /// Pages of the readings.
    pub readings: BTreeMap<usize, &'t TablePage>,
    /// Number and page of each error, by slug.
    pub pages: BTreeMap<&'t str, (usize, &'t TablePage)>,
}

/// Patterns with their data.
#[derive(Debug, Default)]
pub struct PatternPartition<'t> {
    /// The patterns.
    pub patterns: BTreeMap<usize, &'t Pattern>,
    /// Part and offset of the anchor of each.
    pub anchors: BTreeMap<usize, [usize; 2]>,
    /// How signatures use them.
    pub uses: BTreeMap<usize, PatternUses>,
}

/// Parts of the pages, and extractors, of signatures that begin with a pattern.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PatternUses(BTreeSet<usize>, Vec<usize>);

impl Table {
    /// Returns the bytes of the literal texts of all patterns: fewer than the table has as JSON.
    pub fn text_bytes(&self) -> usize {
        let parts = self.patterns.iter().flat_map(|pattern| &pattern.parts);
        parts.filter_map(PatternPart::literal).map(str::len).sum()
    }

    /// Divides the table into parts of about `part_bytes` bytes; `page_part` returns the part of an error by its slug.
    pub fn in_parts<'t>(&'t self, part_bytes: usize, page_part: impl Fn(&str) -> usize) -> TableParts<'t> {
        let mut ids_by_key: BTreeMap<Vec<u8>, BTreeSet<usize>> = BTreeMap::new();
        let mut always_ids = BTreeSet::new();
        for id in 0..self.patterns.len() {
            for key in self.keys(id) {
                let ids = key.map_or(&mut always_ids, |key| ids_by_key.entry(key).or_default());
                ids.insert(id);
            }
        }
        let uses = self.uses(page_part);
        let add = |ids: &BTreeSet<usize>, part: &mut PatternPartition<'t>| {
            for id in ids {
                part.patterns.insert(*id, &self.patterns[*id]);
                let Anchor(literal, offset) = self.anchors[*id];
                part.anchors.insert(*id, [literal, offset]);
                part.uses.extend(uses.get(id).map(|uses| (*id, uses.clone())));
            }
            ids.iter().map(|id| json!(self.patterns[*id]).to_string().len() + 40).sum()
        };
        let mut always = PatternPartition::default();
        add(&always_ids, &mut always);
        let (mut keys, mut starts, mut patterns) = (String::new(), Vec::new(), Vec::new());
        let mut left = 0;
        for (at, (key, ids)) in ids_by_key.iter().enumerate() {
            if left == 0 {
                starts.push(at);
                patterns.push(PatternPartition::default());
                left = part_bytes;
            }
            keys.extend(key.iter().map(|byte| char::from(*byte)));
            let bytes: usize = patterns.last_mut().map_or(0, |part| add(ids, part));
            left = left.saturating_sub(bytes);
        }
        let (readings, errors): (Vec<_>, Vec<_>) =
            self.pages.iter().enumerate().partition(|(_, page)| page.kind == Kind::Reading);
        let head = [("extractors", json!(self.extractors)), ("readings", json!(self.reading_heads()))];
        TableParts {
            head: head.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            keys,
            starts,
            always,
            patterns,
            readings: readings.into_iter().map(|(number, page)| (number, &**page)).collect(),
            pages: errors.into_iter().map(|(number, page)| (page.slug.as_str(), (number, &**page))).collect(),
        }
    }

    fn uses(&self, page_part: impl Fn(&str) -> usize) -> BTreeMap<usize, PatternUses> {
        let mut all: BTreeMap<usize, PatternUses> = BTreeMap::new();
        for page in &self.pages {
            for signature in &page.signatures {
                let PatternUses(parts, extractors) = all.entry(signature.all[0]).or_default();
                if page.kind != Kind::Reading {
                    parts.insert(page_part(&page.slug));
                }
                extractors.extend(signature.extract.filter(|id| !extractors.contains(id)));
            }
        }
        all
    }

    /// Returns the keys of a pattern: the first characters of its anchor, and of its beginning, with which a truncated message
    /// ends; `None` for a short one.
    fn keys(&self, id: usize) -> [Option<Vec<u8>>; 2] {
        let parts = &self.patterns[id].parts;
        let anchor = self.anchors[id];
        let literal = |part: &PatternPart| part.literal().map(|text| literal_chars(text).collect());
        let key = |literal: Option<Vec<u8>>, offset: usize| {
            let bytes = literal?;
            let anchor = anchor_bytes(&bytes, offset);
            (anchor.len() >= KEY_LENGTH).then(|| anchor[..KEY_LENGTH].to_vec())
        };
        [key(parts.get(anchor.0).and_then(literal), anchor.1), key(parts.iter().find_map(literal), 0)]
    }
}

/// A text index as the script reads it. Of an index in parts, the script loads `postings` and `documents` when a text
/// needs them.
#[derive(Debug, Serialize)]
pub struct TextIndexParts<'i> {
    words: &'i str,
    /// Stop words, each between spaces.
    ignored: &'static str,
    /// Error phrases.
    trouble: &'static [&'static str],
    /// Number of documents in a part.
    size: usize,
    /// Number of the first word of each part.
    starts: Vec<usize>,
    /// Score of each document's own title.
    worths: Vec<u32>,
    /// [`Document::boost`](crate::Document::boost) of each document but the questions.
    boosts: &'i [u8],
    /// For each question, which come last, the document that answers it.
    owners: Vec<usize>,
    /// For each document the least score of a query that contains its title; none for an index of one part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    floors: Vec<u32>,
    /// Postings of successive words.
    pub postings: Vec<&'i str>,
    /// Address and title of successive documents; a question has the address of its owner, which is omitted.
    pub documents: Vec<Vec<(&'i str, &'i str)>>,
}

impl TextIndex {
    /// Returns the bytes of the words and postings: fewer than the index has as JSON.
    pub fn text_bytes(&self) -> usize {
        self.words.len() + self.postings.len()
    }

    /// Returns the index as one part.
    pub fn whole(&self) -> TextIndexParts<'_> {
        let owners: Vec<usize> = self.question_owners().map(|(_, page)| page).collect();
        let questions = self.documents.len() - owners.len();
        let documents = self.documents.iter().enumerate().map(|(at, (address, title, _))| {
            (if at < questions { address.as_str() } else { "" }, title.as_str())
        });
        TextIndexParts {
            words: &self.words,
            ignored: STOP_WORDS,
            trouble: &ERROR_PHRASES,
            size: self.documents.len(),
            starts: vec![0],
            worths: self.documents.iter().map(|(.., title_score)| *title_score).collect(),
            boosts: &self.boosts[..questions],
            owners,
            floors: Vec::new(),
            postings: vec![&self.postings],
            documents: vec![documents.collect()],
        }
    }

    /// Divides the index into parts of about `part_bytes` bytes of postings, and of `size` documents.
    pub fn in_parts(&self, part_bytes: usize, size: usize) -> TextIndexParts<'_> {
        let (mut starts, mut postings) = (Vec::new(), Vec::new());
        let (mut first, mut rest) = (0, Some(self.postings.as_str()));
        while let Some(text) = rest {
            let end = text.bytes().skip(part_bytes).position(|byte| byte == b' ').map(|at| part_bytes + at);
            let part = &text[..end.unwrap_or(text.len())];
            rest = end.map(|end| &text[end + 1..]);
            starts.push(first);
            first += part.split(' ').count();
            postings.push(part);
        }
        let whole = self.whole();
        TextIndexParts {
            size,
            starts,
            floors: self.title_floors(),
            postings,
            documents: whole.documents[0].chunks(size).map(<[_]>::to_vec).collect(),
            ..whole
        }
    }

    /// Returns for each document the least score, before factors, of a query that contains its title.
    fn title_floors(&self) -> Vec<u32> {
        let mut documents_of: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, (_, title, _)) in self.documents.iter().enumerate() {
            let terms: BTreeSet<String> = whole_terms(title).into_iter().collect();
            terms.into_iter().for_each(|term| documents_of.entry(term).or_default().push(at));
        }
        let mut floors = vec![0; self.documents.len()];
        for (word, posting) in self.decode_words().iter().zip(self.postings.split(' ')) {
            let Some(documents) = documents_of.get(word) else { continue };
            for (document, weight) in decode_posting(posting) {
                if documents.binary_search(&document).is_ok() {
                    floors[document] += idf_of(posting) * weight;
                }
            }
        }
        floors
    }
}
