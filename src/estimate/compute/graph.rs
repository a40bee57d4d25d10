//! A compute graph as far as memory depends on it: shapes, sources, views and order.
//!
//! Shapes, strides and node order follow ggml (<https://github.com/ggml-org/ggml>,
//! `src/ggml.c`, state of October 2026).

use crate::estimate::placement::Device;
use crate::estimate::quantization::TensorType;

/// A tensor's place in its graph.
pub(crate) type TensorId = usize;

/// What a tensor comes from, as far as memory depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A weight, a cache or an input.
    Leaf,
    /// Another look at the same memory: reshape, view, permute, transpose.
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

/// One tensor of the graph.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    pub(crate) operation: Operation,
    pub(crate) kind: TensorType,
    /// Elements in each dimension.
    pub(crate) shape: [u64; 4],
    /// Bytes from one element (block) of a dimension to the next.
    pub(crate) strides: [u64; 4],
    pub(crate) sources: Vec<TensorId>,
    /// The tensor whose memory this one looks at: never itself a view.
    pub(crate) view_of: Option<TensorId>,
    pub(crate) is_input: bool,
    pub(crate) is_output: bool,
    pub(crate) resident: Option<Resident>,
    /// The device that the graph's builder fixes for it.
    pub(crate) fixed: Option<Device>,
}

impl Tensor {
    /// Bytes from the first to the last element.
    pub(crate) fn bytes(&self) -> u64 {
        if self.shape.contains(&0) {
            return 0;
        }
        let (block, _) = self.kind.block();
        if block == 1 {
            let steps = (0..4).map(|d| (self.shape[d] - 1) * self.strides[d]);
            self.kind.row_size(1).0 + steps.sum::<u64>()
        } else {
            let steps = (1..4).map(|d| (self.shape[d] - 1) * self.strides[d]);
            self.shape[0] * self.strides[0] / block + steps.sum::<u64>()
        }
    }

    /// Number of elements.
    pub(crate) fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Same type, shape and strides: one can take the other's place in memory.
    pub(crate) fn same_layout(&self, other: &Tensor) -> bool {
        self.kind == other.kind && self.shape == other.shape && self.strides == other.strides
    }
}

/// Strides of a tensor without gaps.
fn packed_strides(kind: TensorType, shape: [u64; 4]) -> [u64; 4] {
    let (block, bytes) = kind.block();
    let row = bytes * (shape[0] / block);
    [bytes, row, row * shape[1], row * shape[1] * shape[2]]
}

/// Fills a shape of fewer dimensions with ones.
pub(crate) fn shape<const N: usize>(dimensions: [u64; N]) -> [u64; 4] {
    let mut shape = [1; 4];
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

/// Tensors, and the order in which they are computed.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) tensors: Vec<Tensor>,
    /// Computed tensors in order.
    pub(crate) nodes: Vec<TensorId>,
    /// Weights, caches and inputs in the order in which they are first used.
    pub(crate) leaves: Vec<TensorId>,
    pub(crate) kept: Vec<Kept>,
    visited: Vec<bool>,
}

impl Graph {
    /// The tensor with this id.
    pub(crate) fn get(&self, id: TensorId) -> &Tensor {
        &self.tensors[id]
    }

    /// The shape of a tensor.
    pub(crate) fn shape(&self, id: TensorId) -> [u64; 4] {
        self.tensors[id].shape
    }

    fn push(&mut self, tensor: Tensor) -> TensorId {
        self.tensors.push(tensor);
        self.visited.push(false);
        self.tensors.len() - 1
    }

    /// A new tensor without gaps.
    pub(crate) fn new_tensor(
        &mut self,
        operation: Operation,
        kind: TensorType,
        shape: [u64; 4],
        sources: &[TensorId],
    ) -> TensorId {
        self.push(Tensor {
            operation,
            kind,
            shape,
            strides: packed_strides(kind, shape),
            sources: sources.to_vec(),
            view_of: None,
            is_input: false,
            is_output: false,
            resident: None,
            fixed: None,
        })
    }

    /// A tensor that the caller fills before each run.
    pub(crate) fn input(&mut self, kind: TensorType, shape: [u64; 4]) -> TensorId {
        let id = self.new_tensor(Operation::Leaf, kind, shape, &[]);
        self.tensors[id].is_input = true;
        id
    }

    /// A weight, a cache or a state.
    pub(crate) fn resident(&mut self, kind: TensorType, shape: [u64; 4], at: Resident) -> TensorId {
        let id = self.new_tensor(Operation::Leaf, kind, shape, &[]);
        self.tensors[id].resident = Some(at);
        id
    }

