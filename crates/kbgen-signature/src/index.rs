//! The signature index: finds the pages that match a log, best first.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::extractor::Extractor;
use crate::figure::Figures;
use crate::pattern::Pattern;
use crate::quote::Quote;
use crate::ranking::{Candidate, rank};
use crate::reading::{self, LogEnd, Reading, ReadingPage, ReadingRule};
use crate::scanner::{MAX_OCCURRENCES, Occurrence, Occurrences, ScanState, Scanner};
use crate::step_budget::PatternCost;
use crate::stream::LogStream;
use crate::table::{Kind, Page, Table, TablePage, TableSignature};
use crate::traceback::Traceback;

/// Maximum distance, in lines, of a `not` fragment that excludes a match.
const NEGATION_DISTANCE: usize = 40;
/// Maximum distance, in lines, of the parts of a signature. In the samples of pages it is 9 at most; a log may have more
/// lines between them.
const PART_DISTANCE: usize = 200;
/// Signatures with fewer literal characters and no figures, such as `Killed`, say how a program ended, not why.
const MIN_CAUSE_LENGTH: usize = 11;
/// Maximum distance, in lines, of signatures of one page whose figures are merged.
const MERGE_DISTANCE: usize = 20;
/// Weight that a true condition adds to a signature.
const CONDITION_BONUS: usize = 10;

/// The compiled signatures of a knowledge base; in a binary format, most of it is parsed on first use.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Index {
    scanner: Scanner,
    /// For each pattern, the pages with a signature whose first pattern it is.
    pages: Vec<Vec<usize>>,
    /// The pages of readings, a few of many thousands.
    readings: Vec<usize>,
}

/// A page that matches a log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// Slug of the page.
    pub slug: String,
    /// Rank of the page, higher is better; comparable within one log only.
    pub score: u32,
    /// 1-based line of the match.
    pub line: usize,
    /// 1-based character in that line.
    pub column: usize,
    /// The line of the message; not serialized, because the log contains it.
    #[serde(skip)]
    pub quote: Quote,
    /// Extracted figures, sizes in bytes.
    pub figures: Figures,
    /// Id of the first cause whose condition is true.
    pub cause: Option<String>,
    /// Whether only signatures below [`MIN_ASSERTING_BITS`](crate::MIN_ASSERTING_BITS) match.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub weak: bool,
    /// Whether the message is as short as `Killed`, which says how a program ended, not why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub brief: bool,
    /// Whether programs often go on after the message, such as a warning, or it is only a line of source code.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub survivable: bool,
}

/// The pages that match a log, and the cost of the search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The pages, best first.
    pub matches: Vec<Match>,
    /// Messages that readings put into words, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readings: Vec<Match>,
    /// Readings with a `not` fragment in the log, each with the 1-based line of the fragment.
    #[serde(skip)]
    pub exclusions: Vec<(String, usize)>,
    /// Every message that a reading matches, by its position.
    #[serde(skip)]
    pub(crate) messages: Vec<ReadingMessage>,
    /// Matching steps; see [`MAX_STEPS_PER_WINDOW`](crate::MAX_STEPS_PER_WINDOW).
    pub steps: u64,
    /// The pattern with the most steps in one window of the text.
    pub costliest: Option<PatternCost>,
    /// 1-based line where the step limit was first exceeded; matches may be missing from there to the end of the window.
    pub skipped: Option<usize>,
}

/// A message that a reading matches.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ReadingMessage {
    pub slug: String,
    /// 1-based line of the message.
    pub line: usize,
    pub figures: Figures,
    start: usize,
}

impl Index {
    /// Compiles pages and extractors.
    pub fn build(pages: &[Page], extractors: &[Extractor]) -> Self {
        Self::from_table(Table::of(pages, extractors))
    }

    /// Compiles pages, extractors and structural readings.
    pub fn with_readings(pages: &[Page], extractors: &[Extractor], readings: &[ReadingPage]) -> Self {
        Self::from_table(Table::with_readings(pages, extractors, readings))
    }

    /// Builds the index from a compiled table.
    pub fn from_table(table: Table) -> Self {
        let mut pages = vec![Vec::new(); table.patterns.len()];
        for (at, page) in table.pages.iter().enumerate() {
            for first in page.signatures.iter().filter_map(|signature| signature.all.first()) {
                if pages[*first].last() != Some(&at) {
                    pages[*first].push(at);
                }
            }
        }
        let is_reading = |page: &usize| table.pages[*page].kind == Kind::Reading;
        let readings = (0..table.pages.len()).filter(is_reading).collect();
        Self { scanner: Scanner::new(table), pages, readings }
    }

    /// Returns the compiled table.
    pub fn table(&self) -> &Table {
        &self.scanner.table
    }

    /// Finds the pages that match a log, each once, best first: causes before warnings before wrappers, then by the weight of
    /// the signature and the position in the log. Takes time linear in the length of the log.
    pub fn diagnose(&self, log: &str) -> Diagnosis {
        self.finish(&self.scanner.scan(log))
    }

