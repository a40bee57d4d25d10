//! Needs of a device as exact linear segments over the number of cache cells.
//!
//! A table of these segments reproduces the results of the estimator at every context, so that a calculator needs no
//! estimator. Every value is below 2^53.

use crate::architecture::Architecture;
use crate::bytes::Bytes;
use crate::cache::{CELL_STEP, Cells, streams};
use crate::placement::Device;
use crate::settings::Settings;

/// Linear segment: from `cells` to the next segment, the value at `c` cells (a multiple of 256) is `bytes + slope * (c
/// - cells) / 256`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Segment {
    /// First number of cells of the segment.
    pub cells: u64,
    /// Value there.
    pub bytes: Bytes,
    /// Bytes per 256 cells. Negative where a compute buffer shrinks, because a larger tensor no longer fits into a
    /// gap.
    pub slope: i64,
}

impl Segment {
    /// Creates a segment that starts at a step of 256 cells.
    pub(crate) fn new(step: u64, bytes: Bytes, slope: i64) -> Segment {
        Segment { cells: step * CELL_STEP, bytes, slope }
    }

    fn at(&self, cells: u64) -> Bytes {
        let steps = ((cells - self.cells) / CELL_STEP) as i64;
        Bytes((self.bytes.0 as i64 + self.slope * steps) as u64)
    }
}

/// Parts of a device's need that depend on the context, which excludes weights.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DeviceSegments {
    /// The device.
    pub device: Device,
    /// KV cache and state.
    pub cache: Vec<Segment>,
    /// Compute buffer.
    pub compute: Vec<Segment>,
}

/// Returns the cells of one stream: the context is padded to 256, divided among separate sequences, and each share is
/// padded again.
pub fn cells_of(settings: &Settings) -> u64 {
    let streams = streams(settings);
    let whole = settings.context.max(1).next_multiple_of(CELL_STEP);
    (whole / streams).next_multiple_of(CELL_STEP)
}

/// Numbers of cells for which the graph is the same and every tensor grows linearly.
#[derive(Debug)]
pub(crate) struct Interval {
    /// First and last number of cells, in steps of 256.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Settings at the first step, and at the second one if there is one.
    pub(crate) first: Settings,
    pub(crate) second: Settings,
}

/// Returns the intervals from 256 cells per stream to the model's longest context.
pub(crate) fn intervals(model: &Architecture, settings: &Settings) -> Vec<Interval> {
    let last = cells_of(&settings.at_context(model.max_context)) / CELL_STEP;
    let mut intervals = Vec::new();
    let mut start = 1;
    for end in structural_breaks(model, settings).into_iter().chain([last]) {
        let end = end.min(last);
        if start <= end {
            let first = at_step(settings, start);
            let second = at_step(settings, (start + 1).min(end));
            intervals.push(Interval { start, end, first, second });
            start = end + 1;
        }
    }
    intervals
}

/// Returns the segments of a term that is linear while the graph is the same, such as the cache of a layer.
pub(crate) fn segments_by_interval(
    model: &Architecture,
    settings: &Settings,
    term: impl Fn(&Settings) -> Bytes,
) -> Vec<Segment> {
    let mut segments = Vec::new();
    for interval in intervals(model, settings) {
        let bytes = term(&interval.first);
        let slope = term(&interval.second).0 as i64 - bytes.0 as i64;
        append(&mut segments, Segment::new(interval.start, bytes, slope));
    }
    segments
}

/// Adds a segment, or extends the last one if it continues linearly.
pub(crate) fn append(segments: &mut Vec<Segment>, segment: Segment) {
    let straight = segments
        .last()
        .is_some_and(|last| last.slope == segment.slope && last.at(segment.cells) == segment.bytes);
    if !straight {
        segments.push(segment);
    }
}

/// Returns the settings with `step` times 256 cells per stream.
pub(crate) fn at_step(settings: &Settings, step: u64) -> Settings {
    settings.at_context(step * CELL_STEP * streams(settings))
}

/// Returns the steps after which the growth of sizes changes although no comparison of the allocator does:
/// each step while the context is shorter than a micro-batch, and the step at which sliding windows are full.
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

/// Returns the segments of any term from 256 to `last_cells` cells. `term` is evaluated at each multiple of
/// 256, so nothing is assumed between points.
///
/// # Errors
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
    let mut segments = Vec::new();
    for (place, (cells, bytes)) in values.iter().enumerate() {
        let rise = |next: &(u64, Bytes)| next.1.0 as i64 - bytes.0 as i64;
        let (cells, bytes) = (*cells, *bytes);
        let reached = segments.last().is_some_and(|last: &Segment| last.at(cells) == bytes);
        if !reached {
            let slope = values.get(place + 1).map_or(0, rise);
            segments.push(Segment { cells, bytes, slope });
        }
    }
    Ok(segments)
}

/// Returns the value for a number of cells, or `None` before the first segment.
pub fn value_at(segments: &[Segment], cells: u64) -> Option<Bytes> {
    let index = segments.partition_point(|segment| segment.cells <= cells).checked_sub(1)?;
    segments.get(index).map(|segment| segment.at(cells))
}
