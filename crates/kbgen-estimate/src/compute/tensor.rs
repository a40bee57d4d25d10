//! Tensor of a graph, reduced to what memory depends on.

use crate::compute::extent::Extent;
use crate::names::{Home, Name};
use crate::placement::Device;
use crate::quantization::TensorType;

/// Index of a tensor in its graph.
pub(crate) type TensorId = usize;

/// Operation that computes a tensor, as far as memory depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A weight, a cache or an input.
    Leaf,
    /// View of the same memory: reshape, view, permute, transpose.
    View,
    /// Rows selected from a matrix.
    GetRows,
    /// A matrix product.
    MulMat,
    /// A product with the matrices of selected experts.
    MulMatId,
    /// Element-wise operation; may overwrite its source.
    InPlace,
    /// Rotary positions; may overwrite its source.
    Rope,
    /// Fused attention.
    FlashAttention,
    /// Any other operation that creates a tensor or writes through a view.
    Other,
}

/// Memory that a tensor has before the graph is allocated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resident {
    /// Weights on a device.
    Weight(Device),
    /// A cache or state on a device.
    Cache(Device),
}

/// Range of a tensor's sources in the list of all sources.
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
    /// The tensor that owns the memory of this view; never itself a view.
    pub(crate) view_of: Option<TensorId>,
    pub(crate) is_input: bool,
    pub(crate) is_output: bool,
    pub(crate) resident: Option<Resident>,
    /// The weight that this tensor is, or is a copy of. Its type depends on the quantization, which the graph
    /// does not know, so `kind` is F32.
    pub(crate) weight: Option<(Home, Name)>,
    /// The layer of a leaf that is neither a weight nor a cache. Such leaves of all layers are allocated
    /// before the first layer.
    pub(crate) reserved_for: Option<u64>,
    /// The owner of the memory that the scheduler copies from.
    pub(crate) copy_of: Option<TensorId>,
    /// The device, if the graph's builder sets it.
    pub(crate) fixed: Option<Device>,
}

impl Tensor {
    pub(crate) fn elements(&self) -> Extent {
        self.shape.into_iter().fold(Extent::ONE, |product, extent| product * extent)
    }

    /// Returns whether there are no gaps between elements, whatever the quantities.
    pub(crate) fn has_no_gaps(&self) -> bool {
        self.strides == packed_strides(self.kind, self.shape)
    }
}

/// Returns the bytes of a number of elements, which must be whole blocks.
pub(crate) fn row_bytes(kind: TensorType, elements: Extent) -> Extent {
    let (block, bytes) = kind.block();
    elements / block * bytes
}

/// Returns the strides of a tensor without gaps.
pub(crate) fn packed_strides(kind: TensorType, shape: [Extent; 4]) -> [Extent; 4] {
    let (block, bytes) = kind.block();
    // an extent of zero is not divisible by the block size
    let row = if block == 1 { bytes * shape[0] } else { row_bytes(kind, shape[0]) };
    [bytes.into(), row, row * shape[1], row * shape[1] * shape[2]]
}

/// Pads a shape with ones to four dimensions.
pub(crate) fn shape<const N: usize>(dimensions: [Extent; N]) -> [Extent; 4] {
    let mut shape = [Extent::ONE; 4];
    shape[..N].copy_from_slice(&dimensions);
    shape
}

/// Nodes that a GPU computes with one kernel, and tensors that must stay allocated until the last of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FusedNodes {
    pub(crate) tensors: [TensorId; 2],
    /// The first node of the kernel.
    pub(crate) from: TensorId,
    /// The last node of the kernel.
    pub(crate) until: TensorId,
}
