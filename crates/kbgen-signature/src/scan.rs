//! One pass over a text for many literal pieces at once.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::anchor::LENGTH;

/// An automaton over the pieces that patterns are searched by. It grows with their text alone.
#[derive(Debug, Clone)]
pub(crate) struct Scan {
    /// None where there is nothing to look for.
    automaton: Option<AhoCorasick>,
    /// For each distinct piece the indices of the patterns that are searched by it.
    patterns: Vec<Vec<usize>>,
}

/// A place where a piece occurs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Hit {
    /// The first character.
    pub start: usize,
    /// The character behind the last.
    end: usize,
    piece: usize,
}

impl Scan {
    /// Prepares the automaton; a pattern is known by its index in the list, and an empty piece is never found.
    pub fn new<'p>(pieces: impl Iterator<Item = &'p [u8]>) -> Self {
        let mut grouped: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (pattern, piece) in pieces.enumerate().filter(|(_, piece)| !piece.is_empty()) {
            grouped.entry(piece).or_default().push(pattern);
        }
        let automaton = (!grouped.is_empty()).then(|| {
            AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .build(grouped.keys())
                .expect("fewer states than a 32-bit number counts")
        });
        Self { automaton, patterns: grouped.into_values().collect() }
    }

    /// Collects every place that begins in `range`, in the order of the text, shorter pieces first.
    pub fn run(&self, bytes: &[u8], range: Range<usize>, hits: &mut Vec<Hit>) {
        hits.clear();
        let Some(automaton) = &self.automaton else { return };
        let read = &bytes[range.start..bytes.len().min(range.end + LENGTH)];
        let found = automaton.find_overlapping_iter(read).map(|found| Hit {
            start: range.start + found.start(),
            end: range.start + found.end(),
            piece: found.pattern().as_usize(),
        });
        hits.extend(found.filter(|hit| hit.start < range.end));
        hits.sort_unstable();
    }

    /// The patterns that are searched by the piece of a hit.
    pub fn patterns(&self, hit: Hit) -> &[usize] {
        &self.patterns[hit.piece]
    }

    /// Lists of patterns that are searched by one piece.
    pub fn groups(&self) -> impl Iterator<Item = &[usize]> {
        self.patterns.iter().map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_every_text_is_found() {
        let texts: [&[u8]; 7] = [b"he", b"she", b"his", b"hers", b"", b"s", b"she"];
        let scan = Scan::new(texts.into_iter());
        let found = |range: Range<usize>| {
            let mut hits = Vec::new();
            scan.run(b"ushers-his\xffhe", range, &mut hits);
            let each = |hit: &Hit| scan.patterns(*hit).iter().map(|id| (hit.start, *id)).collect::<Vec<_>>();
            hits.iter().flat_map(each).collect::<Vec<_>>()
        };
        let all = [(1, 5), (1, 1), (1, 6), (2, 0), (2, 3), (5, 5), (7, 2), (9, 5), (11, 0)];
        assert_eq!(found(0..13), all);
        assert_eq!([found(0..2), found(2..7), found(7..13)].concat(), all);
        Scan::new(std::iter::empty()).run(b"ushers", 0..6, &mut Vec::new());
    }
}
