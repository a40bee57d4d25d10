//! The compute buffer of every device: the graph is built, scheduled and allocated without memory.

mod allocator;
mod attention;
mod builder;
mod families;
mod feed_forward;
mod graph;
mod recurrent;
mod schedule;

use crate::estimate::architecture::Architecture;
use crate::estimate::bytes::Bytes;
use crate::estimate::compute::allocator::{Plan, buffer_sizes};
use crate::estimate::compute::builder::Builder;
use crate::estimate::compute::graph::{Operation, Tensor};
use crate::estimate::compute::schedule::schedule;
use crate::estimate::placement::Placement;
use crate::estimate::quantization::TensorType;
use crate::estimate::settings::{CachePlacement, ExpertPlacement, Settings};
use crate::estimate::weights::{GPU_ALIGNMENT, HOST_ALIGNMENT, Weights, row_tail};

/// Copies of the inputs with pipeline parallelism (`GGML_SCHED_MAX_COPIES`).
const PIPELINE_COPIES: usize = 4;

/// The compute buffers of the GPUs in order, then of the host.
pub(crate) fn compute_bytes(
    model: &Architecture,
    settings: &Settings,
    placement: &Placement,
    weights: &Weights,
) -> Vec<Bytes> {
    let mut builder = Builder::new(model, settings, placement, weights);
    builder.build();
    let mut graph = builder.graph;
    let gpus = settings.tensor_split.len();
    let copies = if is_pipelined(model, settings) { PIPELINE_COPIES } else { 1 };
    let schedule = schedule(&mut graph, gpus, copies);
    let scratch: Vec<u64> =
        graph.tensors.iter().map(|tensor| scratch_bytes(&graph.tensors, tensor)).collect();
    let mut alignments = vec![GPU_ALIGNMENT; gpus];
    alignments.push(HOST_ALIGNMENT);
    let size = |id: usize, buffer: usize| {
        let tensor = &graph.tensors[id];
        let data = tensor.bytes();
        if buffer == gpus {
            return data;
        }
        if tensor.operation == Operation::FlashAttention {
            return scratch[id];
        }
        data + row_tail(tensor.kind, tensor.shape[0]).0
    };
    let plan = Plan {
        tensors: &graph.tensors,
        nodes: &schedule.nodes,
        leaves: &schedule.leaves,
        alignments: &alignments,
        size: &size,
    };
    buffer_sizes(&plan).into_iter().map(Bytes).collect()
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

/// What flash attention takes on a GPU: its result, and keys and values widened to F16
/// (ggml's `src/ggml-cuda/fattn-common.cuh`, `ggml_cuda_flash_attn_ext_get_f16_extra_data`).
fn scratch_bytes(tensors: &[Tensor], tensor: &Tensor) -> u64 {
    if tensor.operation != Operation::FlashAttention {
        return 0;
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
