//! The compute buffers of one model: its graphs are compiled when they are first asked for.

use std::collections::HashMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::architecture::{Architecture, LayerKind};
use crate::bytes::Bytes;
use crate::cache::streams;
use crate::compute::arrangement::{Arrangement, ArrangementKey, FoldKey};
use crate::compute::extent::Quantities;
use crate::compute::fold::Fold;
use crate::compute::replay::{Run, buffer_sizes, tensor_sizes};
use crate::compute::size::{Horizon, Linear, Size};
use crate::compute::structure::{Structure, is_pipelined};
use crate::quantization::{CacheType, Quantization};
use crate::segments::{Segment, Stretch, append};
use crate::settings::{CachePlacement, FlashAttention, Settings};
use crate::weights::{WeightList, Weights};

/// Arrangements or structures that are kept; one more and all are forgotten.
const KEPT: usize = 256;
/// More periods of layers than any model has.
const EVERYTHING: usize = 1 << 20;

/// The graphs of a model that were compiled so far.
#[derive(Debug, Default)]
pub(crate) struct Graphs {
    /// Nothing is left out: every layer is built and run, every stretch is drawn.
    thorough: bool,
    /// Runs of the allocator so far.
    pub(crate) replays: u64,
    arrangements: HashMap<ArrangementKey, Arranged>,
    /// Numbers for the keys of folds.
    fold_keys: HashMap<FoldKey, usize>,
    structures: HashMap<StructureKey, Compiled>,
    /// Stretches whose pieces are known.
    drawn: Vec<(Drawn, Arc<Vec<Vec<Segment>>>)>,
}

/// All that the pieces of a stretch depend on, where one structure holds and every tensor
/// grows evenly over the whole stretch.
#[derive(Debug)]
struct Drawn {
    steps: RangeInclusive<u64>,
    structure: Arc<Structure>,
    fold: Arc<Fold>,
    /// Where the sizes of layers' weights matter.
    quantization: Option<Quantization>,
    sizes: Vec<Linear>,
}

impl PartialEq for Drawn {
    fn eq(&self, other: &Drawn) -> bool {
        self.steps == other.steps
            && Arc::ptr_eq(&self.structure, &other.structure)
            && Arc::ptr_eq(&self.fold, &other.fold)
            && self.quantization == other.quantization
            && self.sizes == other.sizes
    }
}

/// An arrangement with its folds, each with the number of its key, from the shortest on.
#[derive(Debug)]
struct Arranged {
    arrangement: Arc<Arrangement>,
    folds: Vec<(Arc<Fold>, usize)>,
}

/// Key of a graph: all that it depends on, apart from numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct StructureKey {
    fold: usize,
    key: CacheType,
    value: CacheType,
    flash_attention: FlashAttention,
    cache_placement: CachePlacement,
    one_stream: bool,
    gpus: usize,
    pipelined: bool,
}

