//! Compute buffers of one model. Graphs are compiled on first use.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::architecture::{Architecture, LayerKind};
use crate::build::Build;
use crate::bytes::Bytes;
use crate::cache::streams;
use crate::compute::arrangement::{Arrangement, ArrangementKey, DedupKey};
use crate::compute::extent::Quantities;
use crate::compute::layer_dedup::LayerDedup;
use crate::compute::replay::{Run, buffer_sizes, tensor_sizes};
use crate::compute::size::{Horizon, Linear, Size};
use crate::compute::structure::{Structure, is_pipelined};
use crate::quantization::{CacheType, Quantization};
use crate::segments::{Interval, Segment, append};
use crate::settings::{CachePlacement, FlashAttention, Settings};
use crate::weights::{WeightList, Weights};

/// Maximum number of cached arrangements, structures or intervals. A full cache is cleared before the next
/// insertion.
const MAX_CACHED: usize = 256;
/// Maximum number of cached buffers of the first GPU, handled in the same way.
const MAX_CACHED_FIRST: usize = 4096;
/// Number of extra periods that disables deduplication: no model has as many.
const ALL_PERIODS: usize = 1 << 20;

/// Compiled graphs of a model.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    /// Disables shortcuts: every layer is built and run, and every interval is computed.
    thorough: bool,
    /// Number of allocator runs.
    pub(crate) replays: u64,
    arrangements: HashMap<ArrangementKey, CachedArrangement>,
    /// Ids of deduplication keys.
    dedup_keys: HashMap<DedupKey, usize>,
    structures: HashMap<StructureKey, Compiled>,
    /// Cached segments of intervals of contexts.
    interval_segments: HashMap<(RangeInclusive<u64>, RunKey<Linear>), Arc<BufferSegments>>,
    /// Cached buffers of the first GPU.
    first: HashMap<RunKey<u64>, Bytes>,
}

/// The segments of each buffer: of the GPUs in order, then of the host.
type BufferSegments = Vec<Vec<Segment>>;

/// Everything that a run of the allocator depends on. The structure and the deduplication are compared by
/// address, which the `Arc`s keep from being reused.
#[derive(Debug, Clone)]
struct RunKey<N> {
    structure: Arc<Structure>,
    dedup: Arc<LayerDedup>,
    /// Set only if the sizes of layers' weights matter.
    quantization: Option<Quantization>,
    /// Sizes of all tensors.
    sizes: Vec<N>,
}

impl<N> RunKey<N> {
    fn parts(&self) -> (*const Structure, *const LayerDedup, Option<Quantization>, &[N]) {
        (Arc::as_ptr(&self.structure), Arc::as_ptr(&self.dedup), self.quantization, &self.sizes)
    }
}

impl<N: PartialEq> PartialEq for RunKey<N> {
    fn eq(&self, other: &RunKey<N>) -> bool {
        self.parts() == other.parts()
    }
}

impl<N: Eq> Eq for RunKey<N> {}

impl<N: Hash> Hash for RunKey<N> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

/// Arrangement with its deduplications and the ids of their keys, fewest layers first.
#[derive(Debug)]
struct CachedArrangement {
    arrangement: Arc<Arrangement>,
    dedups: Vec<(Arc<LayerDedup>, usize)>,
}

/// Key of a graph: everything that it depends on, except for quantities.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct StructureKey {
    dedup: usize,
    key: CacheType,
    value: CacheType,
    flash_attention: FlashAttention,
    cache_placement: CachePlacement,
    one_stream: bool,
    gpus: usize,
    pipelined: bool,
    build: Build,
}

/// Structures of a key.
#[derive(Debug, Default)]
struct Compiled {
    /// One for each set of comparison results.
    structures: Vec<Arc<Structure>>,
    /// Whether the deduplication omits too many layers.
    omits_too_many: bool,
}

/// A model with its weights in one quantization.
#[derive(Debug, Clone, Copy)]
pub(crate) struct QuantizedModel<'a> {
    pub(crate) model: &'a Architecture,
    pub(crate) list: &'a WeightList,
    pub(crate) weights: &'a Weights,
}

impl Graphs {
    /// Creates an instance that builds and runs every layer, as a reference for comparison.
    pub(crate) fn thorough() -> Graphs {
        Graphs { thorough: true, ..Graphs::default() }
    }

    /// Returns the placement and the layer keys of these settings.
    pub(crate) fn arrangement(&mut self, model: &Architecture, settings: &Settings) -> Arc<Arrangement> {
        let key = ArrangementKey::new(settings);
        if let Some(found) = self.arrangements.get(&key) {
            return Arc::clone(&found.arrangement);
        }
        if self.arrangements.len() == MAX_CACHED {
            self.arrangements.clear();
        }
        let arrangement = Arc::new(Arrangement::new(model, settings));
        let cached = CachedArrangement { arrangement: Arc::clone(&arrangement), dedups: Vec::new() };
        self.arrangements.insert(key, cached);
        arrangement
    }

