//! Compute graph, reduced to what memory depends on: shapes, sources, views and order.
//!
//! Shapes, strides and node order follow ggml (<https://github.com/ggml-org/ggml>,
//! `src/ggml.c`, state of October 2026).

use crate::compute::extent::{Extent, Quantities};
use crate::compute::size::Size;
use crate::compute::tensor::{FusedNodes, Operation, Resident, Sources, Tensor, TensorId, packed_strides};
use crate::names::{Home, Name};
use crate::placement::Device;
use crate::quantization::TensorType;

/// Comparison that a graph depends on. If its result differs for other quantities, so does the graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    /// Result of `first == second`.
    Equal(Extent, Extent, bool),
    /// Result of `first >= second`.
    AtLeast(Extent, Extent, bool),
}

impl Guard {
    /// Returns whether the comparison has the same result for these quantities.
    pub(crate) fn holds<N: Size>(self, quantities: &Quantities<N>, horizon: &mut N::Horizon) -> bool {
        match self {
            Guard::Equal(a, b, answer) => a.value(quantities).equals(b.value(quantities), horizon) == answer,
            Guard::AtLeast(a, b, answer) => {
                a.value(quantities).at_least(b.value(quantities), horizon) == answer
            }
        }
    }
}

/// Tensors, and the order in which they are computed.
#[derive(Debug)]
pub(crate) struct Graph {
    /// Quantities that comparisons are evaluated with.
    quantities: Quantities<u64>,
    /// Every comparison whose result depends on the quantities.
    pub(crate) guards: Vec<Guard>,
    pub(crate) tensors: Vec<Tensor>,
    /// Sources of all tensors, concatenated.
    sources: Vec<TensorId>,
    /// Computed tensors in order.
    pub(crate) nodes: Vec<TensorId>,
    /// Weights, caches and inputs in the order in which they are first used.
    pub(crate) leaves: Vec<TensorId>,
    pub(crate) fused: Vec<FusedNodes>,
    /// Whether flash attention reserves memory behind its result for F16 copies of a cache of another type.
    pub(crate) reserves_copies: bool,
    /// Indices in `nodes` at which a layer begins, and at which the last one ends. Nodes of a layer that are
    /// only added with the next one count toward the next one.
    pub(crate) boundaries: Vec<usize>,
    /// Number of tensors created before the first layer.
    count_before_layers: usize,
    visited: Vec<bool>,
}

impl Graph {
    /// Creates an empty graph.
    pub(crate) fn new(quantities: Quantities<u64>) -> Graph {
        Graph {
            quantities,
            guards: Vec::new(),
            tensors: Vec::new(),
            sources: Vec::new(),
            nodes: Vec::new(),
            leaves: Vec::new(),
            fused: Vec::new(),
            reserves_copies: true,
            boundaries: Vec::new(),
            count_before_layers: 0,
            visited: Vec::new(),
        }
    }

    /// Marks the start of the next layer, or the end of the last one.
    pub(crate) fn mark_boundary(&mut self) {
        if self.boundaries.is_empty() {
            self.count_before_layers = self.tensors.len();
        }
        self.boundaries.push(self.nodes.len());
    }

    /// Returns whether a tensor is a leaf that belongs to no layer, or a copy of one.
    pub(crate) fn is_shared_leaf(&self, id: TensorId) -> bool {
        let original = self.tensors[id].copy_of.unwrap_or(id);
        self.tensors[original].operation == Operation::Leaf && self.is_shared(original)
    }

    /// Returns whether a cache is copied between devices. If not, its type matters only by whether it is
    /// quantized and whether it is F16.
    pub(crate) fn copies_cache(&self) -> bool {
        let is_cache = |id: TensorId| matches!(self.tensors[id].resident, Some(Resident::Cache(_)));
        self.tensors.iter().any(|tensor| tensor.copy_of.is_some_and(is_cache))
    }

    /// Returns whether a tensor belongs to no layer: it was created before the layers, or it is a leaf that
    /// the first layer to use it created for all.
    pub(crate) fn is_shared(&self, id: TensorId) -> bool {
        let tensor = &self.tensors[id];
        let of_layer = matches!(tensor.weight, Some((Home::Layer(_) | Home::Experts(_), _)))
            || matches!(tensor.resident, Some(Resident::Cache(_)))
            || tensor.reserved_for.is_some();
        id < self.count_before_layers || (tensor.operation == Operation::Leaf && !of_layer)
    }

    fn guard(&mut self, guard: Guard) {
        if !self.guards.contains(&guard) {
            self.guards.push(guard);
        }
    }

