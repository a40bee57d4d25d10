//! Scans a log for the patterns of a table and extracts figures at each occurrence.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use crate::anchor_search::{AnchorHit, AnchorSearch};
use crate::extractor::CompiledExtractor;
use crate::figure::Figures;
use crate::matcher::{Matcher, anchor_text};
use crate::normal::{GAP_BREAK, NormalText};
use crate::quote::Quote;
use crate::step_budget::{MAX_FOUND_PATTERNS, PatternCost, StepBudget, WINDOW_LENGTH};
use crate::table::Table;

/// Maximum occurrences of one pattern; further repetitions of a message add no information.
pub(crate) const MAX_OCCURRENCES: usize = 8;

/// A table with matchers for its patterns, their anchors and extractors.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "StoredScanner")]
pub(crate) struct Scanner {
    pub table: Table,
    anchors: AnchorSearch,
    /// For each pattern, the extractors of the signatures whose first pattern it is.
    pattern_extractors: Vec<Vec<usize>>,
    /// Compiled when a log has their anchor: a log has few of them.
    #[serde(skip)]
    matchers: Vec<OnceLock<Box<Matcher>>>,
    /// Compiled when a log has a message with their figures.
    #[serde(skip)]
    extractors: Vec<OnceLock<CompiledExtractor>>,
}

/// The stored part of a [`Scanner`].
#[derive(Deserialize)]
struct StoredScanner {
    table: Table,
    anchors: AnchorSearch,
    pattern_extractors: Vec<Vec<usize>>,
}

impl From<StoredScanner> for Scanner {
    fn from(stored: StoredScanner) -> Self {
        let StoredScanner { table, anchors, pattern_extractors } = stored;
        Self {
            matchers: table.patterns.iter().map(|_| OnceLock::new()).collect(),
            extractors: table.extractors.iter().map(|_| OnceLock::new()).collect(),
            table,
            anchors,
            pattern_extractors,
        }
    }
}

/// One match of a pattern in a log.
#[derive(Debug, Clone)]
pub(crate) struct Occurrence {
    /// First character in the normal text, and the one after the last.
    pub start: usize,
    pub end: usize,
    /// Byte offset in the chunk in which it was found.
    offset: usize,
    /// The line of the log.
    pub quote: Quote,
    /// 1-based line in the log.
    pub line: usize,
    /// 1-based character in that line.
    pub column: usize,
    /// See [`is_survivable`] and [`is_secondary`].
    pub is_survivable: bool,
    /// Values of the named placeholders.
    pub figures: Figures,
    /// Figures of each extractor, by its index in the table.
    pub extracted: Vec<(usize, Figures)>,
}

/// Occurrences by pattern. Only patterns that were found have an entry, so the size does not grow with the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Occurrences(BTreeMap<usize, PatternOccurrences>);

#[derive(Debug, Clone, Default)]
struct PatternOccurrences {
    /// In text order.
    occurrences: Vec<Occurrence>,
    /// End of the last occurrence, in characters of the normal text of the whole log.
    end: usize,
    /// Number of occurrences whose line and column are set.
    located: usize,
}

impl PatternOccurrences {
    /// Returns whether no more occurrences are kept.
    fn is_full(&self) -> bool {
        self.occurrences.len() == MAX_OCCURRENCES
    }
}

impl Occurrences {
    /// Returns the occurrences of a pattern, in text order.
    pub fn of(&self, pattern: usize) -> &[Occurrence] {
        self.0.get(&pattern).map(|found| found.occurrences.as_slice()).unwrap_or_default()
    }

    /// Iterates over the patterns that were found, in table order.
    pub fn patterns(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }
}

impl Scanner {
    /// Compiles the patterns and extractors of a table.
    pub fn new(table: Table) -> Self {
        let mut pattern_extractors = vec![Vec::new(); table.patterns.len()];
        for signature in table.pages.iter().flat_map(|page| &page.signatures) {
            if let (Some(extractor), Some(first)) = (signature.extract, signature.all.first())
                && !pattern_extractors[*first].contains(&extractor)
            {
                pattern_extractors[*first].push(extractor);
            }
        }
        let anchored = table.patterns.iter().zip(&table.anchors);
        let anchors = AnchorSearch::new(anchored.map(|(pattern, anchor)| anchor_text(pattern, *anchor)));
        StoredScanner { table, anchors, pattern_extractors }.into()
    }

    fn matcher(&self, pattern: usize) -> &Matcher {
        let compile = || Box::new(Matcher::new(&self.table.patterns[pattern], self.table.anchors[pattern]));
        self.matchers[pattern].get_or_init(compile)
    }

    fn extractor(&self, index: usize) -> &CompiledExtractor {
        self.extractors[index].get_or_init(|| CompiledExtractor::new(&self.table.extractors[index]))
    }

