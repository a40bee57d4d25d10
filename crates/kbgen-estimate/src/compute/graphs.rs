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

/// Arrangements or structures that are kept; one more and all are forgotten.
const KEPT: usize = 256;
/// Buffers of first GPUs that are kept; one more and all are forgotten.
const KEPT_FIRST: usize = 4096;
/// More periods of layers than any model has.
const EVERYTHING: usize = 1 << 20;

/// Compiled graphs of a model.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    /// Disables shortcuts: every layer is built and run, and every interval is computed.
    thorough: bool,
    /// Number of allocator runs.
    pub(crate) replays: u64,
    arrangements: HashMap<ArrangementKey, Arranged>,
    /// Numbers of deduplication keys.
    fold_keys: HashMap<DedupKey, usize>,
    structures: HashMap<StructureKey, Compiled>,
    /// Known segments of intervals of contexts.
    drawn: HashMap<(RangeInclusive<u64>, RunKey<Linear>), Arc<BufferSegments>>,
    /// Known buffers of the first GPU.
    first: HashMap<RunKey<u64>, Bytes>,
}

/// The segments of each buffer: of the GPUs in order, then of the host.
type BufferSegments = Vec<Vec<Segment>>;

/// Everything that a run of the allocator depends on. The structure and the deduplication are compared by address: as long
/// as they are kept here, nothing else has it.
#[derive(Debug, Clone)]
struct RunKey<N> {
    structure: Arc<Structure>,
    dedup: Arc<LayerDedup>,
    /// Where the sizes of layers' weights matter.
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

/// Arrangement with its deduplications and the numbers of their keys, shortest first.
#[derive(Debug)]
struct Arranged {
    arrangement: Arc<Arrangement>,
    dedups: Vec<(Arc<LayerDedup>, usize)>,
}

/// Key of a graph: everything that it depends on, except for numbers.
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

/// Result of compiling a key.
#[derive(Debug, Default)]
struct Compiled {
    /// One for every way in which comparisons came out.
    structures: Vec<Arc<Structure>>,
    /// Too few layers were kept.
    unsettled: bool,
}

/// Inputs of a lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Subject<'a> {
    pub(crate) model: &'a Architecture,
    pub(crate) list: &'a WeightList,
    pub(crate) weights: &'a Weights,
}

impl Graphs {
    /// Graphs that build and run every layer, to compare with.
    pub(crate) fn thorough() -> Graphs {
        Graphs { thorough: true, ..Graphs::default() }
    }

    /// Which device does what.
    pub(crate) fn arrangement(&mut self, model: &Architecture, settings: &Settings) -> Arc<Arrangement> {
        let key = ArrangementKey::new(settings);
        if let Some(found) = self.arrangements.get(&key) {
            return Arc::clone(&found.arrangement);
        }
        if self.arrangements.len() == KEPT {
            self.arrangements.clear();
        }
        let arrangement = Arc::new(Arrangement::new(model, settings));
        let arranged = Arranged { arrangement: Arc::clone(&arrangement), dedups: Vec::new() };
        self.arrangements.insert(key, arranged);
        arrangement
    }

    /// The compute buffers of the GPUs in order, then of the host.
    pub(crate) fn bytes(&mut self, subject: Subject<'_>, settings: &Settings) -> Vec<Bytes> {
        let quantities = Quantities::new(subject.model, settings);
        let sizes = self.buffers(subject, settings, settings.tensor_split.len() + 1, &quantities, &mut ());
        sizes.into_iter().map(Bytes).collect()
    }

    /// The compute buffer of the first GPU.
    pub(crate) fn first_bytes(&mut self, subject: Subject<'_>, settings: &Settings) -> Bytes {
        let quantities = Quantities::new(subject.model, settings);
        let key = self.run_key(subject, settings, &quantities, &mut ());
        if self.thorough {
            return Bytes(self.replay(subject, 1, key, &mut ())[0]);
        }
        if let Some(&known) = self.first.get(&key) {
            return known;
        }
        let bytes = Bytes(self.replay(subject, 1, key.clone(), &mut ())[0]);
        if self.first.len() == KEPT_FIRST {
            self.first.clear();
        }
        self.first.insert(key, bytes);
        bytes
    }

    /// Returns the compute buffers over an interval of contexts as segments.
    pub(crate) fn segments(&mut self, subject: Subject<'_>, interval: &Interval) -> Arc<BufferSegments> {
        let quantities = |settings| Quantities::new(subject.model, settings);
        let first = quantities(&interval.first);
        if interval.start == interval.end {
            let segment = |bytes| vec![Segment::new(interval.start, Bytes(bytes), 0)];
            let count = interval.first.tensor_split.len() + 1;
            let sizes = self.buffers(subject, &interval.first, count, &first, &mut ());
            return Arc::new(sizes.into_iter().map(segment).collect());
        }
        let quantities = Quantities::between(&first, &quantities(&interval.second));
        let mut horizon = Horizon::within(interval.end - interval.start);
        let run = self.run_key(subject, &interval.first, &quantities, &mut horizon);
        if self.thorough || horizon != Horizon::within(interval.end - interval.start) {
            return Arc::new(self.draw(subject, interval, &quantities));
        }
        // One structure applies, and every tensor grows linearly.
        let key = (interval.start..=interval.end, run);
        if let Some(segments) = self.drawn.get(&key) {
            return Arc::clone(segments);
        }
        let segments = Arc::new(self.draw(subject, interval, &quantities));
        if self.drawn.len() == KEPT {
            self.drawn.clear();
        }
        self.drawn.insert(key, Arc::clone(&segments));
        segments
    }

