//! Where the patterns of a table stand in a log, with the figures read there.

use std::collections::{BTreeMap, HashMap};

use crate::effort::{Cost, Effort, STRETCH};
use crate::extractor::{Extractor, Gatherer};
use crate::figure::Figures;
use crate::find::Matcher;
use crate::normal::{GAP_NONE, NormalText};
use crate::scan::{Hit, Scan};
use crate::stream::boundary;
use crate::table::Table;

/// So many places of one pattern are looked at; a log that repeats a message says nothing new.
const PLACES: usize = 8;

/// The least letters at the end of a text that are taken for the beginning of a message.
const BEGUN: usize = 12;

/// The patterns of a table, ready to be looked for.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    scan: Scan,
    matchers: Vec<Matcher>,
    gatherers: Vec<Gatherer>,
    /// For each pattern, the extractors of the signatures that begin with it.
    wanted: Vec<Vec<usize>>,
}

/// A place of a pattern in the log.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The first character of the pattern in the normal text, and the one behind the last.
    pub start: usize,
    pub end: usize,
    /// The byte offset of the first character in the piece of the log where it was found.
    offset: usize,
    /// The line of the log around it, shortened.
    pub quote: String,
    /// The line in the original text, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What the holes took.
    pub figures: Figures,
    /// What the extractors read, by their place in the table.
    pub extracted: Vec<(usize, Figures)>,
}

/// The places of the patterns that were found. A log has few of them, so nothing here grows with the table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places(BTreeMap<usize, Found>);

/// A pattern that was found.
#[derive(Debug, Clone, Default)]
struct Found {
    /// Its places in the order of the text.
    places: Vec<Place>,
    /// The end of the last of them, in characters of the normal text of the whole log.
    behind: usize,
    /// How many of them have their line and column.
    counted: usize,
}

impl Places {
    /// The places of a pattern, in the order of the text.
    pub fn of(&self, pattern: usize) -> &[Place] {
        self.0.get(&pattern).map(|found| found.places.as_slice()).unwrap_or_default()
    }

    /// The patterns that were found, in the order of the table.
    pub fn patterns(&self) -> impl Iterator<Item = usize> {
        self.0.keys().copied()
    }
}

impl Reader {
    /// Prepares the patterns of a table.
    pub fn new(table: &Table) -> Self {
        let anchored = table.patterns.iter().zip(&table.anchors);
        let matchers: Vec<Matcher> =
            anchored.map(|(pattern, anchor)| Matcher::new(pattern, *anchor)).collect();
        let mut wanted = vec![Vec::new(); matchers.len()];
        for signature in table.pages.iter().flat_map(|page| &page.signatures) {
            if let (Some(extractor), Some(first)) = (signature.extract, signature.all.first())
                && !wanted[*first].contains(&extractor)
            {
                wanted[*first].push(extractor);
            }
        }
        Self {
            scan: Scan::new(matchers.iter().map(Matcher::anchor)),
            gatherers: table
                .extractors
                .iter()
                .map(|extractor: &Extractor| Gatherer::new(extractor))
                .collect(),
            matchers,
            wanted,
        }
    }

    /// How much a pattern says.
    pub fn weight(&self, pattern: usize) -> usize {
        self.matchers[pattern].weight()
    }

    /// The literal text that a pattern is searched by.
    pub fn anchor(&self, pattern: usize) -> &[u8] {
        self.matchers[pattern].anchor()
    }

