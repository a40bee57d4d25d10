//! Where the patterns of a table stand in a log, with the figures read there.

use std::collections::BTreeMap;

use crate::signature::extractor::{Extractor, Gatherer};
use crate::signature::figure::Figures;
use crate::signature::find::Matcher;
use crate::signature::normal::NormalText;
use crate::signature::scan::Scan;
use crate::signature::stream::boundary;
use crate::signature::table::Table;

/// So many places of one pattern are looked at; a log that repeats a message says nothing new.
const PLACES: usize = 8;

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
        let matchers: Vec<Matcher> = table.patterns.iter().map(Matcher::new).collect();
        let anchors: Vec<&[u8]> = matchers.iter().map(Matcher::anchor).collect();
        let mut wanted = vec![Vec::new(); matchers.len()];
        for signature in table.pages.iter().flat_map(|page| &page.signatures) {
            if let (Some(extractor), Some(first)) = (signature.extract, signature.all.first())
                && !wanted[*first].contains(&extractor)
            {
                wanted[*first].push(extractor);
            }
        }
        Self {
            scan: Scan::new(&anchors),
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

    /// Looks for every pattern in a whole log.
    pub fn read(&self, log: &str) -> Places {
        let mut progress = Progress::new();
        self.take(log, log.len(), log.len(), &mut progress);
        progress.places
    }

    /// Looks for every pattern in a piece of a log: takes the places that begin before byte `until`, and counts
    /// the piece up to byte `cut` as left behind. What was left before must not be in the piece again.
    pub fn take(&self, piece: &str, until: usize, cut: usize, progress: &mut Progress) {
        let text = NormalText::of_log(piece);
        let before = |offset: usize| text.starts.partition_point(|start| (*start as usize) < offset);
        let limit = before(until);
        let Progress { places, passed, accepted, .. } = progress;
        self.scan.run(&text.bytes, |pattern, at| {
            let place = *passed + at;
            let is_passed = |found: &Found| place < found.behind || found.places.len() == PLACES;
            if at >= limit || place < *accepted || places.0.get(&pattern).is_some_and(is_passed) {
                return;
            }
            let matcher = &self.matchers[pattern];
            let Some(span) = matcher.stands(&text, at) else { return };
            let found = places.0.entry(pattern).or_default();
            found.behind = *passed + span.end;
            let figures = matcher.figures(&text, piece, &span);
            let extracted = self.wanted[pattern]
                .iter()
                .map(|&id| (id, self.gatherers[id].read(&text, piece, matcher, &span, &figures)))
                .collect();
            found.places.push(Place {
                start: *passed + span.start,
                end: *passed + span.end,
                offset: text.starts[span.start] as usize,
                quote: quote(piece, text.starts[span.start] as usize),
                line: 0,
                column: 0,
                figures,
                extracted,
            });
        });
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
}

/// How far a log has been read.
#[derive(Debug, Clone)]
pub(crate) struct Progress {
    /// What was found.
    pub places: Places,
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
        Self { places: Places::default(), passed: 0, accepted: 0, position: Position { line: 1, column: 1 } }
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