    /// Returns the weight of a pattern; see [`Matcher::weight`].
    pub fn weight(&self, pattern: usize) -> usize {
        self.matcher(pattern).weight()
    }

    /// Returns the number of literal characters of a pattern.
    pub fn literal_length(&self, pattern: usize) -> usize {
        self.matcher(pattern).literal_length()
    }

    pub fn anchor(&self, pattern: usize) -> Vec<u8> {
        anchor_text(&self.table.patterns[pattern], self.table.anchors[pattern])
    }

    /// Iterates over the lists of patterns that share an anchor; each hit of the anchor costs all of them.
    pub fn anchor_groups(&self) -> impl Iterator<Item = &[usize]> {
        self.anchors.pattern_groups()
    }

    /// Returns the state before a log.
    pub fn start(&self) -> ScanState {
        ScanState {
            occurrences: Occurrences::default(),
            budget: StepBudget::new(),
            costliest: None,
            skipped: None,
            verified: HashMap::new(),
            window_costs: HashMap::new(),
            dropped: 0,
            scanned: 0,
            position: TextPosition { line: 1, column: 1 },
        }
    }

    /// Scans a whole log.
    pub fn scan(&self, log: &str) -> ScanState {
        let mut state = self.start();
        self.scan_chunk(log, log.len(), log.len(), &mut state);
        state
    }

    /// Scans a chunk of a log for matches whose anchor starts before byte `until`. The next chunk must start at byte `cut` of
    /// this one.
    pub fn scan_chunk(&self, chunk: &str, until: usize, cut: usize, state: &mut ScanState) {
        let text = NormalText::of_log(chunk);
        let chars_before = |offset: usize| text.starts.partition_point(|start| (*start as usize) < offset);
        let limit = chars_before(until);
        let mut from = state.scanned - state.dropped;
        let mut hits = Vec::new();
        let mut skipped = None;
        while from < limit {
            let end = ((state.dropped + from) / WINDOW_LENGTH + 1) * WINDOW_LENGTH - state.dropped;
            self.anchors.collect(&text.bytes, from..end.min(limit), &mut hits);
            let stopped = hits.iter().find_map(|hit| self.verify_hit(*hit, &text, chunk, state));
            skipped = skipped.or(stopped);
            from = end.min(limit);
            if from == end {
                state.start_window();
            }
        }
        if let Some(offset) = skipped
            && state.skipped.is_none()
        {
            state.skipped = Some(state.position.after(&chunk[..offset]).line);
        }
        state.scanned = state.dropped + limit;
        state.dropped += chars_before(cut);
        let mut position = state.position;
        let new = state.occurrences.0.values_mut().flat_map(|found| {
            let located = std::mem::replace(&mut found.located, found.occurrences.len());
            &mut found.occurrences[located..]
        });
        let mut new: Vec<&mut Occurrence> = new.collect();
        new.sort_by_key(|occurrence| occurrence.offset);
        let mut offset = 0;
        for occurrence in new {
            position = position.after(&chunk[offset..occurrence.offset]);
            offset = occurrence.offset;
            (occurrence.line, occurrence.column) = (position.line, position.column);
        }
        state.position = state.position.after(&chunk[..cut]);
    }

    /// Verifies the patterns of a hit; returns its byte offset if the step limit is exceeded.
    fn verify_hit(
        &self,
        hit: AnchorHit,
        text: &NormalText,
        chunk: &str,
        state: &mut ScanState,
    ) -> Option<usize> {
        for &pattern in self.anchors.patterns(hit) {
            let steps = state.budget.steps;
            self.verify_pattern(pattern, hit.start, text, chunk, state);
            *state.window_costs.entry(pattern).or_default() += state.budget.steps - steps;
            if state.budget.is_exhausted() {
                return Some(text.starts[hit.start] as usize);
            }
        }
        None
    }