/// Result of compiling a key.
#[derive(Debug, Default)]
struct Compiled {
    /// One for every way in which comparisons came out.
    structures: Vec<Arc<Structure>>,
    /// The fold is too short.
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
        let arranged = Arranged { arrangement: Arc::clone(&arrangement), folds: Vec::new() };
        self.arrangements.insert(key, arranged);
        arrangement
    }

    /// The compute buffers of the GPUs in order, then of the host.
    pub(crate) fn bytes(&mut self, subject: Subject<'_>, settings: &Settings) -> Vec<Bytes> {
        let quantities = Quantities::new(subject.model, settings);
        let sizes = self.buffers(subject, settings, &quantities, &mut ());
        sizes.into_iter().map(Bytes).collect()
    }

    /// The compute buffers over a stretch of contexts, as pieces.
    pub(crate) fn pieces(&mut self, subject: Subject<'_>, stretch: &Stretch) -> Arc<Vec<Vec<Segment>>> {
        let quantities = |settings| Quantities::new(subject.model, settings);
        let first = quantities(&stretch.first);
        if stretch.start == stretch.end {
            let piece = |bytes| vec![Segment::new(stretch.start, Bytes(bytes), 0)];
            let sizes = self.buffers(subject, &stretch.first, &first, &mut ());
            return Arc::new(sizes.into_iter().map(piece).collect());
        }
        let quantities = Quantities::between(&first, &quantities(&stretch.second));
        let mut horizon = Horizon::within(stretch.end - stretch.start);
        let (structure, fold) = self.structure(subject, &stretch.first, &quantities);
        structure.suits(&quantities, &mut horizon);
        let run = self.run(subject, &stretch.first, &structure, &fold);
        let sizes = tensor_sizes(run, &quantities, &mut horizon);
        let straight = !self.thorough && horizon == Horizon::within(stretch.end - stretch.start);
        let quantization = structure.uses_weights.then_some(stretch.first.quantization);
        let drawn = Drawn { steps: stretch.start..=stretch.end, structure, fold, quantization, sizes };
        if let Some((_, pieces)) = self.drawn.iter().find(|(known, _)| straight && *known == drawn) {
            return Arc::clone(pieces);
        }
        let pieces = Arc::new(self.draw(subject, stretch, &quantities));
        if straight {
            if self.drawn.len() == KEPT {
                self.drawn.clear();
            }
            self.drawn.push((drawn, Arc::clone(&pieces)));
        }
        pieces
    }

    /// The pieces of a stretch, found run by run.
    fn draw(
        &mut self,
        subject: Subject<'_>,
        stretch: &Stretch,
        quantities: &Quantities<Linear>,
    ) -> Vec<Vec<Segment>> {
        let mut pieces = vec![Vec::new(); stretch.first.tensor_split.len() + 1];
        let mut step = stretch.start;
        while step <= stretch.end {
            let mut horizon = Horizon::within(stretch.end - step);
            let quantities = quantities.after(step - stretch.start);
            let lines = self.buffers(subject, &stretch.first, &quantities, &mut horizon);
            for (pieces, line) in pieces.iter_mut().zip(lines) {
                append(pieces, Segment::new(step, Bytes(line.at as u64), line.slope));
            }
            step += horizon.steps + 1;
        }
        pieces
    }

    fn buffers<N: Size>(
        &mut self,
        subject: Subject<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
        horizon: &mut N::Horizon,
    ) -> Vec<N> {
        let (structure, fold) = self.structure(subject, settings, quantities);
        structure.suits(quantities, horizon);
        let run = self.run(subject, settings, &structure, &fold);
        let sizes = tensor_sizes(run, quantities, horizon);
        self.replays += 1;
        buffer_sizes(run, sizes, horizon)
    }

    fn run<'a>(
        &self,
        subject: Subject<'a>,
        settings: &Settings,
        structure: &'a Structure,
        fold: &'a Fold,
    ) -> Run<'a> {
        Run {
            structure,
            stands: &fold.stands,
            list: subject.list,
            weights: subject.weights,
            buffers: settings.tensor_split.len() + 1,
            thorough: self.thorough,
        }
    }

    /// The structure of these settings, with the fold that it is of.
    fn structure<N: Size>(
        &mut self,
        subject: Subject<'_>,
        settings: &Settings,
        quantities: &Quantities<N>,
    ) -> (Arc<Structure>, Arc<Fold>) {
        let types = (settings.cache_type_k, settings.cache_type_v);
        let latent_scores =
            settings.flash_attention == FlashAttention::Off && subject.model.has(LayerKind::Latent);
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
    ) -> (Arc<Structure>, Arc<Fold>) {
        for more in 0.. {
            let (fold, number) = self.fold(subject.model, settings, more);
            let key = StructureKey {
                fold: number,
                key,
                value,
                flash_attention: settings.flash_attention,
                cache_placement: settings.cache_placement,
                one_stream: streams(settings) == 1,
                gpus: settings.tensor_split.len(),
                pipelined: is_pipelined(subject.model, settings),
            };
            if let Some(compiled) = self.structures.get(&key) {
                if compiled.unsettled {
                    continue;
                }
                let suits =
                    |structure: &&Arc<Structure>| structure.suits(quantities, &mut N::Horizon::default());
                if let Some(structure) = compiled.structures.iter().find(suits) {
                    return (Arc::clone(structure), fold);
                }
            }
            if let Some(structure) = self.compile(subject, settings, quantities, key, &fold) {
                return (structure, fold);
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
        fold: &Fold,
    ) -> Option<Arc<Structure>> {
        let arrangement = self.arrangement(subject.model, settings);
        let settings = Settings { cache_type_k: key.key, cache_type_v: key.value, ..settings.clone() };
        let now = quantities.now();
        let structure =
            Structure::new(subject.model, &settings, &arrangement.placement, subject.list, fold, now);
        if self.structures.len() == KEPT {
            self.structures.clear();
            self.drawn.clear();
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
    fn fold(&mut self, model: &Architecture, settings: &Settings, more: usize) -> (Arc<Fold>, usize) {
        self.arrangement(model, settings);
        let arranged =
            self.arrangements.get_mut(&ArrangementKey::new(settings)).expect("it was arranged just now");
        while arranged.folds.len() <= more {
            let more = if self.thorough { EVERYTHING } else { arranged.folds.len() };
            let (fold, key) = arranged.arrangement.fold(more);
            let next = self.fold_keys.len();
            arranged.folds.push((fold, *self.fold_keys.entry(key).or_insert(next)));
        }
        let (fold, number) = &arranged.folds[more];
        (Arc::clone(fold), *number)
    }
}

/// The cache type that stands for all that a graph without copies of the cache cannot tell
/// from it.
fn like(kind: CacheType) -> CacheType {
    match kind {
        CacheType::F16 => CacheType::F16,
        CacheType::F32 | CacheType::Bf16 => CacheType::Bf16,
        _ => CacheType::Q8_0,
    }
}