    /// Returns what a log says, whether or not it has a page: its messages and its traceback in words. `log` is the end of
    /// the log, whose lines tell reports of errors from others.
    ///
    /// Each message of an exception or of an error line is also read on its own, as `Error: message`: what it says does
    /// not depend on the program that prints it.
    pub fn readings(
        &self,
        diagnosis: &Diagnosis,
        traceback: Option<&Traceback>,
        log: &LogEnd<'_>,
    ) -> Vec<Reading> {
        let rule = |slug: &str| self.scanner.table.readings.iter().find(|rule| rule.slug == slug);
        let is_excluded = |slug: &str, line: usize| {
            let excludes = |(of, at): &(String, usize)| of == slug && at.abs_diff(line) <= NEGATION_DISTANCE;
            diagnosis.exclusions.iter().any(excludes)
        };
        // A later message, if the rule may not read the first one.
        let readable = |found: &Match| {
            let own = diagnosis.messages.iter().filter(|message| message.slug == found.slug);
            let own = own.filter(|message| !is_excluded(&message.slug, message.line));
            let others = own.map(|message| Match {
                line: message.line,
                figures: message.figures.clone(),
                survivable: false,
                ..found.clone()
            });
            std::iter::once(found.clone())
                .chain(others)
                .find(|found| rule(&found.slug).is_some_and(|rule| rule.may_read(found, log)))
        };
        let mut found: Vec<Match> = diagnosis.readings.iter().filter_map(readable).collect();
        for (line, message) in reading::messages(diagnosis, traceback, log) {
            for own in self.diagnose(&format!("Error: {message}")).readings {
                let own = Match { line, column: 1, ..own };
                let reads = |rule: &ReadingRule| rule.role.names_cause() && rule.may_read_message(&own, log);
                let is_known = found.iter().any(|other| other.slug == own.slug);
                if !is_excluded(&own.slug, line) && !is_known && rule(&own.slug).is_some_and(reads) {
                    found.push(own);
                }
            }
        }
        reading::readings(&self.scanner.table.readings, diagnosis, &found, traceback, log)
    }

    /// Returns the pages with a message whose beginning is the end of the text, as in a truncated message: longest beginning
    /// first, then signatures without a condition, because the text lacks the figures.
    pub fn truncated_matches(&self, text: &str) -> Vec<&str> {
        let mut found: Vec<_> = self
            .scanner
            .truncated_matches(text)
            .into_iter()
            .flat_map(|(pattern, length)| {
                let page =
                    move |&page: &usize| (Reverse(length), self.is_conditional(page, pattern), pattern, page);
                let is_page = |page: &&usize| self.scanner.table.pages[**page].kind != Kind::Reading;
                self.pages[pattern].iter().filter(is_page).map(page)
            })
            .collect();
        found.sort_unstable();
        let mut known = BTreeSet::new();
        found.retain(|(.., page)| known.insert(*page));
        found.into_iter().map(|(.., page)| self.scanner.table.pages[page].slug.as_str()).collect()
    }

    /// Returns whether every signature of a page with this first pattern has a condition.
    fn is_conditional(&self, page: usize, pattern: usize) -> bool {
        let signatures = &self.scanner.table.pages[page].signatures;
        let has_first = |signature: &&TableSignature| signature.all.first() == Some(&pattern);
        signatures.iter().filter(has_first).all(|signature| signature.when.is_some())
    }

    /// Iterates over the lists of patterns, as indices in the table, that share an anchor; each hit of the anchor costs all of
    /// them.
    pub fn anchor_groups(&self) -> impl Iterator<Item = &[usize]> {
        self.scanner.anchor_groups()
    }

    /// Returns the anchor of a pattern: its literal text, without white space, that the index searches for.
    pub fn anchor_text(&self, pattern: usize) -> String {
        self.scanner.anchor(pattern).iter().map(|byte| char::from(*byte)).collect()
    }

    /// Returns the pattern at an index of the table.
    pub fn pattern(&self, index: usize) -> &Pattern {
        &self.scanner.table.patterns[index]
    }

