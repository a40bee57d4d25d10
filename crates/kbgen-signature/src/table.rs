//! The compiled table: signatures, extractors and causes as plain data, for the index and for `static/js/match.js`.

use std::collections::BTreeMap;

use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize};

use crate::anchor::{Anchor, anchors};
use crate::expression::Expression;
use crate::extractor::Extractor;
use crate::lazy::Lazy;
use crate::pattern::Pattern;
use crate::reading::{ReadingHead, ReadingPage, ReadingRule, ReadingTexts};
use crate::specificity::{MIN_ASSERTING_BITS, specificity};

/// The role of a message; ordered by rank, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The message only reports that something earlier failed.
    Wrapper,
    /// The message is usually harmless.
    Warning,
    /// The message names the problem.
    Cause,
    /// The message is read for its figures; it leads to no page.
    Reading,
}

/// The input of the index for one page.
#[derive(Debug, Clone)]
pub struct Page {
    /// Identifier of the page in matches.
    pub slug: String,
    /// Role of the message; matches are sorted by it first.
    pub kind: Kind,
    /// Alternatives; one match is enough.
    pub signatures: Vec<Signature>,
    /// Causes with a condition on figures, most likely first.
    pub causes: Vec<Cause>,
}

/// A set of patterns and conditions that identifies an error.
#[derive(Debug, Clone, Default)]
pub struct Signature {
    /// Patterns that must all match; the match is reported at the first one.
    pub all: Vec<Pattern>,
    /// Patterns that must not match near the first one.
    pub not: Vec<Pattern>,
    /// Patterns that must not match in the line of the first one.
    pub not_on_line: Vec<Pattern>,
    /// Name of the extractor of figures around the first pattern.
    pub extract: Option<String>,
    /// A condition on the figures.
    pub when: Option<Expression>,
}

impl Signature {
    /// Creates a signature of one pattern.
    pub fn of(pattern: Pattern) -> Self {
        Self { all: vec![pattern], ..Self::default() }
    }

    /// Returns the bits of information of the literal text; compare with [`MIN_ASSERTING_BITS`].
    pub fn specificity(&self) -> u32 {
        specificity(&self.all)
    }

    /// Returns the signature without backticks in its patterns; `None` if they have none, or if the rest asserts too little.
    pub fn without_backticks(&self) -> Option<Self> {
        let bare: Vec<Option<Pattern>> = self.all.iter().map(Pattern::without_backticks).collect();
        if bare.iter().all(Option::is_none) {
            return None;
        }
        let all = self.all.iter().zip(bare).map(|(pattern, bare)| bare.unwrap_or_else(|| pattern.clone()));
        Some(Self { all: all.collect(), ..self.clone() })
            .filter(|signature| signature.specificity() >= MIN_ASSERTING_BITS)
    }

    /// Returns the names of the figures of the signature and its extractor, without duplicates.
    pub fn names<'a>(&'a self, extractors: &'a [Extractor]) -> Vec<&'a str> {
        let extractor = extractors.iter().find(|extractor| Some(&extractor.name) == self.extract.as_ref());
        let all =
            self.all.iter().flat_map(Pattern::names).chain(extractor.into_iter().flat_map(Extractor::names));
        let mut names = Vec::new();
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }
}

/// A cause and its condition on the figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// Id of the cause on its page.
    pub id: String,
    /// The first cause whose condition is true is reported.
    pub when: Expression,
}

/// The compiled table; serializes to compact JSON, which `static/js/match.js` can read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Table {
    /// Distinct patterns of all signatures.
    pub(crate) patterns: Vec<Lazy<Pattern>>,
    /// Anchor of each pattern.
    pub(crate) anchors: Vec<Anchor>,
    pub(crate) extractors: Vec<Lazy<Extractor>>,
    pub(crate) pages: Vec<Lazy<TablePage>>,
    pub(crate) readings: Vec<ReadingRule>,
}

/// A page of a table, whose signatures refer to patterns and extractors by their numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TablePage {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) slug: String,
    pub(crate) kind: Kind,
    pub(crate) signatures: Vec<TableSignature>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) causes: Vec<Cause>,
}

/// A signature with indices of patterns and extractors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableSignature {
    pub all: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_on_line: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// Whether it has fewer than [`MIN_ASSERTING_BITS`].
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
}

/// A table without the texts of its readings, as a script reads it.
#[derive(Debug, Serialize)]
pub struct SearchTable<'t> {
    patterns: &'t [Lazy<Pattern>],
    anchors: &'t [Anchor],
    extractors: &'t [Lazy<Extractor>],
    /// Names of the pages. Among their signatures, they would make the compressed table 1 % larger.
    slugs: Vec<&'t str>,
    /// Pages without names, with the distance of each pattern in place of its number, from the first one that no signature
    /// before has: 0 for a new pattern. Compressed, the pages with numbers are 1.4 times as large.
    pages_by_distance: Vec<TablePage>,
    readings: Vec<ReadingHead<'t>>,
}

