//! The compiled table: every signature, extractor and cause as plain data, for the matcher and for the page's script.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::anchor::{Anchor, anchors};
use crate::expression::Expression;
use crate::extractor::Extractor;
use crate::pattern::Pattern;
use crate::specificity::{LEAST_BITS, specificity};

/// What a page says about its error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The message only reports that something earlier failed.
    Wrapper,
    /// The message is usually harmless.
    Warning,
    /// The message names what went wrong.
    Cause,
}

/// A page as the index needs it.
#[derive(Debug, Clone)]
pub struct Page {
    /// The name by which a match refers to the page.
    pub slug: String,
    /// What the page says about its error.
    pub kind: Kind,
    /// Any of these finds the page.
    pub signatures: Vec<Signature>,
    /// The causes whose `when` may be told from figures, most likely first.
    pub causes: Vec<Cause>,
}

/// One way to know a page's error.
#[derive(Debug, Clone)]
pub struct Signature {
    /// Every one of these must stand in the log; the first is where the match is shown.
    pub all: Vec<Pattern>,
    /// None of these may stand in the log.
    pub not: Vec<Pattern>,
    /// The name of an extractor that reads further figures around the first pattern.
    pub extract: Option<String>,
    /// A condition on the figures without which the signature does not match.
    pub when: Option<Expression>,
}

impl Signature {
    /// A signature of one pattern.
    pub fn of(pattern: Pattern) -> Self {
        Self { all: vec![pattern], not: Vec::new(), extract: None, when: None }
    }

    /// The bits that its literal text tells; below [`LEAST_BITS`] it asserts nothing.
    pub fn specificity(&self) -> u32 {
        specificity(&self.all)
    }

    /// The names of the figures that the signature may read, each once.
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

/// A cause and the condition under which the figures say that it is this one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cause {
    /// The id that the page gives.
    pub id: String,
    /// The condition; the first cause whose condition holds is told.
    pub when: Expression,
}

/// The compiled table. It serializes to compact JSON, which `static/js/match.js` reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// The version of this form.
    pub(crate) version: u32,
    /// Every pattern of a signature, each once.
    pub(crate) patterns: Vec<Pattern>,
    /// For each pattern the literal text that it is searched by.
    pub(crate) anchors: Vec<Anchor>,
    pub(crate) extractors: Vec<Extractor>,
    pub(crate) pages: Vec<TablePage>,
}

/// A page in the table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TablePage {
    pub slug: String,
    pub kind: Kind,
    pub signatures: Vec<TableSignature>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
}

/// A signature in the table; patterns and extractors are given by their place in the table's lists.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TableSignature {
    pub all: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not: Vec<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expression>,
    /// It tells too little to assert an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
}

impl Table {
    /// Compiles pages. An extractor that is not in the list, and a signature without a pattern, are left out.
    pub fn of(pages: &[Page], extractors: &[Extractor]) -> Self {
        let mut table = Self {
            version: 2,
            patterns: Vec::new(),
            anchors: Vec::new(),
            extractors: Vec::new(),
            pages: Vec::new(),
        };
        let named = |name: &str| {
            pages.iter().flat_map(|page| &page.signatures).any(|s| s.extract.as_deref() == Some(name))
        };
        let mut known = HashMap::new();
        table.extractors = extractors.iter().filter(|extractor| named(&extractor.name)).cloned().collect();
        for page in pages {
            let signatures: Vec<TableSignature> = page
                .signatures
                .iter()
                .filter(|signature| !signature.all.is_empty())
                .map(|signature| table.compile(signature, &mut known))
                .collect();
            if !signatures.is_empty() {
                let causes = page.causes.clone();
                table.pages.push(TablePage { slug: page.slug.clone(), kind: page.kind, signatures, causes });
            }
        }
        table.anchors = anchors(&table.patterns);
        table
    }

    /// `known` has the place of every pattern so far: looking through the list would cost quadratic time.
    fn compile<'p>(
        &mut self,
        signature: &'p Signature,
        known: &mut HashMap<&'p Pattern, usize>,
    ) -> TableSignature {
        let extract = signature.extract.as_ref();
        TableSignature {
            all: signature.all.iter().map(|pattern| self.place(pattern, known)).collect(),
            not: signature.not.iter().map(|pattern| self.place(pattern, known)).collect(),
            extract: extract
                .and_then(|name| self.extractors.iter().position(|extractor| extractor.name == *name)),
            when: signature.when.clone(),
            weak: signature.specificity() < LEAST_BITS,
        }
    }

    fn place<'p>(&mut self, pattern: &'p Pattern, known: &mut HashMap<&'p Pattern, usize>) -> usize {
        *known.entry(pattern).or_insert_with(|| {
            self.patterns.push(pattern.clone());
            self.patterns.len() - 1
        })
    }
}
