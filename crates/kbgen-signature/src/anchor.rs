//! Selects the piece of literal text that each pattern is searched by: the rarest among all patterns of a table.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::find::spell;
use crate::pattern::{Part, Pattern};

/// Length in characters of the longest piece that is searched for; what follows it is compared anyway.
pub(crate) const LENGTH: usize = 24;
/// Each character that a piece is shorter than this doubles how often it is expected in a text.
const USUAL: usize = 8;

/// Position of the piece that a pattern is searched by: the index of its part, and the offset in that literal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Anchor(pub usize, pub usize);

/// Returns the anchor of each pattern. Without the choice, patterns that begin alike would all be tried at each place
/// where that beginning occurs.
pub(crate) fn anchors(patterns: &[Pattern]) -> Vec<Anchor> {
    let spelled: Vec<Vec<(usize, Vec<u8>)>> = patterns.iter().map(literals).collect();
    let mut uses: HashMap<&[u8], u64> = HashMap::new();
    for (_, literal) in spelled.iter().flatten() {
        for offset in offsets(literal.len()) {
            *uses.entry(piece(literal, offset)).or_default() += 1;
        }
    }
    let cost = |piece: &[u8]| uses[piece] << USUAL.saturating_sub(piece.len());
    let anchor = |literals: &Vec<(usize, Vec<u8>)>| {
        let all = literals
            .iter()
            .flat_map(|(part, literal)| offsets(literal.len()).map(move |offset| (*part, literal, offset)));
        let rarest = all.min_by_key(|(_, literal, offset)| cost(piece(literal, *offset)));
        rarest.map_or(Anchor(0, 0), |(part, _, offset)| Anchor(part, offset))
    };
    spelled.iter().map(anchor).collect()
}

/// Returns the piece of a literal text at `offset`.
pub(crate) fn piece(literal: &[u8], offset: usize) -> &[u8] {
    let rest = literal.get(offset..).unwrap_or_default();
    &rest[..rest.len().min(LENGTH)]
}

/// Literal texts of a pattern as characters, with the index of their part.
fn literals(pattern: &Pattern) -> Vec<(usize, Vec<u8>)> {
    let literal = |(index, part): (usize, &Part)| match part {
        Part::Text(text) => Some((index, spell(text).0)),
        Part::Hole(..) => None,
    };
    pattern.parts.iter().enumerate().filter_map(literal).collect()
}

/// Offsets of the pieces that cover a literal text of this length.
fn offsets(length: usize) -> impl Iterator<Item = usize> {
    let last = length.saturating_sub(LENGTH);
    (0..last).step_by(LENGTH).chain([last])
}