    /// Returns whether two extents are equal, and records the comparison if it depends on the quantities.
    pub(crate) fn equal(&mut self, a: Extent, b: Extent) -> bool {
        if a == b {
            return true;
        }
        let answer = a.value(&self.quantities) == b.value(&self.quantities);
        if a.constant().is_none() || b.constant().is_none() {
            self.guard(Guard::Equal(a, b, answer));
        }
        answer
    }

    /// Returns whether `a` is at least `b`, and records the comparison if it depends on the quantities.
    pub(crate) fn at_least(&mut self, a: Extent, b: Extent) -> bool {
        let answer = a.value(&self.quantities) >= b.value(&self.quantities);
        if a.constant().is_none() || b.constant().is_none() {
            self.guard(Guard::AtLeast(a, b, answer));
        }
        answer
    }

    /// Returns whether the extents of every pair are equal. Records no comparison if two constants differ.
    fn all_equal(&mut self, pairs: impl Iterator<Item = (Extent, Extent)> + Clone) -> bool {
        let differ = |(a, b): (Extent, Extent)| a != b && a.constant().is_some() && b.constant().is_some();
        !pairs.clone().any(differ) && pairs.into_iter().all(|(a, b)| self.equal(a, b))
    }

    /// Returns whether two tensors have the same type, shape and strides, so that one can overwrite the
    /// other.
    pub(crate) fn same_layout(&mut self, a: TensorId, b: TensorId) -> bool {
        let (a, b) = (&self.tensors[a], &self.tensors[b]);
        let (shapes, strides) = ((a.shape, b.shape), (a.strides, b.strides));
        let pairs = shapes.0.into_iter().zip(shapes.1).chain(strides.0.into_iter().zip(strides.1));
        a.kind == b.kind && self.all_equal(pairs)
    }

    /// Returns whether a tensor has no gaps between its elements.
    pub(crate) fn is_packed(&mut self, id: TensorId) -> bool {
        let tensor = &self.tensors[id];
        let packed = packed_strides(tensor.kind, tensor.shape);
        self.all_equal(tensor.strides.into_iter().zip(packed))
    }

    pub(crate) fn get(&self, id: TensorId) -> &Tensor {
        &self.tensors[id]
    }

    pub(crate) fn sources(&self, id: TensorId) -> &[TensorId] {
        let Sources { first, count } = self.tensors[id].sources;
        &self.sources[first..first + count]
    }

    /// Replaces a source of a tensor.
    pub(crate) fn replace_source(&mut self, id: TensorId, place: usize, source: TensorId) {
        self.sources[self.tensors[id].sources.first + place] = source;
    }

    pub(crate) fn shape(&self, id: TensorId) -> [Extent; 4] {
        self.tensors[id].shape
    }

    fn push(
        &mut self,
        operation: Operation,
        kind: TensorType,
        (shape, strides): ([Extent; 4], [Extent; 4]),
        sources: &[TensorId],
    ) -> TensorId {
        let first = self.sources.len();
        self.sources.extend_from_slice(sources);
        self.tensors.push(Tensor {
            operation,
            kind,
            shape,
            strides,
            sources: Sources { first, count: sources.len() },
            view_of: None,
            is_input: false,
            is_output: false,
            resident: None,
            weight: None,
            reserved_for: None,
            copy_of: None,
            fixed: None,
        });
        self.visited.push(false);
        self.tensors.len() - 1
    }

    /// Adds a tensor without gaps.
    pub(crate) fn new_tensor(
        &mut self,
        operation: Operation,
        kind: TensorType,
        shape: [Extent; 4],
        sources: &[TensorId],
    ) -> TensorId {
        self.push(operation, kind, (shape, packed_strides(kind, shape)), sources)
    }

    /// Adds an input, which the caller fills before each run.
    pub(crate) fn input(&mut self, kind: TensorType, shape: [Extent; 4]) -> TensorId {
        let id = self.new_tensor(Operation::Leaf, kind, shape, &[]);
        self.tensors[id].is_input = true;
        id
    }

    /// Adds a leaf of a layer that the layer itself fills.
    pub(crate) fn reserved(&mut self, kind: TensorType, shape: [Extent; 4], layer: u64) -> TensorId {
        let id = self.new_tensor(Operation::Leaf, kind, shape, &[]);
        self.tensors[id].reserved_for = Some(layer);
        id
    }

    /// Adds a weight; see [`Tensor::weight`].
    pub(crate) fn weight(&mut self, home: Home, name: Name, shape: [Extent; 4], at: Device) -> TensorId {
        let id = self.resident(TensorType::F32, shape, Resident::Weight(at));
        self.tensors[id].weight = Some((home, name));
        id
    }