    /// A node that writes into the memory of `target` (the caller gives the sources).
    pub(crate) fn write_into(&mut self, target: TensorId, sources: &[TensorId]) -> TensorId {
        let id = self.view_with(target, self.shape(target), self.get(target).strides);
        let node = &mut self.tensors[id];
        node.operation = Operation::Other;
        node.sources = sources.to_vec();
        id
    }

    fn view_with(&mut self, source: TensorId, shape: [u64; 4], strides: [u64; 4]) -> TensorId {
        let root = self.get(source).view_of.unwrap_or(source);
        let kind = self.get(source).kind;
        let id = self.new_tensor(Operation::View, kind, shape, &[source]);
        self.tensors[id].strides = strides;
        self.tensors[id].view_of = Some(root);
        id
    }

    /// The same elements in another shape, without gaps.
    pub(crate) fn reshape(&mut self, source: TensorId, shape: [u64; 4]) -> TensorId {
        let strides = packed_strides(self.get(source).kind, shape);
        self.view_with(source, shape, strides)
    }

    /// A part of a tensor: `strides` are those of dimensions 1 to 3.
    pub(crate) fn view(&mut self, source: TensorId, shape: [u64; 4], strides: [u64; 3]) -> TensorId {
        let (_, element) = self.get(source).kind.block();
        self.view_with(source, shape, [element, strides[0], strides[1], strides[2]])
    }

    /// The dimension `d` of the source becomes dimension `axes[d]`.
    pub(crate) fn permute(&mut self, source: TensorId, axes: [usize; 4]) -> TensorId {
        let from = self.get(source).clone();
        let (mut shape, mut strides) = ([0; 4], [0; 4]);
        for d in 0..4 {
            shape[axes[d]] = from.shape[d];
            strides[axes[d]] = from.strides[d];
        }
        self.view_with(source, shape, strides)
    }

    /// Swaps the first two dimensions.
    pub(crate) fn transpose(&mut self, source: TensorId) -> TensorId {
        self.permute(source, [1, 0, 2, 3])
    }

    /// A copy without gaps in another shape.
    pub(crate) fn packed(&mut self, source: TensorId, shape: [u64; 4]) -> TensorId {
        let kind = self.get(source).kind;
        self.new_tensor(Operation::Other, kind, shape, &[source])
    }

    /// `weight` times `x`.
    pub(crate) fn mul_mat(&mut self, weight: TensorId, x: TensorId) -> TensorId {
        let (w, x_shape) = (self.shape(weight), self.shape(x));
        let shape = [w[1], x_shape[1], x_shape[2], x_shape[3]];
        self.new_tensor(Operation::MulMat, TensorType::F32, shape, &[weight, x])
    }

    /// The chosen matrices of `weights` times `x`.
    pub(crate) fn mul_mat_id(&mut self, weights: TensorId, x: TensorId, ids: TensorId) -> TensorId {
        let (w, x_shape, chosen) = (self.shape(weights), self.shape(x), self.shape(ids));
        let shape = [w[1], chosen[0], x_shape[2], 1];
        self.new_tensor(Operation::MulMatId, TensorType::F32, shape, &[weights, x, ids])
    }

    /// Rows of `table` by index.
    pub(crate) fn get_rows(&mut self, table: TensorId, rows: TensorId) -> TensorId {
        let (width, index) = (self.shape(table)[0], self.shape(rows));
        let shape = [width, index[0], index[1], index[2]];
        self.new_tensor(Operation::GetRows, TensorType::F32, shape, &[table, rows])
    }

    /// An operation that may overwrite its first source, which gives the shape.
    pub(crate) fn in_place(&mut self, sources: &[TensorId]) -> TensorId {
        let (kind, shape) = (self.get(sources[0]).kind, self.shape(sources[0]));
        self.new_tensor(Operation::InPlace, kind, shape, sources)
    }

    /// An operation with a result of its own, as large as the first source.
    pub(crate) fn fresh(&mut self, sources: &[TensorId]) -> TensorId {
        let (kind, shape) = (self.get(sources[0]).kind, self.shape(sources[0]));
        self.new_tensor(Operation::Other, kind, shape, sources)
    }

    /// Marks a result that stays readable after the run.
    pub(crate) fn mark_output(&mut self, id: TensorId) {
        self.tensors[id].is_output = true;
    }

    /// Adds a tensor to the graph, after everything it needs.
    pub(crate) fn expand(&mut self, id: TensorId) {
        if self.visited[id] {
            return;
        }
        self.visited[id] = true;
        for place in 0..self.tensors[id].sources.len() {
            self.expand(self.tensors[id].sources[place]);
        }
        match self.tensors[id].operation {
            Operation::Leaf => self.leaves.push(id),
            _ => self.nodes.push(id),
        }
    }
}
