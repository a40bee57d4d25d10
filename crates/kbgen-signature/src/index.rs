//! The index: a pasted log in, the pages that fit it out, best first.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::effort::Cost;
use crate::extractor::Extractor;
use crate::figure::Figures;
use crate::pattern::Pattern;
use crate::reading::{Place, Places, Progress, Reader};
use crate::stream::LogStream;
use crate::table::{Kind, Page, Table, TablePage, TableSignature};

/// Figures of another signature of the same page count if it stands within so many lines.
const NEAR: usize = 20;
/// Signatures that stand closer than so many characters tell of one event, and the one that says most leads.
const EVENT_GAP: usize = 160;
/// An event is not longer than this.
const EVENT_LENGTH: usize = 480;
/// What a condition that holds adds to a signature: it says more than the same words without one.
const CHOSEN: usize = 10;

/// Every signature of a knowledge base, ready to be looked for.
#[derive(Debug, Clone)]
pub struct Index {
    table: Table,
    reader: Reader,
    /// For each pattern, the pages with a signature that begins with it.
    pages: Vec<Vec<usize>>,
}

/// A page that fits a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// The page.
    pub slug: String,
    /// How well it fits; the list is sorted by it. Comparable within one log only.
    pub score: u32,
    /// The line of the log, from 1, where the signature stands.
    pub line: usize,
    /// The character in that line, from 1.
    pub column: usize,
    /// That line, or as much of it as a reader looks at; whoever has the log needs no copy of it.
    #[serde(skip)]
    pub quote: String,
    /// What was read, sizes in bytes.
    pub figures: Figures,
    /// The cause that the figures tell.
    pub cause: Option<String>,
    /// Only signatures that tell too little are found: the page is suggested, and nothing asserted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
}

/// The pages that fit a log, and what it took to find them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The pages, best first.
    pub matches: Vec<Match>,
    /// The steps that matching took, in the unit of [`STEPS`](crate::STEPS).
    pub steps: u64,
    /// The pattern that took the most steps in one stretch of the text.
    pub costliest: Option<Cost>,
    /// The line where the limit of steps was reached first, if it was: signatures may have been missed there.
    pub skipped: Option<usize>,
}

/// A signature that stands in the log.
struct Finding<'table> {
    place: Place,
    weight: usize,
    page: &'table TablePage,
    figures: Figures,
    weak: bool,
}

impl Index {
    /// Prepares the signatures of these pages.
    pub fn build(pages: &[Page], extractors: &[Extractor]) -> Self {
        Self::from_table(Table::of(pages, extractors))
    }

    /// Prepares a table that was compiled before.
    pub fn from_table(table: Table) -> Self {
        let mut pages = vec![Vec::new(); table.patterns.len()];
        for (at, page) in table.pages.iter().enumerate() {
            for first in page.signatures.iter().filter_map(|signature| signature.all.first()) {
                if pages[*first].last() != Some(&at) {
                    pages[*first].push(at);
                }
            }
        }
        Self { reader: Reader::new(&table), pages, table }
    }

    /// The compiled table.
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The pages that fit a log, each once, best first: a cause before a warning before a wrapper, then by how
    /// much the signature says and how early it stands. Time is linear in the length of the log.
    pub fn diagnose(&self, log: &str) -> Vec<Match> {
        self.read(log).matches
    }

    /// Like [`Index::diagnose`], with the steps that it took.
    pub fn read(&self, log: &str) -> Diagnosis {
        self.conclude(&self.reader.read(log))
    }

    /// The pages with a message that begins as a short text ends: one that was cut off. The longest beginning first, then
    /// pages whose signature holds whatever the figures are: those that the text lacks.
    pub fn begun(&self, text: &str) -> Vec<&str> {
        let mut found: Vec<_> = self
            .reader
            .begun(text)
            .into_iter()
            .flat_map(|(pattern, letters)| {
                let page = move |&page: &usize| {
                    (Reverse(letters), self.is_conditional(page, pattern), pattern, page)
                };
                self.pages[pattern].iter().map(page)
            })
            .collect();
        found.sort_unstable();
        let mut known = BTreeSet::new();
        found.retain(|(.., page)| known.insert(*page));
        found.into_iter().map(|(.., page)| self.table.pages[page].slug.as_str()).collect()
    }

    /// Whether figures decide about every signature of a page that begins with a pattern.
    fn is_conditional(&self, page: usize, pattern: usize) -> bool {
        let signatures = &self.table.pages[page].signatures;
        let begins = |signature: &&TableSignature| signature.all.first() == Some(&pattern);
        signatures.iter().filter(begins).all(|signature| signature.when.is_some())
    }

