//! Size of a tensor in a buffer, as a formula over the quantities of a run.

use crate::compute::extent::{Extent, Quantities};
use crate::compute::graph::Graph;
use crate::compute::size::Size;
use crate::compute::tensor::{Operation, TensorId};
use crate::names::{Home, Name};
use crate::quantization::TensorType;
use crate::weights::{GPU_ALIGNMENT, HOST_ALIGNMENT, row_tail};

/// Formula for the size of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Bytes of a tensor without gaps.
    Packed(Extent),
    /// Bytes from the first to the last element of a copied view, and padding.
    Spread {
        /// Bytes of a row, and of the padding after the last one.
        row: Extent,
        tail: u64,
        /// Number of elements and stride in bytes of each dimension.
        steps: [(Extent, Extent); 4],
    },
    /// Result of flash attention, followed by keys and values that are converted to F16: bytes of the result,
    /// elements of keys and values.
    Attention(Extent, [Extent; 2]),
    /// Copy of a layer's weight; `age` is the number of layers since that layer.
    LayerWeight { age: u64, name: Name, experts: bool },
    /// Copy of a weight outside the layers.
    Weight(Home, Name),
}

/// Formula for the size of a tensor, and whether it is in host memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TensorSize {
    pub(crate) rule: Rule,
    pub(crate) on_host: bool,
}

impl TensorSize {
    /// Creates the size of a tensor; `age` returns the number of layers since a layer.
    pub(crate) fn new(graph: &Graph, id: TensorId, on_host: bool, age: impl Fn(u64) -> u64) -> TensorSize {
        let tensor = graph.get(id);
        let rule = match tensor.weight {
            Some((Home::Layer(layer), name)) => Rule::LayerWeight { age: age(layer), name, experts: false },
            Some((Home::Experts(layer), name)) => Rule::LayerWeight { age: age(layer), name, experts: true },
            Some((home, name)) => Rule::Weight(home, name),
            None if tensor.operation == Operation::FlashAttention && !on_host && graph.reserves_copies => {
                attention(graph, id)
            }
            None => data(graph, id, on_host),
        };
        TensorSize { rule, on_host }
    }

    /// Returns the alignment of the buffer.
    pub(crate) fn alignment(&self) -> u64 {
        if self.on_host { HOST_ALIGNMENT } else { GPU_ALIGNMENT }
    }

    /// Returns the aligned size in bytes; `weight` gives the bytes of copied weights.
    pub(crate) fn value<N: Size>(
        &self,
        quantities: &Quantities<N>,
        horizon: &mut N::Horizon,
        weight: impl Fn(Home, Name) -> u64,
    ) -> N {
        let size = match &self.rule {
            Rule::Packed(bytes) => bytes.value(quantities),
            Rule::Spread { row, tail, steps } => {
                let mut size = row.value(quantities) + N::from(*tail);
                for (elements, stride) in steps {
                    size = size + (elements.value(quantities) - N::from(1)) * stride.value(quantities);
                }
                size
            }
            Rule::Attention(result, widened) => {
                let mut end = result.value(quantities);
                for elements in widened.iter().filter(|elements| **elements != Extent::ZERO) {
                    end = end.aligned(GPU_ALIGNMENT, horizon) + N::from(2) * elements.value(quantities);
                }
                end
            }
            // set for each layer by the replay
            Rule::LayerWeight { .. } => N::default(),
            Rule::Weight(home, name) => N::from(weight(*home, *name)),
        };
        size.aligned(self.alignment(), horizon)
    }
}

/// Returns the bytes from the first to the last element (ggml's `ggml_nbytes`), and on a GPU the padding of a
/// quantized row.
fn data(graph: &Graph, id: TensorId, on_host: bool) -> Rule {
    let tensor = graph.get(id);
    let (block, element) = tensor.kind.block();
    if tensor.elements() == Extent::ZERO {
        return Rule::Packed(Extent::ZERO);
    }
    if block == 1 && tensor.has_no_gaps() {
        return Rule::Packed(element * tensor.elements());
    }
    let mut steps = [0, 1, 2, 3].map(|d| (tensor.shape[d], tensor.strides[d]));
    let (mut row, mut tail) = (Extent::from(element), 0);
    if block > 1 {
        row = tensor.shape[0] * tensor.strides[0] / block;
        steps[0] = (Extent::ONE, Extent::ZERO);
        let width = tensor.shape[0].constant().expect("a quantized row is as wide as a head");
        tail = if on_host { 0 } else { row_tail(tensor.kind, width).0 };
    }
    Rule::Spread { row, tail, steps }
}

/// Returns the size of flash attention, which stores its keys and values in F16 behind its result (ggml's
/// `src/ggml-cuda/fattn-common.cuh`, `ggml_cuda_flash_attn_ext_get_f16_extra_data`).
fn attention(graph: &Graph, id: TensorId) -> Rule {
    let tensor = graph.get(id);
    let sources = graph.sources(id);
    let (keys, values) = (graph.get(sources[1]), graph.get(sources[2]));
    let shared = values.view_of.is_some() && values.view_of == keys.view_of;
    let widened = [(keys, true), (values, !shared)].map(|(source, counts)| {
        if counts && source.kind != TensorType::F16 { source.elements() } else { Extent::ZERO }
    });
    let (_, element) = tensor.kind.block();
    Rule::Attention(element * tensor.elements(), widened)
}