    /// Returns the compute buffers of the GPUs in order, then of the host.
    pub(crate) fn bytes(&mut self, quantized: QuantizedModel<'_>, settings: &Settings) -> Vec<Bytes> {
        let quantities = Quantities::new(quantized.model, settings);
        let sizes = self.buffers(quantized, settings, settings.tensor_split.len() + 1, &quantities, &mut ());
        sizes.into_iter().map(Bytes).collect()
    }

    /// Returns the compute buffer of the first GPU.
    pub(crate) fn first_bytes(&mut self, quantized: QuantizedModel<'_>, settings: &Settings) -> Bytes {
        let quantities = Quantities::new(quantized.model, settings);
        let key = self.run_key(quantized, settings, &quantities, &mut ());
        if self.thorough {
            return Bytes(self.replay(quantized, 1, key, &mut ())[0]);
        }
        if let Some(&known) = self.first.get(&key) {
            return known;
        }
        let bytes = Bytes(self.replay(quantized, 1, key.clone(), &mut ())[0]);
        if self.first.len() == MAX_CACHED_FIRST {
            self.first.clear();
        }
        self.first.insert(key, bytes);
        bytes
    }

    /// Returns the compute buffers over an interval of contexts as segments.
    pub(crate) fn segments(
        &mut self,
        quantized: QuantizedModel<'_>,
        interval: &Interval,
    ) -> Arc<BufferSegments> {
        let quantities = |settings| Quantities::new(quantized.model, settings);
        let first = quantities(&interval.first);
        if interval.start == interval.end {
            let segment = |bytes| vec![Segment::new(interval.start, Bytes(bytes), 0)];
            let count = interval.first.tensor_split.len() + 1;
            let sizes = self.buffers(quantized, &interval.first, count, &first, &mut ());
            return Arc::new(sizes.into_iter().map(segment).collect());
        }
        let quantities = Quantities::between(&first, &quantities(&interval.second));
        let mut horizon = Horizon::within(interval.end - interval.start);
        let run = self.run_key(quantized, &interval.first, &quantities, &mut horizon);
        if self.thorough || horizon != Horizon::within(interval.end - interval.start) {
            return Arc::new(self.compute_interval(quantized, interval, &quantities));
        }
        // One structure is valid for the whole interval, and every tensor grows linearly.
        let key = (interval.start..=interval.end, run);
        if let Some(segments) = self.interval_segments.get(&key) {
            return Arc::clone(segments);
        }
        let segments = Arc::new(self.compute_interval(quantized, interval, &quantities));
        if self.interval_segments.len() == MAX_CACHED {
            self.interval_segments.clear();
        }
        self.interval_segments.insert(key, Arc::clone(&segments));
        segments
    }

    /// Computes the segments of an interval, each with one allocator run.
    fn compute_interval(
        &mut self,
        quantized: QuantizedModel<'_>,
        interval: &Interval,
        quantities: &Quantities<Linear>,
    ) -> BufferSegments {
        let mut segments = vec![Vec::new(); interval.first.tensor_split.len() + 1];
        let mut step = interval.start;
        while step <= interval.end {
            let mut horizon = Horizon::within(interval.end - step);
            let quantities = quantities.after(step - interval.start);
            let lines = self.buffers(quantized, &interval.first, segments.len(), &quantities, &mut horizon);
            for (segments, line) in segments.iter_mut().zip(lines) {
                append(segments, Segment::new(step, Bytes(line.at as u64), line.slope));
            }
            step += horizon.steps + 1;
        }
        segments
    }

    fn buffers<N: Size>(
        &mut self,
        quantized: QuantizedModel<'_>,
        settings: &Settings,
        count: usize,
        quantities: &Quantities<N>,
        horizon: &mut N::Horizon,
    ) -> Vec<N> {
        let key = self.run_key(quantized, settings, quantities, horizon);
        self.replay(quantized, count, key, horizon)
    }

    /// Finds the structure for these settings and computes the sizes of its tensors.
    fn run_key<N: Size>(
        &mut self,
        quantized: QuantizedModel<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
        horizon: &mut N::Horizon,
    ) -> RunKey<N> {
        let (structure, dedup) = self.structure(quantized, settings, quantities);
        structure.applies_to(quantities, horizon);
        let sizes = tensor_sizes(&structure, quantized.list, quantized.weights, quantities, horizon);
        let quantization = structure.uses_weights.then_some(settings.quantization);
        RunKey { structure, dedup, quantization, sizes }
    }