    /// Starts the diagnosis of a log that is read in chunks, with bounded memory.
    pub fn stream(&self) -> LogStream<'_> {
        LogStream::new(self)
    }

    pub(crate) fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    pub(crate) fn finish(&self, state: &ScanState) -> Diagnosis {
        let occurrences = &state.occurrences;
        // Visits only pages with a match of a first pattern, a few of many thousands.
        let pages: BTreeSet<usize> =
            occurrences.patterns().flat_map(|pattern| self.pages[pattern].iter().copied()).collect();
        let candidates = pages
            .into_iter()
            .filter_map(|page| self.best_candidate(&self.scanner.table.pages[page], occurrences));
        let (readings, candidates) = candidates.partition(|found| found.page.kind == Kind::Reading);
        let reading_pages = || self.readings.iter().map(|page| &self.scanner.table.pages[*page]);
        let exclusions = reading_pages().flat_map(|page| {
            let fragments: BTreeSet<usize> =
                page.signatures.iter().flat_map(|one| one.not.iter().copied()).collect();
            let found = fragments.into_iter().flat_map(|fragment| occurrences.of(fragment));
            found.map(|fragment| (page.slug.clone(), fragment.line))
        });
        let messages = reading_pages().flat_map(|page| {
            let patterns = page.signatures.iter().filter_map(|signature| signature.all.first());
            patterns.flat_map(|pattern| occurrences.of(*pattern)).map(|occurrence| ReadingMessage {
                slug: page.slug.clone(),
                line: occurrence.line,
                figures: occurrence.figures.clone(),
                start: occurrence.start,
            })
        });
        let mut messages: Vec<ReadingMessage> = messages.collect();
        messages.sort_by_key(|message| message.start);
        Diagnosis {
            exclusions: exclusions.collect(),
            messages,
            matches: rank(candidates),
            readings: rank(readings),
            steps: state.budget.steps,
            costliest: state.costliest.max(state.costliest_in_window()),
            skipped: state.skipped,
        }
    }

    /// Returns the signature of a page with the highest weight, with the figures of its other signatures nearby.
    fn best_candidate<'table>(
        &self,
        page: &'table TablePage,
        occurrences: &Occurrences,
    ) -> Option<Candidate<'table>> {
        let mut found: Vec<Candidate<'table>> = page
            .signatures
            .iter()
            .filter_map(|signature| self.signature(page, signature, occurrences))
            .collect();
        found
            .sort_by_key(|candidate| (candidate.weak, Reverse(candidate.weight), candidate.occurrence.start));
        let mut found = found.into_iter();
        let mut best = found.next()?;
        for other in found {
            if other.occurrence.line.abs_diff(best.occurrence.line) <= MERGE_DISTANCE {
                best.figures.extend(&other.figures);
            }
            // A message that ended the program comes first, then the earlier one.
            let is_first = if other.occurrence.is_survivable == best.occurrence.is_survivable {
                other.occurrence.start < best.occurrence.start && other.weight * 2 >= best.weight
            } else {
                best.occurrence.is_survivable
            };
            if other.weak == best.weak && is_first {
                best.occurrence = other.occurrence;
            }
        }
        Some(best)
    }

    fn signature<'table>(
        &self,
        page: &'table TablePage,
        signature: &'table TableSignature,
        occurrences: &Occurrences,
    ) -> Option<Candidate<'table>> {
        let (&first, others) = signature.all.split_first()?;
        let is_near = |pattern: usize, line: usize, distance: usize| {
            occurrences.of(pattern).iter().any(|other| other.line.abs_diff(line) <= distance)
        };
        // Of a frequent fragment, only the first occurrences are known; it excludes later messages if it excludes an earlier
        // one.
        let excludes = |patterns: &[usize], line: usize, distance: usize| {
            patterns.iter().any(|&pattern| {
                let last = occurrences.of(pattern).get(MAX_OCCURRENCES - 1);
                let mut messages = occurrences.of(first).iter();
                is_near(pattern, line, distance)
                    || (last.is_some_and(|last| last.line < line)
                        && messages.any(|message| is_near(pattern, message.line, distance)))
            })
        };
        let is_excluded = |line| {
            excludes(&signature.not, line, NEGATION_DISTANCE) || excludes(&signature.not_on_line, line, 0)
        };
        let length: usize = signature.all.iter().map(|&pattern| self.scanner.weight(pattern)).sum();
        let weight = length + if signature.when.is_some() { CONDITION_BONUS } else { 0 };
        let literal_length: usize =
            signature.all.iter().map(|&pattern| self.scanner.literal_length(pattern)).sum();
        let mut found: Vec<Candidate<'table>> = occurrences
            .of(first)
            .iter()
            .filter(|occurrence| !is_excluded(occurrence.line))
            .filter_map(|occurrence| {
                let mut figures = occurrence.figures.clone();
                for &pattern in others {
                    let distance = |other: &&Occurrence| other.line.abs_diff(occurrence.line);
                    let nearest = occurrences.of(pattern).iter().min_by_key(distance)?;
                    let is_frequent = occurrences.of(pattern).len() == MAX_OCCURRENCES;
                    if !is_frequent && !is_near(pattern, occurrence.line, PART_DISTANCE) {
                        return None;
                    }
                    figures.extend(&nearest.figures);
                }
                if let Some((_, extracted)) =
                    occurrence.extracted.iter().find(|(id, _)| Some(*id) == signature.extract)
                {
                    figures.extend(extracted);
                }
                let is_brief = literal_length < MIN_CAUSE_LENGTH && figures.is_empty();
                let holds = signature.when.as_ref().is_none_or(|when| when.holds(&figures));
                holds.then(|| Candidate {
                    occurrence: occurrence.clone(),
                    weight,
                    page,
                    figures,
                    weak: signature.weak,
                    brief: is_brief,
                })
            })
            .collect();
        found.sort_by_key(|candidate| candidate.occurrence.is_survivable);
        // The first one, unless another has more than twice its figures, as if only one rank prints them.
        let most = found.iter().map(|candidate| candidate.figures.len()).max()?;
        found.into_iter().find(|candidate| candidate.figures.len() * 2 >= most)
    }
}
