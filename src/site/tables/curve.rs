//! Piecewise linear functions of the context, exact at every point.

use serde::{Deserialize, Serialize};

/// Granularity of the cache in tokens: llama.cpp rounds the context up to a multiple of this.
pub const CELLS: u64 = 256;

/// A piecewise linear function of the number of cache cells.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Curve {
    /// Pieces: first cell, bytes there, and bytes per further step of [`CELLS`], which may be negative.
    pub pieces: Vec<(u64, u64, i64)>,
}

impl Curve {
    /// Returns the bytes at a context in tokens.
    pub fn at(&self, ctx: u64) -> u64 {
        let cells = ctx.div_ceil(CELLS) * CELLS;
        let after = self.pieces.partition_point(|(first, _, _)| *first <= cells);
        let Some((first, bytes, slope)) = self.pieces[..after].last().or(self.pieces.first()) else {
            return 0;
        };
        bytes.saturating_add_signed(slope * (cells.saturating_sub(*first) / CELLS) as i64)
    }

    /// Returns the curve up to a context of `max_ctx` tokens.
    pub fn up_to(&self, max_ctx: u64) -> Curve {
        let last = max_ctx.div_ceil(CELLS) * CELLS;
        Curve { pieces: self.pieces.iter().copied().filter(|(first, _, _)| *first <= last).collect() }
    }

    /// Iterates over the starts of the pieces, in steps of [`CELLS`].
    pub(super) fn starts(&self) -> impl Iterator<Item = u64> {
        self.pieces.iter().map(|(cells, _, _)| cells / CELLS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_rounds_up_to_cells_and_finds_its_piece() {
        let curve = Curve { pieces: vec![(256, 100, 10), (1024, 500, 1)] };
        assert_eq!([1, 256, 257, 1023, 1024, 1280].map(|ctx| curve.at(ctx)), [100, 100, 110, 500, 500, 501]);
        assert_eq!(curve.up_to(1000).pieces.len(), 2);
        assert_eq!(curve.up_to(700).pieces.len(), 1);
    }
}
