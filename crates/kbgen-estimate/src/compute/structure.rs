//! Graph compiled for the allocator: programs with symbolic sizes.

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

/// Programs of a graph. They are valid for all settings for which the graph's comparisons have the same
/// results, whatever the sizes.
#[derive(Debug)]
pub(crate) struct Structure {
    guards: Vec<Guard>,
    /// Sizes that the programs refer to.
    pub(crate) sizes: Vec<TensorSize>,
    /// Distinct programs.
    pub(crate) programs: Vec<Program>,
    /// Index of the program of each kept layer.
    pub(crate) layers: Vec<u16>,
    /// Size and buffer of the block that each kept layer reserves before the first layer.
    pub(crate) reserved: Vec<Option<(u16, u8)>>,
    /// Indices of the programs before the first layer and after the last one.
    pub(crate) head: u16,
    pub(crate) tail: u16,
    /// Whether the cache is copied between devices, so that its type matters.
    pub(crate) copies_cache: bool,
    /// Whether weights of layers are copied between devices, so that their types matter.
    pub(crate) uses_weights: bool,
}

impl Structure {
    /// Builds, schedules and compiles the graph of the kept layers. Returns `None` if an omitted layer might
    /// not have the program of its representative.
    ///
    /// Omitted layers lie between two boundaries at which the scheduler carries the same state
    /// ([`Schedule::repeats`](crate::compute::schedule::Schedule::repeats)), and the whole period before the
    /// first boundary compiled to the same programs as the period before that. So the programs of a period do
    /// not depend on what follows it, be it another period or the layers after the cut, and every omitted
    /// period would have these programs in the graph of all layers. No shared tensor is last used in the
    /// period: it would be released there but not in the period before, so the programs would differ.
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
        let is_valid = dedup.cuts.iter().all(|cut| {
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
        is_valid.then_some(structure)
    }

    /// Returns whether the graph is the same for these quantities.
    pub(crate) fn applies_to<N: Size>(&self, quantities: &Quantities<N>, horizon: &mut N::Horizon) -> bool {
        self.guards.iter().all(|guard| guard.holds(quantities, horizon))
    }
}

/// Returns whether llama.cpp uses pipeline parallelism (`src/llama-context.cpp`): with several GPUs that hold
/// all layers, the cache and the experts.
pub(crate) fn is_pipelined(model: &Architecture, settings: &Settings) -> bool {
    let layers = model.layers.len() as u64;
    settings.pipelining == Pipelining::On
        && settings.tensor_split.len() > 1
        && settings.gpu_layers.is_none_or(|count| count > layers)
        && settings.cache_placement == CachePlacement::WithLayer
        && settings.experts == ExpertPlacement::WithLayer
}
