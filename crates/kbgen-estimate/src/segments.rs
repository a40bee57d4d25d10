//! The need of a device as exact linear segments over the number of cache cells.
//!
//! A table of these pieces gives the estimator's own result at every context, so that a
//! calculator needs no estimator. Every value stays below 2^53.

use crate::architecture::Architecture;
use crate::bytes::Bytes;
use crate::cache::{CELL_STEP, Cells, streams};
use crate::estimator::NotCovered;
use crate::placement::Device;
use crate::planner::Planner;
use crate::settings::Settings;

/// A straight piece: from `cells` up to the next segment, the value at `c` cells (a
/// multiple of 256) is `bytes + slope * (c - cells) / 256`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    /// First number of cells it holds for.
    pub cells: u64,
    /// Value there.
    pub bytes: Bytes,
    /// Bytes that each further 256 cells add; a compute buffer may also shrink, where a
    /// larger tensor no longer fits into a gap and leaves it to others.
    pub slope: i64,
}

impl Segment {
    /// A piece from so many steps of 256 cells on.
    pub(crate) fn new(step: u64, bytes: Bytes, slope: i64) -> Segment {
        Segment { cells: step * CELL_STEP, bytes, slope }
    }

    fn at(&self, cells: u64) -> Bytes {
        let steps = ((cells - self.cells) / CELL_STEP) as i64;
        Bytes((self.bytes.0 as i64 + self.slope * steps) as u64)
    }
}

/// One device's needs that depend on the context; its weights do not.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeviceSegments {
    /// The device.
    pub device: Device,
    /// KV cache and state.
    pub cache: Vec<Segment>,
    /// Compute buffer.
    pub compute: Vec<Segment>,
}

/// Cells of one stream that these settings' context has: the context is padded to 256,
/// shared out among separate sequences, and each share padded again.
pub fn cells_of(settings: &Settings) -> u64 {
    let streams = streams(settings);
    let whole = settings.context.max(1).next_multiple_of(CELL_STEP);
    (whole / streams).next_multiple_of(CELL_STEP)
}

/// The pieces of every device's cache and compute buffer, from 256 cells a stream to those
/// of the model's longest context; the context of `settings` is not used.
pub fn device_segments(model: &Architecture, settings: &Settings) -> Result<Vec<DeviceSegments>, NotCovered> {
    Planner::new(model).segments(settings)
}

/// Numbers of cells over which the graph stays the same and every tensor grows evenly.
#[derive(Debug)]
pub(crate) struct Stretch {
    /// The first and the last number of cells, in steps of 256.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Settings with the first, and with one step more where there is one.
    pub(crate) first: Settings,
    pub(crate) second: Settings,
}

/// The stretches from 256 cells a stream to those of the model's longest context.
pub(crate) fn stretches(model: &Architecture, settings: &Settings) -> Vec<Stretch> {
    let last = cells_of(&settings.at_context(model.max_context)) / CELL_STEP;
    let mut stretches = Vec::new();
    let mut start = 1;
    for end in structural_breaks(model, settings).into_iter().chain([last]) {
        let end = end.min(last);
        if start <= end {
            let first = at_step(settings, start);
            let second = at_step(settings, (start + 1).min(end));
            stretches.push(Stretch { start, end, first, second });
            start = end + 1;
        }
    }
    stretches
}

/// The pieces of a term that is straight wherever the graph stays the same, as the cache of
/// a layer is.
pub(crate) fn pieces_by_stretch(
    model: &Architecture,
    settings: &Settings,
    term: impl Fn(&Settings) -> Bytes,
) -> Vec<Segment> {
    let mut pieces = Vec::new();
    for stretch in stretches(model, settings) {
        let bytes = term(&stretch.first);
        let slope = term(&stretch.second).0 as i64 - bytes.0 as i64;
        append(&mut pieces, Segment::new(stretch.start, bytes, slope));
    }
    pieces
}

/// Adds a piece, or lengthens the last one where it goes on straight.
pub(crate) fn append(pieces: &mut Vec<Segment>, piece: Segment) {
    let straight =
        pieces.last().is_some_and(|last| last.slope == piece.slope && last.at(piece.cells) == piece.bytes);
    if !straight {
        pieces.push(piece);
    }
}

/// Settings with a number of 256 cells in each stream.
pub(crate) fn at_step(settings: &Settings, step: u64) -> Settings {
    settings.at_context(step * CELL_STEP * streams(settings))
}

/// Steps at which sizes turn although no comparison of the allocator changes: as long as
/// the context is shorter than a micro-batch each step is one, and where the sliding
/// windows are full is one.
fn structural_breaks(model: &Architecture, settings: &Settings) -> Vec<u64> {
    let short = settings.micro_batch().div_ceil(CELL_STEP * streams(settings)).max(1);
    let mut breaks: Vec<u64> = (1..=short).collect();
    let unbounded = Settings { context: u64::MAX / 4, ..settings.clone() };
    let window = Cells::new(model, &unbounded).sliding / CELL_STEP;
    if model.sliding_window > 0 && window > short {
        breaks.push(window);
    }
    breaks
}

/// The pieces of any term over cells, from 256 up to `last_cells`; `term` is asked for
/// numbers of cells. Each multiple of 256 is asked once, so nothing is assumed between
/// points.
///
/// Returns the first error of `term`.
pub fn segments<E>(
    last_cells: u64,
    mut term: impl FnMut(u64) -> Result<Bytes, E>,
) -> Result<Vec<Segment>, E> {
    let last = last_cells.max(1).next_multiple_of(CELL_STEP);
    let mut values = Vec::new();
    for cells in (CELL_STEP..=last).step_by(CELL_STEP as usize) {
        values.push((cells, term(cells)?));
    }
    let mut pieces = Vec::new();
    for (place, (cells, bytes)) in values.iter().enumerate() {
        let rise = |next: &(u64, Bytes)| next.1.0 as i64 - bytes.0 as i64;
        let (cells, bytes) = (*cells, *bytes);
        let reached = pieces.last().is_some_and(|last: &Segment| last.at(cells) == bytes);
        if !reached {
            let slope = values.get(place + 1).map_or(0, rise);
            pieces.push(Segment { cells, bytes, slope });
        }
    }
    Ok(pieces)
}

/// The value at a number of cells, looked up as a calculator does it; none before the
/// first piece.
pub fn value_at(pieces: &[Segment], cells: u64) -> Option<Bytes> {
    let index = pieces.partition_point(|piece| piece.cells <= cells).checked_sub(1)?;
    pieces.get(index).map(|piece| piece.at(cells))
}
