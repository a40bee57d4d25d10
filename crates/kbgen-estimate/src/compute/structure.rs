//! A graph compiled for the allocator: its programs without any size in them.

use crate::architecture::Architecture;
use crate::compute::builder::Builder;
use crate::compute::extent::Quantities;
use crate::compute::graph::Guard;
use crate::compute::layer_dedup::LayerDedup;
use crate::compute::program::{Program, programs};
use crate::compute::scheduler::schedule;
use crate::compute::size::Size;
use crate::compute::tensor_size::TensorSize;
use crate::placement::Placement;
use crate::settings::{CachePlacement, ExpertPlacement, Pipelining, Settings};
use crate::weights::WeightList;

/// Copies of the inputs with pipeline parallelism (`GGML_SCHED_MAX_COPIES`).
const PIPELINE_COPIES: usize = 4;

/// The programs of a graph. They hold for all settings with which its comparisons come out
/// the same, whatever their sizes.
#[derive(Debug)]
pub(crate) struct Structure {
    guards: Vec<Guard>,
    /// Sizes of tensors.
    pub(crate) sizes: Vec<TensorSize>,
    /// Different programs.
    pub(crate) programs: Vec<Program>,
    /// Program of each kept layer.
    pub(crate) layers: Vec<u16>,
    /// Size and buffer of the block that each kept layer needs before the first layer.
    pub(crate) reserved: Vec<Option<(u16, u8)>>,
    /// The programs before the first layer and after the last.
    pub(crate) head: u16,
    pub(crate) tail: u16,
    /// Whether the cache is copied between devices, so that its type matters.
    pub(crate) copies_cache: bool,
    /// Whether weights of layers are copied between devices, so that their types matter.
    pub(crate) uses_weights: bool,
}

impl Structure {
    /// Builds, schedules and compiles the graph of the kept layers; none where those left out
    /// of the fold would not all do what their stand-ins do.
    ///
    /// A layer left out stands between two boundaries at which the scheduler carries the same
    /// ([`Schedule::repeats`](crate::compute::schedule::Schedule::repeats)), and the
    /// whole period before the first of them compiled to the same programs as the period
    /// before that: what follows a period, another one or what comes after the cut, makes no
    /// difference to it. So in the graph of all layers every period that was left out has
    /// these programs too. A shared tensor that is last used in the period would be released
    /// in it, and in the one before not; so none is.
    pub(crate) fn new(
        model: &Architecture,
        settings: &Settings,
        placement: &Placement,
        weights: &WeightList,
        dedup: &LayerDedup,
        quantities: Quantities<u64>,
    ) -> Option<Structure> {
        let mut builder = Builder::new(model, settings, placement, weights, quantities);
        builder.build(&dedup.kept);
        let mut graph = builder.graph;
        let gpus = settings.tensor_split.len();
        let copies = if is_pipelined(model, settings) { PIPELINE_COPIES } else { 1 };
        let schedule = schedule(&mut graph, gpus, copies);
        let compiled = programs(&mut graph, &schedule, &dedup.kept, gpus);
        let copies_cache = graph.copies_cache();
        let mut programs: Vec<Program> = Vec::new();
        let places = compiled.parts.into_iter().map(|part| {
            let found = programs.iter().position(|known| *known == part);
            found.unwrap_or_else(|| {
                programs.push(part);
                programs.len() - 1
            }) as u16
        });
        let mut places: Vec<u16> = places.collect();
        let tail = places.pop()?;
        let head = places.remove(0);
        let settled = dedup.cuts.iter().all(|cut| {
            let (first, second) = (cut.at - cut.period, cut.at);
            places[first..second] == places[first - cut.period..first] && schedule.repeats(first, second)
        });
        let uses_weights = programs.iter().any(|program| !program.layer_weights.is_empty());
        let structure = Structure {
            guards: graph.guards,
            sizes: compiled.sizes,
            programs,
            layers: places,
            reserved: compiled.reserved,
            head,
            tail,
            copies_cache,
            uses_weights,
        };
        settled.then_some(structure)
    }

    /// Whether the graph is the same with these quantities.
    pub(crate) fn suits<N: Size>(&self, quantities: &Quantities<N>, horizon: &mut N::Horizon) -> bool {
        self.guards.iter().all(|guard| guard.holds(quantities, horizon))
    }
}

/// llama.cpp's rule (`src/llama-context.cpp`): several GPUs, all layers on them, cache and
/// experts too.
pub(crate) fn is_pipelined(model: &Architecture, settings: &Settings) -> bool {
    let layers = model.layers.len() as u64;
    settings.pipelining == Pipelining::On
        && settings.tensor_split.len() > 1
        && settings.gpu_layers.is_none_or(|count| count > layers)
        && settings.cache_placement == CachePlacement::WithLayer
        && settings.experts == ExpertPlacement::WithLayer
}