    /// Lists of patterns that are searched by the same piece of text, of which each occurrence costs all of them.
    pub fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.scan.groups()
    }

    /// Looks for every pattern in a whole log.
    pub fn read(&self, log: &str) -> Progress {
        let mut progress = Progress::new();
        self.take(log, log.len(), log.len(), &mut progress);
        progress
    }

    /// Looks for every pattern in a piece of a log: takes those whose anchor begins before byte `until`, and counts
    /// the piece up to byte `cut` as left behind. What was left before must not be in the piece again.
    pub fn take(&self, piece: &str, until: usize, cut: usize, progress: &mut Progress) {
        let text = NormalText::of_log(piece);
        let before = |offset: usize| text.starts.partition_point(|start| (*start as usize) < offset);
        let limit = before(until);
        let mut from = progress.accepted - progress.passed;
        let mut hits = Vec::new();
        let mut skipped = None;
        while from < limit {
            let end = ((progress.passed + from) / STRETCH + 1) * STRETCH - progress.passed;
            self.scan.run(&text.bytes, from..end.min(limit), &mut hits);
            let stopped = hits.iter().find_map(|hit| self.follow(*hit, &text, piece, progress));
            skipped = skipped.or(stopped);
            from = end.min(limit);
            if from == end {
                progress.effort.renew();
                progress.costliest = progress.costliest.max(progress.costliest_here());
                progress.costs.clear();
            }
        }
        if let Some(offset) = skipped
            && progress.skipped.is_none()
        {
            progress.skipped = Some(progress.position.behind(&piece[..offset]).line);
        }
        progress.accepted = progress.passed + limit;
        progress.passed += before(cut);
        let mut position = progress.position;
        let fresh = progress.places.0.values_mut().flat_map(|found| {
            let counted = std::mem::replace(&mut found.counted, found.places.len());
            &mut found.places[counted..]
        });
        let mut fresh: Vec<&mut Place> = fresh.collect();
        fresh.sort_by_key(|place| place.offset);
        let mut counted = 0;
        for place in fresh {
            position = position.behind(&piece[counted..place.offset]);
            counted = place.offset;
            (place.line, place.column) = (position.line, position.column);
        }
        progress.position = progress.position.behind(&piece[..cut]);
    }

    /// The patterns that begin as a text ends, with how many letters; punctuation at its end does not count.
    pub fn begun(&self, text: &str) -> Vec<(usize, usize)> {
        let text = NormalText::of_log(text);
        let is_mark = |byte: &&u8| b".,:;!?".contains(*byte);
        let bytes = &text.bytes[..text.len() - text.bytes.iter().rev().take_while(is_mark).count()];
        let begins = |at: &usize| text.gaps[*at] != GAP_NONE;
        let starts = 0..bytes.len().saturating_sub(BEGUN - 1);
        let ends: Vec<&[u8]> = starts.filter(begins).map(|at| &bytes[at..]).collect();
        let letters = |matcher: &Matcher| {
            let beginning = matcher.first_text();
            let cut = |end: &&&[u8]| beginning.len() > end.len() && beginning.starts_with(end);
            ends.iter().find(cut).map(|end| end.len())
        };
        let found = self.matchers.iter().enumerate();
        found.filter_map(|(pattern, matcher)| Some((pattern, letters(matcher)?))).collect()
    }

    /// Tries every pattern that is searched by the piece of text at a hit; returns its byte where the limit is reached.
    fn follow(&self, hit: Hit, text: &NormalText, piece: &str, progress: &mut Progress) -> Option<usize> {
        for &pattern in self.scan.patterns(hit) {
            let before = progress.effort.steps;
            self.candidate(pattern, hit.start, text, piece, progress);
            *progress.costs.entry(pattern).or_default() += progress.effort.steps - before;
            if progress.effort.is_exhausted() {
                return Some(text.starts[hit.start] as usize);
            }
        }
        None
    }

    /// Takes the places of a pattern whose anchor is at `at`.
    fn candidate(
        &self,
        pattern: usize,
        at: usize,
        text: &NormalText,
        piece: &str,
        progress: &mut Progress,
    ) -> Option<()> {
        let matcher = &self.matchers[pattern];
        let (from, to) = matcher.beginnings(at)?;
        let tried = progress.tried.entry(pattern).or_default();
        let from = from.max(tried.saturating_sub(progress.passed));
        *tried = (*tried).max(progress.passed + to);
        progress.effort.charge(1 + to.saturating_sub(from) / 16)?;
        let beginning = matcher.beginning();
        for at in from..to {
            if !text.bytes[at..].starts_with(beginning) {
                continue;
            }
            let place = progress.passed + at;
            let is_passed = |found: &Found| place < found.behind || found.places.len() == PLACES;
            if progress.places.0.get(&pattern).is_some_and(is_passed) {
                continue;
            }
            let Some(span) = matcher.stands(text, at, &mut progress.effort) else { continue };
            progress.effort.charge(64)?;
            let figures = matcher.figures(text, piece, &span);
            let mut extracted = Vec::new();
            for &id in &self.wanted[pattern] {
                let read =
                    self.gatherers[id].read(text, piece, matcher, &span, &figures, &mut progress.effort);
                extracted.push((id, read));
            }
            let found = progress.places.0.entry(pattern).or_default();
            found.behind = progress.passed + span.end;
            found.places.push(Place {
                start: progress.passed + span.start,
                end: progress.passed + span.end,
                offset: text.starts[span.start] as usize,
                quote: quote(piece, text.starts[span.start] as usize),
                line: 0,
                column: 0,
                figures,
                extracted,
            });
        }
        Some(())
    }
}

/// How far a log has been read.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    /// What was found.
    pub places: Places,
    /// The steps that it took.
    pub effort: Effort,
    /// The pattern that took the most steps in one stretch, of those that were read to their end.
    pub costliest: Option<Cost>,
    /// The line where the limit was reached first.
    pub skipped: Option<usize>,
    /// For each pattern, the first place in the normal text that was not tried.
    tried: HashMap<usize, usize>,
    /// Patterns that were tried in this stretch, with the steps that each took.
    costs: BTreeMap<usize, u64>,
    /// How many characters of the normal text were left behind.
    passed: usize,
    /// Up to where places were taken.
    accepted: usize,
    /// Where in the original text the next piece begins.
    position: Position,
}

impl Progress {
    /// The beginning of a log.
    pub fn new() -> Self {
        Self {
            places: Places::default(),
            effort: Effort::new(),
            costliest: None,
            skipped: None,
            tried: HashMap::new(),
            costs: BTreeMap::new(),
            passed: 0,
            accepted: 0,
            position: Position { line: 1, column: 1 },
        }
    }

    /// The pattern that took the most steps in the stretch being read.
    pub fn costliest_here(&self) -> Option<Cost> {
        self.costs.iter().map(|(&pattern, &steps)| Cost { steps, pattern }).max()
    }
}

/// Bytes of a line that are quoted on each side of the message.
const QUOTED: usize = 200;

/// The line around a byte, or so much of it as is near.
fn quote(text: &str, at: usize) -> String {
    let from = boundary(text, at.saturating_sub(QUOTED));
    let to = boundary(text, at + QUOTED);
    let begin = text[from..at].rfind('\n').map_or(from, |end| from + end + 1);
    let end = text[at..to].find('\n').map_or(to, |end| at + end);
    text[begin..end].trim().to_owned()
}

#[derive(Debug, Clone, Copy)]
struct Position {
    line: usize,
    column: usize,
}

impl Position {
    /// The position behind this text.
    fn behind(self, text: &str) -> Self {
        match text.rfind('\n') {
            Some(end) => Self {
                line: self.line + text.bytes().filter(|byte| *byte == b'\n').count(),
                column: text[end + 1..].chars().count() + 1,
            },
            None => Self { line: self.line, column: self.column + text.chars().count() },
        }
    }
}
