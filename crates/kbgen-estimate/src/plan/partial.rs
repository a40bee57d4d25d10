//! Compute buffer of a single GPU that holds a part of the model.
//!
//! llama.cpp's own buffer is not smooth in this case: it jumps with every layer and every 256 tokens, because
//! the allocator fills gaps that copies of weights and caches leave. The plan therefore samples the buffers
//! of a few splits at powers of two, and interpolates linearly. The result equals llama.cpp's figure at those
//! contexts with one slot and one cache type, and is close to it elsewhere. It needs so few numbers that the
//! table of a model can contain all of them.

use crate::architecture::Architecture;
use crate::bytes::Bytes;
use crate::cache::CELL_STEP;
use crate::quantization::CacheType;
use crate::segments::Segment;
use crate::settings::{CacheLayout, ExpertPlacement, Settings};
use crate::weights::PlacedWeights;

/// Smallest number of cells at which a buffer is sampled; each further sample doubles it.
pub const LEAST_SAMPLE: u64 = 2048;

/// Numbers of first layers whose buffers are sampled. Smaller numbers in host memory need the same buffer as
/// the next one that is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    /// Complete layers; a single one has its own buffer.
    pub layers: Vec<u64>,
    /// Layers whose experts alone are in the host's memory.
    pub experts: Vec<u64>,
}

impl Ends {
    /// Computes the sampled numbers of a model. A buffer grows when a layer of another size is added.
    pub fn new(model: &Architecture, weights: &PlacedWeights) -> Ends {
        let kind = |index: usize| {
            (weights.layers[index].gpu, weights.experts[index].gpu, model.layers[index].cache_shape())
        };
        let kinds: Vec<_> = (0..model.layers.len()).map(kind).collect();
        let is_end = |count: &u64| {
            let (before, after) = kinds.split_at(*count as usize);
            after.first().is_none_or(|next| !before.contains(next))
        };
        let counts = 1..=kinds.len() as u64;
        let experts =
            if model.experts.is_some() { counts.clone().filter(is_end).collect() } else { Vec::new() };
        Ends { layers: counts.filter(|count| *count == 1 || is_end(count)).collect(), experts }
    }
}

/// How the model is split between the GPU and the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Split {
    /// Sampled splits, as `-ngl` and experts; the largest buffer counts.
    pub(crate) samples: Vec<(u64, ExpertPlacement)>,
    /// Whether the output matrix is copied to the GPU.
    pub(crate) copies_output: bool,
}

impl Split {
    /// Returns the split of these settings, or `None` unless a single GPU holds a part of the model.
    pub(crate) fn new(model: &Architecture, weights: &PlacedWeights, settings: &Settings) -> Option<Split> {
        let layers = model.layers.len() as u64;
        let on_host = settings.on_host(layers);
        let experts = match settings.experts {
            ExpertPlacement::WithLayer => 0,
            ExpertPlacement::FirstLayersOnCpu(count) => count.min(layers),
            ExpertPlacement::Cpu => layers,
            ExpertPlacement::LastLayersOnCpu(_) => return None,
        };
        let moves = |index: &u64| weights.experts[*index as usize].gpu > Bytes(0);
        let moved = (on_host..experts).any(|index| moves(&index));
        if settings.tensor_split.len() != 1 || (on_host == 0 && !moved) {
            return None;
        }
        if on_host > layers {
            let copies_output = settings.n_outputs.is_none();
            return Some(Split { samples: vec![(0, ExpertPlacement::WithLayer)], copies_output });
        }
        let ends = Ends::new(model, weights);
        let end = |ends: &[u64], count: u64| ends.iter().copied().find(|end| *end >= count);
        let whole = end(&ends.layers, on_host).filter(|_| on_host > 0);
        let apart = end(&ends.experts, experts).filter(|_| moved);
        let samples = whole
            .map(|count| (layers + 1 - count, ExpertPlacement::WithLayer))
            .into_iter()
            .chain(apart.map(|count| (layers + 1, ExpertPlacement::FirstLayersOnCpu(count))));
        Some(Split { samples: samples.collect(), copies_output: false })
    }
}

/// Returns the settings with which a buffer is sampled: one server slot, with the same type for K and V.
pub(crate) fn sampled(settings: &Settings, cache_type: CacheType, context: u64) -> Settings {
    Settings {
        context,
        cache_type_k: cache_type,
        cache_type_v: cache_type,
        sequences: 1,
        n_outputs: Some(1),
        cache_layout: CacheLayout::Unified,
        ..settings.clone()
    }
}

/// Returns the numbers of cells at which a buffer is sampled: powers of two, up to the first one that is not
/// below the longest context.
pub fn sample_cells(max_context: u64) -> impl Iterator<Item = u64> {
    let last = max_context.max(LEAST_SAMPLE).next_power_of_two();
    (LEAST_SAMPLE.ilog2()..=last.ilog2()).map(|power| 1 << power)
}

/// Returns linear segments through samples at [`LEAST_SAMPLE`] cells and its doubles.
pub fn through(samples: &[u64]) -> Vec<Segment> {
    let mut segments: Vec<Segment> = Vec::new();
    let firsts = (0..).map(|power| LEAST_SAMPLE << power).zip(samples);
    let nexts = samples.iter().skip(1).map(Some).chain([None]);
    for ((cells, bytes), next) in firsts.zip(nexts) {
        let steps = (cells / CELL_STEP) as i64;
        let rise = next.map_or(0, |next| *next as i64 - *bytes as i64);
        // rounded up, by less than a byte per step
        let segment = Segment { cells, bytes: Bytes(*bytes), slope: -(-rise).div_euclid(steps) };
        if segments.is_empty() {
            segments.push(Segment { cells: CELL_STEP, slope: 0, ..segment });
        }
        segments.push(segment);
    }
    segments
}

/// Buffers of the whole model on one GPU, by settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WholeBytes {
    /// One slot of the server.
    pub one_slot: u64,
    /// All slots of the server.
    pub all_slots: u64,
    /// Requested settings, which may keep the logits of every token.
    pub asked: u64,
}

/// Returns the buffer of a part of the model: the largest sample plus the growth by further slots, but at
/// least the buffer of the whole model, since logits come last, after all copies are released. `output` is
/// the size of an output matrix that is copied in.
pub fn partial_bytes(samples: impl Iterator<Item = u64>, whole: WholeBytes, output: u64) -> u64 {
    let one_slot = samples.fold(whole.one_slot, u64::max);
    (one_slot + whole.all_slots.saturating_sub(whole.one_slot)).max(whole.asked) + output
}

#[cfg(test)]
mod tests {
    use super::through;
    use crate::bytes::Bytes;
    use crate::segments::value_at;

    #[test]
    fn buffers_are_sampled_at_powers_of_two_and_interpolated_between_them() {
        let segments = through(&[700, 1500, 700, 100]);
        let cells = [256, 2048, 3072, 4096, 6144, 8192, 12_288, 16_384, 20_480];
        let at = cells.map(|cells| value_at(&segments, cells).unwrap().0);
        assert_eq!(at, [700, 700, 1100, 1500, 1100, 700, 412, 100, 100]);
        assert_eq!(value_at(&through(&[0, 1]), 2304), Some(Bytes(1)));
    }
}