impl Table {
    /// Returns what a script needs to find messages.
    pub fn without_texts(&self) -> SearchTable<'_> {
        let Self { patterns, anchors, extractors, .. } = self;
        let slugs = self.pages.iter().map(|page| page.slug.as_str()).collect();
        let (pages_by_distance, readings) = (self.pages_by_distance(), self.reading_heads());
        SearchTable { patterns, anchors, extractors, slugs, pages_by_distance, readings }
    }

    fn pages_by_distance(&self) -> Vec<TablePage> {
        let without_name = |page: &Lazy<TablePage>| TablePage { slug: String::new(), ..(**page).clone() };
        let mut pages: Vec<TablePage> = self.pages.iter().map(without_name).collect();
        let mut next = 0;
        for signature in pages.iter_mut().flat_map(|page| &mut page.signatures) {
            for id in signature.all.iter_mut().chain(&mut signature.not).chain(&mut signature.not_on_line) {
                *id = next - *id;
                next += usize::from(*id == 0);
            }
        }
        pages
    }

    pub(crate) fn reading_heads(&self) -> Vec<ReadingHead<'_>> {
        self.readings.iter().map(ReadingRule::head).collect()
    }

    /// Returns the texts of the readings, by slug.
    pub fn reading_texts(&self) -> BTreeMap<&str, ReadingTexts<'_>> {
        self.readings.iter().map(|rule| (rule.slug.as_str(), rule.texts())).collect()
    }

    /// Compiles pages and readings.
    pub fn with_readings(pages: &[Page], extractors: &[Extractor], readings: &[ReadingPage]) -> Self {
        let page = |reading: &ReadingPage| Page {
            slug: reading.rule.slug.clone(),
            kind: Kind::Reading,
            signatures: reading.signatures.clone(),
            causes: Vec::new(),
        };
        let reading_pages: Vec<Page> = readings.iter().map(page).collect();
        let rules = readings.iter().map(|reading| reading.rule.clone()).collect();
        let all: Vec<&Page> = pages.iter().chain(&reading_pages).collect();
        Self { readings: rules, ..Self::of_all(&all, extractors) }
    }

    /// Compiles pages. Omits unused extractors, references to unknown extractors, and signatures without a pattern.
    pub fn of(pages: &[Page], extractors: &[Extractor]) -> Self {
        Self::of_all(&pages.iter().collect::<Vec<_>>(), extractors)
    }

    fn of_all(pages: &[&Page], extractors: &[Extractor]) -> Self {
        let mut table = Self {
            patterns: Vec::new(),
            anchors: Vec::new(),
            extractors: Vec::new(),
            pages: Vec::new(),
            readings: Vec::new(),
        };
        let is_used = |name: &str| {
            pages.iter().flat_map(|page| &page.signatures).any(|s| s.extract.as_deref() == Some(name))
        };
        let mut indices = HashMap::new();
        let used = extractors.iter().filter(|extractor| is_used(&extractor.name)).cloned();
        table.extractors = used.map(Lazy::from).collect();
        for page in pages {
            let signatures: Vec<TableSignature> = page
                .signatures
                .iter()
                .filter(|signature| !signature.all.is_empty())
                .map(|signature| table.compile(signature, &mut indices))
                .collect();
            if !signatures.is_empty() {
                let causes = page.causes.clone();
                let page = TablePage { slug: page.slug.clone(), kind: page.kind, signatures, causes };
                table.pages.push(page.into());
            }
        }
        table.anchors = anchors(&table.patterns);
        table
    }

    /// Compiles a signature; `indices` has the index of every pattern so far.
    fn compile<'p>(
        &mut self,
        signature: &'p Signature,
        indices: &mut HashMap<&'p Pattern, usize>,
    ) -> TableSignature {
        let extract = signature.extract.as_ref();
        let mut indices_of = |patterns: &'p [Pattern]| {
            patterns.iter().map(|pattern| self.pattern_index(pattern, indices)).collect()
        };
        TableSignature {
            all: indices_of(&signature.all),
            not: indices_of(&signature.not),
            not_on_line: indices_of(&signature.not_on_line),
            extract: extract
                .and_then(|name| self.extractors.iter().position(|extractor| extractor.name == *name)),
            when: signature.when.clone(),
            weak: signature.specificity() < MIN_ASSERTING_BITS,
        }
    }

    fn pattern_index<'p>(
        &mut self,
        pattern: &'p Pattern,
        indices: &mut HashMap<&'p Pattern, usize>,
    ) -> usize {
        *indices.entry(pattern).or_insert_with(|| {
            self.patterns.push(pattern.clone().into());
            self.patterns.len() - 1
        })
    }
}
