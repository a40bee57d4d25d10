//! The compute buffer of every device: the graph is built, scheduled and allocated without memory.

mod allocator;
mod attention;
mod builder;
mod families;
mod feed_forward;
mod graph;
mod latent;
mod linear;
mod mixers;
mod recurrent;
mod schedule;

use crate::estimate::architecture::Architecture;
use crate::estimate::bytes::Bytes;
use crate::estimate::compute::allocator::{Plan, buffer_sizes};
use crate::estimate::compute::builder::Builder;
use crate::estimate::compute::graph::{Graph, Operation, Tensor};
use crate::estimate::compute::linear::Linear;
use crate::estimate::compute::schedule::{Schedule, schedule};
use crate::estimate::placement::Placement;
use crate::estimate::quantization::TensorType;
use crate::estimate::settings::{CachePlacement, ExpertPlacement, Settings};
use crate::estimate::weights::{GPU_ALIGNMENT, HOST_ALIGNMENT, Weights, row_tail};

/// Copies of the inputs with pipeline parallelism (`GGML_SCHED_MAX_COPIES`).
const PIPELINE_COPIES: usize = 4;

/// A graph with its schedule, and what each tensor takes.
struct Prepared {
    graph: Graph,
    schedule: Schedule,
    /// Bytes on a GPU, and in the host's memory, by tensor.
    sizes: Vec<(u64, u64)>,
}

impl Prepared {
    fn new(model: &Architecture, settings: &Settings, placement: &Placement, weights: &Weights) -> Prepared {
        let mut builder = Builder::new(model, settings, placement, weights);
        builder.build();
        let mut graph = builder.graph;
        let copies = if is_pipelined(model, settings) { PIPELINE_COPIES } else { 1 };
        let schedule = schedule(&mut graph, settings.tensor_split.len(), copies);
        let tensors = &graph.tensors;
        let sizes = tensors.iter().map(|tensor| (gpu_bytes(tensors, tensor), tensor.bytes()));
        Prepared { sizes: sizes.collect(), schedule, graph }
    }
}

/// The compute buffers of the GPUs in order, then of the host.
pub(crate) fn compute_bytes(
    model: &Architecture,
    settings: &Settings,
    placement: &Placement,
    weights: &Weights,
) -> Vec<Bytes> {
    let stretch = Stretch::new(model, (settings, settings), placement, weights);
    let (buffers, _) = stretch.lines(0);
    buffers.iter().map(|buffer| Bytes(buffer.at as u64)).collect()
}

/// Numbers of cells over which the graph stays the same and every tensor grows evenly.
pub(crate) struct Stretch {
    first: Prepared,
    /// Sizes one step of cells later.
    second: Vec<(u64, u64)>,
    gpus: usize,
}

impl Stretch {
    /// The stretch that begins with the first settings; the second have one step of cells
    /// more, or are the same.
    pub(crate) fn new(
        model: &Architecture,
        (first, second): (&Settings, &Settings),
        placement: &Placement,
        weights: &Weights,
    ) -> Stretch {
        let gpus = first.tensor_split.len();
        let start = Prepared::new(model, first, placement, weights);
        let second = if first == second {
            start.sizes.clone()
        } else {
            Prepared::new(model, second, placement, weights).sizes
        };
        Stretch { first: start, second, gpus }
    }

    /// The compute buffers of the GPUs and of the host, so many steps into the stretch, as
    /// lines over further steps, and for how many of these the lines hold.
    pub(crate) fn lines(&self, steps: u64) -> (Vec<Linear>, u64) {
        let mut alignments = vec![GPU_ALIGNMENT; self.gpus];
        alignments.push(HOST_ALIGNMENT);
        let size = |id: usize, buffer: usize| {
            let ((gpu, host), (next_gpu, next_host)) = (self.first.sizes[id], self.second[id]);
            let line = if buffer == self.gpus {
                Linear::between(host, next_host)
            } else {
                Linear::between(gpu, next_gpu)
            };
            line.after(steps)
        };
        buffer_sizes(&Plan {
            tensors: &self.first.graph.tensors,
            nodes: &self.first.schedule.nodes,
            leaves: &self.first.schedule.leaves,
            alignments: &alignments,
            size: &size,
        })
    }
}

/// llama.cpp's rule (`src/llama-context.cpp`): several GPUs, all layers on them, cache and
/// experts too.
fn is_pipelined(model: &Architecture, settings: &Settings) -> bool {
    let layers = model.layers.len() as u64;
    settings.tensor_split.len() > 1
        && settings.gpu_layers.is_none_or(|count| count > layers)
        && settings.cache_placement == CachePlacement::WithLayer
        && settings.experts == ExpertPlacement::WithLayer
}

/// What a tensor takes on a GPU. Flash attention keeps its keys and values widened to F16
/// behind its result (ggml's `src/ggml-cuda/fattn-common.cuh`,
/// `ggml_cuda_flash_attn_ext_get_f16_extra_data`).
fn gpu_bytes(tensors: &[Tensor], tensor: &Tensor) -> u64 {
    if tensor.operation != Operation::FlashAttention {
        return tensor.bytes() + row_tail(tensor.kind, tensor.shape[0]).0;
    }
    let (keys, values) = (&tensors[tensor.sources[1]], &tensors[tensor.sources[2]]);
    let mut end = tensor.bytes();
    let mut widen = |source: &Tensor| {
        if source.kind != TensorType::F16 {
            end = end.next_multiple_of(128) + 2 * source.elements();
        }
    };
    widen(keys);
    let shared = values.view_of.is_some() && values.view_of == keys.view_of;
    if !shared {
        widen(values);
    }
    end
}
