//! One tensor of a graph, as far as memory depends on it.

use crate::compute::extent::Extent;
use crate::names::{Home, Name};
use crate::placement::Device;
use crate::quantization::TensorType;

/// A tensor's place in its graph.
pub(crate) type TensorId = usize;

/// Origin of a tensor, as far as memory depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A weight, a cache or an input.
    Leaf,
    /// View of the same memory: reshape, view, permute, transpose.
    View,
    /// Rows picked from a matrix.
    GetRows,
    /// A matrix product.
    MulMat,
    /// A product with the matrices of chosen experts.
    MulMatId,
    /// Element by element; may overwrite its source.
    InPlace,
    /// Rotary positions; may overwrite its source.
    Rope,
    /// Fused attention.
    FlashAttention,
    /// Anything else that makes a new tensor or writes through a view.
    Other,
}

/// Memory that a tensor already has before the graph is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resident {
    /// Weights on a device.
    Weight(Device),
    /// A cache or state on a device.
    Cache(Device),
}

/// Sources of a tensor: a part of the graph's list of sources.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sources {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

/// One tensor of the graph.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tensor {
    pub(crate) operation: Operation,
    pub(crate) kind: TensorType,
    /// Elements in each dimension.
    pub(crate) shape: [Extent; 4],
    /// Bytes from one element (block) of a dimension to the next.
    pub(crate) strides: [Extent; 4],
    pub(crate) sources: Sources,
    /// The tensor whose memory this one looks at: never itself a view.
    pub(crate) view_of: Option<TensorId>,
    pub(crate) is_input: bool,
    pub(crate) is_output: bool,
    pub(crate) resident: Option<Resident>,
    /// The weight that it is, or is a copy of. Its type is that of the quantization, which
    /// the graph does not know: `kind` is F32.
    pub(crate) weight: Option<(Home, Name)>,
    /// The layer that a leaf belongs to, other than a weight or a cache. Such leaves get their memory before the first
    /// layer, those of all layers.
    pub(crate) reserved_for: Option<u64>,
    /// The owner of the memory that the scheduler copies from.
    pub(crate) copy_of: Option<TensorId>,
    /// The device that the graph's builder fixes for it.
    pub(crate) fixed: Option<Device>,
}

impl Tensor {
    /// Number of elements.
    pub(crate) fn elements(&self) -> Extent {
        self.shape.into_iter().fold(Extent::ONE, |product, extent| product * extent)
    }

    /// Whether there are no gaps between elements, at any quantities.
    pub(crate) fn has_no_gaps(&self) -> bool {
        self.strides == packed_strides(self.kind, self.shape)
    }
}

/// Bytes of so many elements, whole blocks.
pub(crate) fn row_bytes(kind: TensorType, elements: Extent) -> Extent {
    let (block, bytes) = kind.block();
    elements / block * bytes
}

/// Strides of a tensor without gaps.
pub(crate) fn packed_strides(kind: TensorType, shape: [Extent; 4]) -> [Extent; 4] {
    let (block, bytes) = kind.block();
    // a row of no elements may be written as one that no block divides
    let row = if block == 1 { bytes * shape[0] } else { row_bytes(kind, shape[0]) };
    [bytes.into(), row, row * shape[1], row * shape[1] * shape[2]]
}

/// Fills a shape of fewer dimensions with ones.
pub(crate) fn shape<const N: usize>(dimensions: [Extent; N]) -> [Extent; 4] {
    let mut shape = [Extent::ONE; 4];
    shape[..N].copy_from_slice(&dimensions);
    shape
}

/// Tensors that a GPU needs until a later node, because it computes all nodes between at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kept {
    pub(crate) tensors: [TensorId; 2],
    /// The first of the nodes computed at once.
    pub(crate) from: TensorId,
    /// The last.
    pub(crate) until: TensorId,
}