    /// Adds the occurrences of a pattern whose anchor is at `at`; `None` if the step limit is exceeded.
    fn verify_pattern(
        &self,
        pattern: usize,
        at: usize,
        text: &NormalText,
        chunk: &str,
        state: &mut ScanState,
    ) -> Option<()> {
        if state.occurrences.0.get(&pattern).is_some_and(PatternOccurrences::is_full) {
            return Some(());
        }
        let matcher = self.matcher(pattern);
        let Range { start: from, end: to } = matcher.candidate_starts(at)?;
        let verified = state.verified.entry(pattern).or_default();
        let from = from.max(verified.saturating_sub(state.dropped));
        *verified = (*verified).max(state.dropped + to);
        state.budget.charge(1 + to.saturating_sub(from) / 16)?;
        let first_literal = matcher.first_literal();
        for at in from..to {
            if !text.bytes[at..].starts_with(first_literal) {
                continue;
            }
            let start = state.dropped + at;
            let is_covered = |found: &PatternOccurrences| start < found.end || found.is_full();
            if state.occurrences.0.get(&pattern).is_some_and(is_covered) {
                continue;
            }
            let Some(span) = matcher.match_at(text, at, &mut state.budget) else { continue };
            state.budget.charge(64)?;
            let figures = matcher.figures(text, chunk, &span);
            let mut extracted = Vec::new();
            for &id in &self.pattern_extractors[pattern] {
                let values =
                    self.extractor(id).extract(text, chunk, matcher, &span, &figures, &mut state.budget);
                extracted.push((id, values));
            }
            let found = state.occurrences.0.entry(pattern).or_default();
            found.end = state.dropped + span.end;
            found.occurrences.push(Occurrence {
                start: state.dropped + span.start,
                end: state.dropped + span.end,
                offset: text.starts[span.start] as usize,
                quote: Quote::new(chunk, text.starts[span.start] as usize),
                is_survivable: is_survivable(chunk, text.starts[span.start] as usize)
                    || is_secondary(text, span.start),
                line: 0,
                column: 0,
                figures,
                extracted,
            });
            if state.occurrences.0.len() == MAX_FOUND_PATTERNS {
                state.budget.close();
            }
        }
        Some(())
    }
}

/// Result and position of a scan.
#[derive(Debug, Clone)]
pub(crate) struct ScanState {
    pub occurrences: Occurrences,
    pub budget: StepBudget,
    /// The pattern with the most steps in one complete window.
    pub costliest: Option<PatternCost>,
    /// 1-based line where the step limit was first exceeded.
    pub skipped: Option<usize>,
    /// For each pattern with a hit, the first character of the normal text that has not been verified.
    verified: HashMap<usize, usize>,
    /// Steps of each pattern with a hit in the current window.
    window_costs: HashMap<usize, u64>,
    /// Characters of the normal text before the current chunk.
    dropped: usize,
    /// Characters of the normal text that have been scanned.
    scanned: usize,
    /// Start of the next chunk in the log.
    position: TextPosition,
}

impl ScanState {
    /// Returns the pattern with the most steps in the current window.
    pub fn costliest_in_window(&self) -> Option<PatternCost> {
        self.window_costs.iter().map(|(&pattern, &steps)| PatternCost { steps, pattern }).max()
    }

    fn start_window(&mut self) {
        self.budget.start_window();
        self.costliest = self.costliest.max(self.costliest_in_window());
        self.window_costs.clear();
    }
}

/// Returns whether programs often go on after the message at a byte offset: its line is a warning, or reports a failed import.
fn is_survivable(text: &str, at: usize) -> bool {
    const REACH: usize = 200;
    let is_inside = |character: &char| *character != '\n';
    let before: String = text[..at].chars().rev().take(REACH).take_while(is_inside).collect();
    let behind: String = text[at..].chars().take(REACH).take_while(is_inside).collect();
    let before: String = before.chars().rev().collect();
    before.to_ascii_lowercase().contains("warn") || is_failed_import(&(before + &behind))
}

/// Maximum length of a traceback before its message, in characters of the normal text.
const TRACEBACK_REACH: usize = 1000;

/// Returns whether a match is source code of a traceback, or in a traceback that Python ignored. An assertion is a message
/// itself.
fn is_secondary(text: &NormalText, at: usize) -> bool {
    let first = at.saturating_sub(TRACEBACK_REACH);
    let line_of = |at: usize| (first..=at).rev().find(|&at| text.gaps[at] == GAP_BREAK);
    let Some(own) = line_of(at) else { return false };
    let spell = |range: Range<usize>| text.bytes[range].iter().copied().map(char::from).collect::<String>();
    let frame = own.checked_sub(1).and_then(line_of);
    let lines = frame.map_or(String::new(), |frame| spell(frame..at + 1));
    let above = spell(first..own);
    let ignored = above.rsplit_once("exceptionignoredin");
    (lines.starts_with("file\"") && !lines.contains("assert"))
        || ignored.is_some_and(|(_, traceback)| !traceback.contains("error:"))
}

/// Returns whether a line reports a failed import of Python, which programs often handle.
pub fn is_failed_import(line: &str) -> bool {
    ["ImportError", "No module named"].iter().any(|part| line.contains(part))
}

#[derive(Debug, Clone, Copy)]
struct TextPosition {
    line: usize,
    column: usize,
}

impl TextPosition {
    fn after(self, text: &str) -> Self {
        match text.rfind('\n') {
            Some(end) => Self {
                line: self.line + text.bytes().filter(|byte| *byte == b'\n').count(),
                column: text[end + 1..].chars().count() + 1,
            },
            None => Self { line: self.line, column: self.column + text.chars().count() },
        }
    }
}
