//! Where the patterns of a table stand in a log, with the figures read there.

use crate::signature::extractor::{Extractor, Gatherer};
use crate::signature::figure::Figures;
use crate::signature::find::Matcher;
use crate::signature::normal::NormalText;
use crate::signature::scan::Scan;
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
    /// The byte offset of the first character in the log.
    offset: usize,
    /// The line in the original text, from 1.
    pub line: usize,
    /// The character in the line, from 1.
    pub column: usize,
    /// What the holes took.
    pub figures: Figures,
    /// What the extractors read, by their place in the table.
    pub extracted: Vec<(usize, Figures)>,
}

/// For each pattern, its places in the order of the text.
pub(crate) type Places = Vec<Vec<Place>>;

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

    /// Looks for every pattern in a log.
    pub fn read(&self, log: &str) -> Places {
        let text = NormalText::of_log(log);
        let mut places: Places = vec![Vec::new(); self.matchers.len()];
        self.scan.run(&text.bytes, |pattern, at| {
            let behind = places[pattern].last().map_or(0, |place| place.end);
            if at < behind || places[pattern].len() == PLACES {
                return;
            }
            let matcher = &self.matchers[pattern];
            let Some(span) = matcher.stands(&text, at) else { return };
            let figures = matcher.figures(&text, log, &span);
            let extracted = self.wanted[pattern]
                .iter()
                .map(|&id| (id, self.gatherers[id].read(&text, log, matcher, &span, &figures)))
                .collect();
            places[pattern].push(Place {
                start: span.start,
                end: span.end,
                offset: text.starts[span.start] as usize,
                line: 0,
                column: 0,
                figures,
                extracted,
            });
        });
        let mut in_order: Vec<&mut Place> = places.iter_mut().flatten().collect();
        in_order.sort_by_key(|place| place.offset);
        let (mut position, mut counted) = (Position { line: 1, column: 1 }, 0);
        for place in in_order {
            position = position.behind(&log[counted..place.offset]);
            counted = place.offset;
            (place.line, place.column) = (position.line, position.column);
        }
        places
    }
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
