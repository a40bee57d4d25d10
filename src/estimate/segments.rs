//! A term that grows with the cache, as exact straight pieces over the number of cells.

use crate::estimate::bytes::Bytes;
use crate::estimate::cache::CELL_STEP;

/// A straight piece: from `cells` up to the next segment, the value at `c` cells (a
/// multiple of 256) is `bytes + slope * (c - cells) / 256`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    /// First number of cells it holds for.
    pub cells: u64,
    /// Value there.
    pub bytes: Bytes,
    /// Bytes that each further 256 cells add.
    pub slope: u64,
}

/// Cells that a context of so many tokens has: the next multiple of 256.
pub fn cells_of_context(context: u64) -> u64 {
    context.max(1).next_multiple_of(CELL_STEP)
}

/// The pieces of a term that never falls as cells grow, from 256 cells to those of the
/// longest context; `term` is asked for numbers of cells. The pieces give its value at
/// every multiple of 256: each is read once, so nothing is assumed between points.
///
/// Returns the first error of `term`.
pub fn segments<E>(
    max_context: u64,
    mut term: impl FnMut(u64) -> Result<Bytes, E>,
) -> Result<Vec<Segment>, E> {
    let last = cells_of_context(max_context);
    let mut pieces: Vec<Segment> = Vec::new();
    let mut previous: Option<(u64, Bytes)> = None;
    let mut point_count_of_piece = 0;
    for cells in (CELL_STEP..=last).step_by(CELL_STEP as usize) {
        let bytes = term(cells)?;
        match (pieces.last_mut(), previous) {
            (Some(piece), Some((_, before))) => {
                let rise = bytes.saturating_sub(before).0;
                if point_count_of_piece == 1 {
                    piece.slope = rise;
                    point_count_of_piece = 2;
                } else if rise == piece.slope {
                    point_count_of_piece += 1;
                } else {
                    pieces.push(Segment { cells, bytes, slope: 0 });
                    point_count_of_piece = 1;
                }
            }
            _ => {
                pieces.push(Segment { cells, bytes, slope: 0 });
                point_count_of_piece = 1;
            }
        }
        previous = Some((cells, bytes));
    }
    Ok(pieces)
}

/// The value at a context, looked up as the calculator page does it; none for no pieces.
pub fn value_at(pieces: &[Segment], context: u64) -> Option<Bytes> {
    let cells = cells_of_context(context);
    let index = pieces.partition_point(|piece| piece.cells <= cells).checked_sub(1)?;
    let piece = pieces.get(index)?;
    Some(Bytes(piece.bytes.0 + piece.slope * ((cells - piece.cells) / CELL_STEP)))
}