    /// Computes the segments of an interval run by run.
    fn draw(
        &mut self,
        subject: Subject<'_>,
        interval: &Interval,
        quantities: &Quantities<Linear>,
    ) -> BufferSegments {
        let mut segments = vec![Vec::new(); interval.first.tensor_split.len() + 1];
        let mut step = interval.start;
        while step <= interval.end {
            let mut horizon = Horizon::within(interval.end - step);
            let quantities = quantities.after(step - interval.start);
            let lines = self.buffers(subject, &interval.first, segments.len(), &quantities, &mut horizon);
            for (segments, line) in segments.iter_mut().zip(lines) {
                append(segments, Segment::new(step, Bytes(line.at as u64), line.slope));
            }
            step += horizon.steps + 1;
        }
        segments
    }

    fn buffers<N: Size>(
        &mut self,
        subject: Subject<'_>,
        settings: &Settings,
        count: usize,
        quantities: &Quantities<N>,
        horizon: &mut N::Horizon,
    ) -> Vec<N> {
        let key = self.run_key(subject, settings, quantities, horizon);
        self.replay(subject, count, key, horizon)
    }

    /// Finds the structure of these settings and computes the sizes of its tensors.
    fn run_key<N: Size>(
        &mut self,
        subject: Subject<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
        horizon: &mut N::Horizon,
    ) -> RunKey<N> {
        let (structure, dedup) = self.structure(subject, settings, quantities);
        structure.suits(quantities, horizon);
        let sizes = tensor_sizes(&structure, subject.list, subject.weights, quantities, horizon);
        let quantization = structure.uses_weights.then_some(settings.quantization);
        RunKey { structure, dedup, quantization, sizes }
    }

    /// Runs the allocator and returns the first `count` buffers.
    fn replay<N: Size>(
        &mut self,
        subject: Subject<'_>,
        count: usize,
        key: RunKey<N>,
        horizon: &mut N::Horizon,
    ) -> Vec<N> {
        let run = Run {
            structure: &key.structure,
            representatives: &key.dedup.representatives,
            list: subject.list,
            weights: subject.weights,
            buffers: count,
            thorough: self.thorough,
        };
        self.replays += 1;
        buffer_sizes(run, key.sizes, horizon)
    }

    /// Returns the structure of these settings and its deduplication.
    fn structure<N: Size>(
        &mut self,
        subject: Subject<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
    ) -> (Arc<Structure>, Arc<LayerDedup>) {
        let types = (settings.cache_type_k, settings.cache_type_v);
        let latent_scores = !subject.model.fuses_attention(settings) && subject.model.has(LayerKind::Latent);
        let like = if latent_scores { types } else { (like(types.0), like(types.1)) };
        let found = self.structure_with(subject, settings, quantities, like);
        if found.0.copies_cache && like != types {
            return self.structure_with(subject, settings, quantities, types);
        }
        found
    }

    fn structure_with<N: Size>(
        &mut self,
        subject: Subject<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
        (key, value): (CacheType, CacheType),
    ) -> (Arc<Structure>, Arc<LayerDedup>) {
        for more in 0.. {
            let (dedup, number) = self.dedup(subject.model, settings, more);
            let key = StructureKey {
                dedup: number,
                key,
                value,
                flash_attention: settings.flash_attention,
                cache_placement: settings.cache_placement,
                one_stream: streams(settings) == 1,
                gpus: settings.tensor_split.len(),
                pipelined: is_pipelined(subject.model, settings),
                build: settings.build,
            };
            if let Some(compiled) = self.structures.get(&key) {
                if compiled.unsettled {
                    continue;
                }
                let suits =
                    |structure: &&Arc<Structure>| structure.suits(quantities, &mut N::Horizon::default());
                if let Some(structure) = compiled.structures.iter().find(suits) {
                    return (Arc::clone(structure), dedup);
                }
            }
            if let Some(structure) = self.compile(subject, settings, quantities, key, &dedup) {
                return (structure, dedup);
            }
        }
        unreachable!("a fold that leaves nothing out is never too short")
    }

    fn compile<N: Size>(
        &mut self,
        subject: Subject<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
        key: StructureKey,
        dedup: &LayerDedup,
    ) -> Option<Arc<Structure>> {
        let arrangement = self.arrangement(subject.model, settings);
        let settings = Settings { cache_type_k: key.key, cache_type_v: key.value, ..settings.clone() };
        let now = quantities.now();
        let structure =
            Structure::new(subject.model, &settings, &arrangement.placement, subject.list, dedup, now);
        if self.structures.len() == KEPT {
            self.structures.clear();
            self.drawn.clear();
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
                compiled.unsettled = true;
                None
            }
        }
    }

    /// The layers to look at, and the number of their key.
    fn dedup(&mut self, model: &Architecture, settings: &Settings, more: usize) -> (Arc<LayerDedup>, usize) {
        self.arrangement(model, settings);
        let arranged =
            self.arrangements.get_mut(&ArrangementKey::new(settings)).expect("it was arranged just now");
        while arranged.dedups.len() <= more {
            let more = if self.thorough { EVERYTHING } else { arranged.dedups.len() };
            let (dedup, key) = arranged.arrangement.dedup(more);
            let next = self.fold_keys.len();
            arranged.dedups.push((dedup, *self.fold_keys.entry(key).or_insert(next)));
        }
        let (dedup, number) = &arranged.dedups[more];
        (Arc::clone(dedup), *number)
    }
}

/// Returns the representative of all cache types that a graph without copies of the cache does not distinguish.
fn like(kind: CacheType) -> CacheType {
    match kind {
        CacheType::F16 => CacheType::F16,
        CacheType::F32 | CacheType::Bf16 => CacheType::Bf16,
        _ => CacheType::Q8_0,
    }
}
