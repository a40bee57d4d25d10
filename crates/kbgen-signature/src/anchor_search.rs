//! Finds the anchors of all patterns in one pass over a text.

use std::collections::BTreeMap;
use std::ops::Range;

use aho_corasick::{AhoCorasick, AhoCorasickKind};

use crate::anchor::MAX_ANCHOR_LENGTH;

/// An Aho-Corasick automaton over the anchors; its size depends on their total length only.
#[derive(Debug, Clone)]
pub(crate) struct AnchorSearch {
    /// `None` if there are no anchors.
    automaton: Option<AhoCorasick>,
    /// For each distinct anchor, the indices of its patterns.
    patterns: Vec<Vec<usize>>,
}

/// An occurrence of an anchor, in characters of the normal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct AnchorHit {
    pub start: usize,
    end: usize,
    anchor: usize,
}

impl AnchorSearch {
    /// Builds the automaton from one anchor per pattern; empty anchors are never found.
    pub fn new<'p>(anchors: impl Iterator<Item = &'p [u8]>) -> Self {
        let mut grouped: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        for (pattern, anchor) in anchors.enumerate().filter(|(_, anchor)| !anchor.is_empty()) {
            grouped.entry(anchor).or_default().push(pattern);
        }
        let automaton = (!grouped.is_empty()).then(|| {
            AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::ContiguousNFA))
                .build(grouped.keys())
                .expect("fewer states than a 32-bit number counts")
        });
        Self { automaton, patterns: grouped.into_values().collect() }
    }

    /// Replaces `hits` with the hits that start in `range`, in text order, shorter anchors first.
    pub fn collect(&self, bytes: &[u8], range: Range<usize>, hits: &mut Vec<AnchorHit>) {
        hits.clear();
        let Some(automaton) = &self.automaton else { return };
        let searched = &bytes[range.start..bytes.len().min(range.end + MAX_ANCHOR_LENGTH)];
        let found = automaton.find_overlapping_iter(searched).map(|found| AnchorHit {
            start: range.start + found.start(),
            end: range.start + found.end(),
            anchor: found.pattern().as_usize(),
        });
        hits.extend(found.filter(|hit| hit.start < range.end));
        hits.sort_unstable();
    }

    /// Returns the patterns with the anchor of a hit.
    pub fn patterns(&self, hit: AnchorHit) -> &[usize] {
        &self.patterns[hit.anchor]
    }

    /// Iterates over the lists of patterns that share an anchor.
    pub fn pattern_groups(&self) -> impl Iterator<Item = &[usize]> {
        self.patterns.iter().map(Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_overlapping_and_repeated_anchors() {
        let anchors: [&[u8]; 7] = [b"he", b"she", b"his", b"hers", b"", b"s", b"she"];
        let search = AnchorSearch::new(anchors.into_iter());
        let found = |range: Range<usize>| {
            let mut hits = Vec::new();
            search.collect(b"ushers-his\xffhe", range, &mut hits);
            let each =
                |hit: &AnchorHit| search.patterns(*hit).iter().map(|id| (hit.start, *id)).collect::<Vec<_>>();
            hits.iter().flat_map(each).collect::<Vec<_>>()
        };
        let all = [(1, 5), (1, 1), (1, 6), (2, 0), (2, 3), (5, 5), (7, 2), (9, 5), (11, 0)];
        assert_eq!(found(0..13), all);
        assert_eq!([found(0..2), found(2..7), found(7..13)].concat(), all);
        AnchorSearch::new(std::iter::empty()).collect(b"ushers", 0..6, &mut Vec::new());
    }
}
