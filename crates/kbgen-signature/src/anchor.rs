//! Selects the anchor of each pattern: the piece of its literal text that is rarest among all patterns of a table.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::lazy::Lazy;
use crate::matcher::literal_chars;
use crate::pattern::{Pattern, PatternPart};

/// Longest anchor, in characters; the verification compares the text that follows.
pub(crate) const MAX_ANCHOR_LENGTH: usize = 24;
/// Anchors below this length are penalized: each missing character doubles the expected number of hits in a text.
const SELECTIVE_LENGTH: usize = 8;

/// Position of an anchor in its pattern: the index of the part, and the character offset in its literal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor(pub usize, pub usize);

/// Returns the anchor of each pattern. Without this selection, patterns with the same beginning would all be tried wherever
/// that beginning occurs.
pub(crate) fn anchors(patterns: &[Lazy<Pattern>]) -> Vec<Anchor> {
    let literals: Vec<Vec<(usize, Vec<u8>)>> =
        patterns.iter().map(|pattern| literal_parts(pattern)).collect();
    let mut uses: HashMap<&[u8], u64> = HashMap::new();
    for (_, literal) in literals.iter().flatten() {
        for offset in offsets(literal.len()) {
            *uses.entry(anchor_bytes(literal, offset)).or_default() += 1;
        }
    }
    let cost = |anchor: &[u8]| uses[anchor] << SELECTIVE_LENGTH.saturating_sub(anchor.len());
    let anchor = |literals: &Vec<(usize, Vec<u8>)>| {
        let all = literals
            .iter()
            .flat_map(|(part, literal)| offsets(literal.len()).map(move |offset| (*part, literal, offset)));
        let rarest = all.min_by_key(|(_, literal, offset)| cost(anchor_bytes(literal, *offset)));
        rarest.map_or(Anchor(0, 0), |(part, _, offset)| Anchor(part, offset))
    };
    literals.iter().map(anchor).collect()
}

/// Returns the anchor at `offset` of a literal text.
pub(crate) fn anchor_bytes(literal: &[u8], offset: usize) -> &[u8] {
    let rest = literal.get(offset..).unwrap_or_default();
    &rest[..rest.len().min(MAX_ANCHOR_LENGTH)]
}

/// Returns the characters of each literal text, with the index of its part.
fn literal_parts(pattern: &Pattern) -> Vec<(usize, Vec<u8>)> {
    let literal =
        |(index, part): (usize, &PatternPart)| Some((index, literal_chars(part.literal()?).collect()));
    pattern.parts.iter().enumerate().filter_map(literal).collect()
}

/// Returns the offsets of anchors that cover a literal text of this length.
fn offsets(length: usize) -> impl Iterator<Item = usize> {
    let last = length.saturating_sub(MAX_ANCHOR_LENGTH);
    (0..last).step_by(MAX_ANCHOR_LENGTH).chain([last])
}