    /// Adds a cache or a state.
    pub(crate) fn resident(&mut self, kind: TensorType, shape: [Extent; 4], at: Resident) -> TensorId {
        let id = self.new_tensor(Operation::Leaf, kind, shape, &[]);
        self.tensors[id].resident = Some(at);
        id
    }

    /// Adds a node that writes into the memory of `target`; `sources` must contain every tensor that it
    /// reads.
    pub(crate) fn write_into(&mut self, target: TensorId, sources: &[TensorId]) -> TensorId {
        let Tensor { kind, shape, strides, view_of, .. } = *self.get(target);
        let id = self.push(Operation::Other, kind, (shape, strides), sources);
        self.tensors[id].view_of = Some(view_of.unwrap_or(target));
        id
    }

    fn view_with(&mut self, source: TensorId, shape: [Extent; 4], strides: [Extent; 4]) -> TensorId {
        let Tensor { kind, view_of, .. } = *self.get(source);
        let id = self.push(Operation::View, kind, (shape, strides), &[source]);
        self.tensors[id].view_of = Some(view_of.unwrap_or(source));
        id
    }

    /// Adds a view of the same elements in another shape, without gaps.
    pub(crate) fn reshape(&mut self, source: TensorId, shape: [Extent; 4]) -> TensorId {
        let strides = packed_strides(self.get(source).kind, shape);
        self.view_with(source, shape, strides)
    }

    /// Adds a view of a part of a tensor; `strides` are those of dimensions 1 to 3.
    pub(crate) fn view(&mut self, source: TensorId, shape: [Extent; 4], strides: [Extent; 3]) -> TensorId {
        let (_, element) = self.get(source).kind.block();
        self.view_with(source, shape, [element.into(), strides[0], strides[1], strides[2]])
    }

    /// Adds a view in which dimension `axes[d]` is dimension `d` of the source.
    pub(crate) fn permute(&mut self, source: TensorId, axes: [usize; 4]) -> TensorId {
        let from = *self.get(source);
        let (mut shape, mut strides) = ([Extent::ZERO; 4], [Extent::ZERO; 4]);
        for d in 0..4 {
            shape[axes[d]] = from.shape[d];
            strides[axes[d]] = from.strides[d];
        }
        self.view_with(source, shape, strides)
    }

    /// Adds a view with the first two dimensions swapped.
    pub(crate) fn transpose(&mut self, source: TensorId) -> TensorId {
        self.permute(source, [1, 0, 2, 3])
    }

    /// Adds a copy without gaps in another shape.
    pub(crate) fn packed(&mut self, source: TensorId, shape: [Extent; 4]) -> TensorId {
        let kind = self.get(source).kind;
        self.new_tensor(Operation::Other, kind, shape, &[source])
    }

    /// Adds the product of `weight` and `x`.
    pub(crate) fn mul_mat(&mut self, weight: TensorId, x: TensorId) -> TensorId {
        let (w, x_shape) = (self.shape(weight), self.shape(x));
        let shape = [w[1], x_shape[1], x_shape[2], x_shape[3]];
        self.new_tensor(Operation::MulMat, TensorType::F32, shape, &[weight, x])
    }

    /// Adds the products of `x` with the matrices of `weights` that `ids` selects.
    pub(crate) fn mul_mat_id(&mut self, weights: TensorId, x: TensorId, ids: TensorId) -> TensorId {
        let (w, x_shape, chosen) = (self.shape(weights), self.shape(x), self.shape(ids));
        let shape = [w[1], chosen[0], x_shape[2], Extent::ONE];
        self.new_tensor(Operation::MulMatId, TensorType::F32, shape, &[weights, x, ids])
    }

    /// Adds a lookup of rows of `table` by index.
    pub(crate) fn get_rows(&mut self, table: TensorId, rows: TensorId) -> TensorId {
        let (width, index) = (self.shape(table)[0], self.shape(rows));
        let shape = [width, index[0], index[1], index[2]];
        self.new_tensor(Operation::GetRows, TensorType::F32, shape, &[table, rows])
    }

    /// Adds an operation with the shape of its first source, which it may overwrite.
    pub(crate) fn in_place(&mut self, sources: &[TensorId]) -> TensorId {
        let (kind, shape) = (self.get(sources[0]).kind, self.shape(sources[0]));
        self.new_tensor(Operation::InPlace, kind, shape, sources)
    }

    /// Adds an operation with the shape of its first source, which it does not overwrite.
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
        for place in 0..self.sources(id).len() {
            self.expand(self.sources(id)[place]);
        }
        match self.tensors[id].operation {
            Operation::Leaf => self.leaves.push(id),
            _ => self.nodes.push(id),
        }
    }
}
