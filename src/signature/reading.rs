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
    /// The byte offset of the first character in the original text.
    pub offset: u32,
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

    /// Looks for every pattern in one pass.
    pub fn read(&self, original: &str) -> Places {
        let text = NormalText::of_log(original);
        let mut places: Places = vec![Vec::new(); self.matchers.len()];
        let mut behind = vec![0; self.matchers.len()];
        self.scan.run(&text.bytes, |pattern, at| {
            if places[pattern].len() == PLACES || at < behind[pattern] {
                return;
            }
            let matcher = &self.matchers[pattern];
            let Some(span) = matcher.stands(&text, at) else { return };
            behind[pattern] = span.end;
            let figures = matcher.figures(&text, original, &span);
            let extracted = self.wanted[pattern]
                .iter()
                .map(|&id| (id, self.gatherers[id].read(&text, original, matcher, &span, &figures)))
                .collect();
            places[pattern].push(Place {
                start: span.start,
                end: span.end,
                offset: text.starts[span.start],
                line: 0,
                column: 0,
                figures,
                extracted,
            });
        });
        locate(&mut places, original);
        places
    }
}

/// Tells every place its line and column, in one walk over the text.
fn locate(places: &mut Places, text: &str) {
    let mut sorted: Vec<&mut Place> = places.iter_mut().flatten().collect();
    sorted.sort_by_key(|place| place.offset);
    let (mut line, mut column, mut counted) = (1, 1, 0);
    for place in sorted {
        let passed = &text[counted..place.offset as usize];
        match passed.rfind('\n') {
            Some(end) => {
                line += passed.bytes().filter(|byte| *byte == b'\n').count();
                column = passed[end + 1..].chars().count() + 1;
            }
            None => column += passed.chars().count(),
        }
        counted = place.offset as usize;
        (place.line, place.column) = (line, column);
    }
}
