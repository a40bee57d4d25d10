//! Finds the anchors of all patterns in one pass over a text.
//!
//! A filter of the first characters rejects most positions, so that building and searching take little time.

use std::cmp::Ordering;
use std::ops::Range;

use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize, Serializer};

use crate::anchor::MAX_ANCHOR_LENGTH;

/// Number of characters that the filter tests.
const KEY_LENGTH: usize = 4;
/// Bits of a filter index.
const FILTER_BITS: u32 = 16;

/// The distinct anchors in order, with a filter of their first characters.
#[derive(Debug, Clone, Deserialize)]
#[serde(from = "DistinctAnchors")]
pub(crate) struct AnchorSearch {
    /// For each hash of a key, whether an anchor begins with the key.
    filter: Vec<bool>,
    /// For each key, the anchors that begin with it.
    groups: HashMap<[u8; KEY_LENGTH], Range<usize>>,
    /// Anchors shorter than a key, which are compared at each position.
    short: Vec<usize>,
    /// For each anchor, the longest other anchor that it begins with.
    prefixes: Vec<Option<usize>>,
    distinct: DistinctAnchors,
}

/// The distinct anchors in order.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct DistinctAnchors {
    anchors: Vec<Vec<u8>>,
    /// For each anchor, the indices of its patterns.
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
    /// Indexes one anchor per pattern; empty anchors are never found.
    pub fn new(anchors: impl Iterator<Item = Vec<u8>>) -> Self {
        let mut sorted: Vec<(Vec<u8>, usize)> =
            anchors.zip(0..).filter(|(anchor, _)| !anchor.is_empty()).collect();
        sorted.sort_unstable();
        let mut distinct = DistinctAnchors::default();
        for (anchor, pattern) in sorted {
            match distinct.patterns.last_mut() {
                Some(patterns) if distinct.anchors.last() == Some(&anchor) => patterns.push(pattern),
                _ => {
                    distinct.anchors.push(anchor);
                    distinct.patterns.push(vec![pattern]);
                }
            }
        }
        distinct.into()
    }

    /// Replaces `hits` with the hits that start in `range`, in text order, shorter anchors first.
    pub fn collect(&self, bytes: &[u8], range: Range<usize>, hits: &mut Vec<AnchorHit>) {
        hits.clear();
        for start in range {
            let rest = &bytes[start..];
            let key = rest.first_chunk().filter(|key| self.filter[hash(key)]);
            let group = key.and_then(|key| self.groups.get(key));
            if group.is_none() && self.short.is_empty() {
                continue;
            }
            let first = hits.len();
            let mut add = |anchor: usize| {
                hits.push(AnchorHit { start, end: start + self.distinct.anchors[anchor].len(), anchor });
            };
            self.short
                .iter()
                .filter(|at| rest.starts_with(&self.distinct.anchors[**at]))
                .for_each(|at| add(*at));
            if let Some(group) = group {
                self.collect_group(rest, group, add);
            }
            hits[first..].sort_unstable();
        }
    }

    /// Passes on the anchors of a group that a text begins with.
    fn collect_group(&self, text: &[u8], group: &Range<usize>, mut add: impl FnMut(usize)) {
        let text = &text[..text.len().min(MAX_ANCHOR_LENGTH)];
        let is_before = |anchor: &Vec<u8>| anchor.as_slice().cmp(text) != Ordering::Greater;
        let last = group.start + self.distinct.anchors[group.clone()].partition_point(is_before);
        // All anchors that the text begins with are prefixes of the last one that precedes it.
        let mut found = last.checked_sub(1);
        while let Some(at) = found.filter(|at| group.contains(at)) {
            if text.starts_with(&self.distinct.anchors[at]) {
                add(at);
            }
            found = self.prefixes[at];
        }
    }

    /// Returns the patterns with the anchor of a hit.
    pub fn patterns(&self, hit: AnchorHit) -> &[usize] {
        &self.distinct.patterns[hit.anchor]
    }

    /// Iterates over the lists of patterns that share an anchor.
    pub fn pattern_groups(&self) -> impl Iterator<Item = &[usize]> {
        self.distinct.patterns.iter().map(Vec::as_slice)
    }
}

impl From<DistinctAnchors> for AnchorSearch {
    fn from(distinct: DistinctAnchors) -> Self {
        let mut filter = vec![false; 1 << FILTER_BITS];
        let mut groups: HashMap<_, Range<usize>> = HashMap::new();
        let mut short = Vec::new();
        let mut prefixes: Vec<Option<usize>> = Vec::with_capacity(distinct.anchors.len());
        for (at, anchor) in distinct.anchors.iter().enumerate() {
            match anchor.first_chunk() {
                Some(key) => {
                    filter[hash(key)] = true;
                    groups.entry(*key).or_insert(at..at).end = at + 1;
                }
                None => short.push(at),
            }
            let mut prefix = at.checked_sub(1);
            while let Some(other) = prefix.filter(|other| !anchor.starts_with(&distinct.anchors[*other])) {
                prefix = prefixes[other];
            }
            prefixes.push(prefix);
        }
        Self { filter, groups, short, prefixes, distinct }
    }
}

/// Writes only the distinct anchors, from which the other fields are derived.
impl Serialize for AnchorSearch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.distinct.serialize(serializer)
    }
}

fn hash(key: &[u8; KEY_LENGTH]) -> usize {
    (u32::from_le_bytes(*key).wrapping_mul(0x9e37_79b1) >> (u32::BITS - FILTER_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_overlapping_and_repeated_anchors() {
        let anchors: [&[u8]; 7] = [b"he", b"she", b"his", b"hers", b"", b"s", b"she"];
        let search = AnchorSearch::new(anchors.into_iter().map(<[u8]>::to_vec));
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