    /// Runs the allocator and returns the first `count` buffers.
    fn replay<N: Size>(
        &mut self,
        quantized: QuantizedModel<'_>,
        count: usize,
        key: RunKey<N>,
        horizon: &mut N::Horizon,
    ) -> Vec<N> {
        let run = Run {
            structure: &key.structure,
            representatives: &key.dedup.representatives,
            list: quantized.list,
            weights: quantized.weights,
            buffers: count,
            thorough: self.thorough,
        };
        self.replays += 1;
        buffer_sizes(run, key.sizes, horizon)
    }

    /// Returns the structure for these settings and its deduplication.
    fn structure<N: Size>(
        &mut self,
        quantized: QuantizedModel<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
    ) -> (Arc<Structure>, Arc<LayerDedup>) {
        let types = (settings.cache_type_k, settings.cache_type_v);
        let latent_scores =
            !quantized.model.fuses_attention(settings) && quantized.model.has(LayerKind::Latent);
        let graph_types =
            if latent_scores { types } else { (representative_type(types.0), representative_type(types.1)) };
        let found = self.structure_with(quantized, settings, quantities, graph_types);
        if found.0.copies_cache && graph_types != types {
            return self.structure_with(quantized, settings, quantities, types);
        }
        found
    }

    fn structure_with<N: Size>(
        &mut self,
        quantized: QuantizedModel<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
        (key, value): (CacheType, CacheType),
    ) -> (Arc<Structure>, Arc<LayerDedup>) {
        for more in 0.. {
            let (dedup, number) = self.dedup(quantized.model, settings, more);
            let key = StructureKey {
                dedup: number,
                key,
                value,
                flash_attention: settings.flash_attention,
                cache_placement: settings.cache_placement,
                one_stream: streams(settings) == 1,
                gpus: settings.tensor_split.len(),
                pipelined: is_pipelined(quantized.model, settings),
                build: settings.build,
            };
            if let Some(compiled) = self.structures.get(&key) {
                if compiled.omits_too_many {
                    continue;
                }
                let applies = |structure: &&Arc<Structure>| {
                    structure.applies_to(quantities, &mut N::Horizon::default())
                };
                if let Some(structure) = compiled.structures.iter().find(applies) {
                    return (Arc::clone(structure), dedup);
                }
            }
            if let Some(structure) = self.compile(quantized, settings, quantities, key, &dedup) {
                return (structure, dedup);
            }
        }
        unreachable!("a deduplication without cuts omits no layer")
    }

    fn compile<N: Size>(
        &mut self,
        quantized: QuantizedModel<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
        key: StructureKey,
        dedup: &LayerDedup,
    ) -> Option<Arc<Structure>> {
        let arrangement = self.arrangement(quantized.model, settings);
        let settings = Settings { cache_type_k: key.key, cache_type_v: key.value, ..settings.clone() };
        let now = quantities.now();
        let structure =
            Structure::new(quantized.model, &settings, &arrangement.placement, quantized.list, dedup, now);
        if self.structures.len() == MAX_CACHED {
            self.structures.clear();
            self.interval_segments.clear();
            self.first.clear();
        }
        let compiled = self.structures.entry(key).or_default();
        match structure {
            Some(structure) => {
                let structure = Arc::new(structure);
                compiled.structures.push(Arc::clone(&structure));
                Some(structure)
            }
            None => {
                compiled.omits_too_many = true;
                None
            }
        }
    }

    /// Returns the deduplication with `more` extra periods, and the id of its key.
    fn dedup(&mut self, model: &Architecture, settings: &Settings, more: usize) -> (Arc<LayerDedup>, usize) {
        self.arrangement(model, settings);
        let cached = self
            .arrangements
            .get_mut(&ArrangementKey::new(settings))
            .expect("the arrangement was inserted above");
        while cached.dedups.len() <= more {
            let more = if self.thorough { ALL_PERIODS } else { cached.dedups.len() };
            let (dedup, key) = cached.arrangement.dedup(more);
            let next = self.dedup_keys.len();
            cached.dedups.push((dedup, *self.dedup_keys.entry(key).or_insert(next)));
        }
        let (dedup, number) = &cached.dedups[more];
        (Arc::clone(dedup), *number)
    }
}

/// Returns the representative of all cache types that give the same graph if the cache is not copied between
/// devices.
fn representative_type(kind: CacheType) -> CacheType {
    match kind {
        CacheType::F16 => CacheType::F16,
        CacheType::F32 | CacheType::Bf16 => CacheType::Bf16,
        _ => CacheType::Q8_0,
    }
}