    /// Lists of patterns, by their index in the table, that are searched by the same piece of literal text: each place
    /// where it occurs costs all of them.
    pub fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.reader.groups()
    }

    /// The literal text, without white space, that a pattern is searched by.
    pub fn searched_by(&self, pattern: usize) -> String {
        self.reader.anchor(pattern).iter().map(|byte| char::from(*byte)).collect()
    }

    /// The pattern with this index in the table.
    pub fn pattern(&self, index: usize) -> &Pattern {
        &self.table.patterns[index]
    }

    /// A diagnosis of a log that arrives in pieces and may be too long to be held in memory.
    pub fn stream(&self) -> LogStream<'_> {
        LogStream::new(self)
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    pub(crate) fn conclude(&self, progress: &Progress) -> Diagnosis {
        let places = &progress.places;
        // A page fits only where one of its signatures begins, and few of many thousands do.
        let pages: BTreeSet<usize> =
            places.patterns().flat_map(|pattern| self.pages[pattern].iter().copied()).collect();
        let findings = pages.into_iter().filter_map(|page| self.finding(&self.table.pages[page], places));
        Diagnosis {
            matches: rank(findings.collect()),
            steps: progress.effort.steps,
            costliest: progress.costliest.max(progress.costliest_here()),
            skipped: progress.skipped,
        }
    }

    /// The signature of a page that says most, with the figures of its neighbors.
    fn finding<'table>(&self, page: &'table TablePage, places: &Places) -> Option<Finding<'table>> {
        let mut found: Vec<Finding<'table>> =
            page.signatures.iter().filter_map(|signature| self.signature(page, signature, places)).collect();
        found.sort_by_key(|finding| (finding.weak, Reverse(finding.weight), finding.place.start));
        let mut found = found.into_iter();
        let mut best = found.next()?;
        for other in found {
            if other.place.line.abs_diff(best.place.line) <= NEAR {
                best.figures.extend(&other.figures);
            }
            if other.weak == best.weak
                && other.place.start < best.place.start
                && other.weight * 2 >= best.weight
            {
                best.place = other.place;
            }
        }
        Some(best)
    }

    fn signature<'table>(
        &self,
        page: &'table TablePage,
        signature: &'table TableSignature,
        places: &Places,
    ) -> Option<Finding<'table>> {
        if signature.not.iter().any(|&pattern| !places.of(pattern).is_empty()) {
            return None;
        }
        let (&first, others) = signature.all.split_first()?;
        let others: Option<Vec<&Place>> = others.iter().map(|&pattern| places.of(pattern).first()).collect();
        let others = others?;
        let letters: usize = signature.all.iter().map(|&pattern| self.reader.weight(pattern)).sum();
        let weight = letters + if signature.when.is_some() { CHOSEN } else { 0 };
        let found: Vec<Finding<'table>> = places
            .of(first)
            .iter()
            .filter_map(|place| {
                let mut figures = place.figures.clone();
                others.iter().for_each(|other| figures.extend(&other.figures));
                if let Some((_, extracted)) =
                    place.extracted.iter().find(|(id, _)| Some(*id) == signature.extract)
                {
                    figures.extend(extracted);
                }
                let holds = signature.when.as_ref().is_none_or(|when| when.holds(&figures));
                holds.then(|| Finding { place: place.clone(), weight, page, figures, weak: signature.weak })
            })
            .collect();
        // The first place, unless a later one tells far more, as where only one rank prints its figures.
        let most = found.iter().map(|finding| finding.figures.len()).max()?;
        found.into_iter().find(|finding| finding.figures.len() * 2 >= most)
    }
}

/// Kind first, then the event, then what the signature says.
///
/// An earlier event leads, because what follows is often its consequence; but the first few letters of a short
/// signature are weak evidence, and a later event that says much more goes before it. Behind all of these stand the
/// signatures that tell too little to assert anything.
fn rank(mut findings: Vec<Finding<'_>>) -> Vec<Match> {
    const EARLY: [usize; 6] = [60, 40, 28, 18, 10, 4];
    const STRONG: usize = 30;
    const LONGEST: usize = 199;
    findings.sort_by_key(|finding| (finding.weak, finding.place.start));
    let strong = findings.iter().take_while(|finding| !finding.weak).count();
    let events = events(&findings[..strong]);
    let mut strongest: BTreeMap<(usize, Kind), usize> = BTreeMap::new();
    for (finding, event) in findings.iter().zip(&events) {
        let known = strongest.entry((*event, finding.page.kind)).or_default();
        *known = finding.weight.max(*known);
    }
    let score = |at: usize| {
        let finding = &findings[at];
        if finding.weak {
            return finding.weight.min(LONGEST) as u32;
        }
        let of_event = strongest[&(events[at], finding.page.kind)];
        let strength = of_event.min(STRONG) + EARLY.get(events[at]).copied().unwrap_or(0);
        let kind = match finding.page.kind {
            Kind::Cause => 60_000,
            Kind::Warning => 30_000,
            Kind::Wrapper => 0,
        };
        (kind + strength * (LONGEST + 1) + finding.weight.min(LONGEST)) as u32
    };
    let scores: Vec<u32> = (0..findings.len()).map(score).collect();
    let mut matches: Vec<Match> = findings
        .into_iter()
        .zip(scores)
        .map(|(finding, score)| Match {
            slug: finding.page.slug.clone(),
            score,
            line: finding.place.line,
            column: finding.place.column,
            quote: finding.place.quote,
            cause: finding
                .page
                .causes
                .iter()
                .find(|cause| cause.when.holds(&finding.figures))
                .map(|cause| cause.id.clone()),
            figures: finding.figures,
            weak: finding.weak,
        })
        .collect();
    matches.sort_by_key(|found| Reverse(found.score));
    matches
}

/// The number of the event that each finding belongs to; findings are sorted by their place.
fn events(findings: &[Finding<'_>]) -> Vec<usize> {
    let mut events = Vec::with_capacity(findings.len());
    let (mut event, mut begin, mut end) = (0, 0, 0);
    for (at, Finding { place, .. }) in findings.iter().enumerate() {
        if at > 0 && (place.start >= end + EVENT_GAP || place.start >= begin + EVENT_LENGTH) {
            event += 1;
            end = 0;
        }
        if end == 0 {
            begin = place.start;
        }
        end = end.max(place.end);
        events.push(event);
    }
    events
}
