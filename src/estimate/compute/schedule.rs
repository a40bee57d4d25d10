//! ggml's scheduler, replayed: which device computes each node, and which copies that takes.
//!
//! The rules are those of ggml's `src/ggml-backend.cpp`, `ggml_backend_sched_split_graph`
//! (<https://github.com/ggml-org/ggml>, state of October 2026), for CUDA devices, which
//! support every operation and read no memory but their own.

use std::collections::BTreeMap;

use crate::estimate::compute::allocator::Slot;
use crate::estimate::compute::graph::{Graph, Operation, Resident, Tensor, TensorId};
use crate::estimate::placement::Device;

/// From so many rows on, a GPU computes with weights that lie in the host's memory
/// (`op_offload_min_batch_size` of ggml's CUDA backend).
const OFFLOAD_ROWS: u64 = 32;

/// The nodes and leaves to allocate, copies among them.
#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) nodes: Vec<Slot>,
    pub(crate) leaves: Vec<Slot>,
}

/// Assigns every node a buffer (that of its device: GPUs in order, then the host) and adds
/// the copies between devices to `graph`. `copies` is 4 with pipeline parallelism, else 1.
pub(crate) fn schedule(graph: &mut Graph, gpus: usize, copies: usize) -> Schedule {
    let mut scheduler = Scheduler {
        host: gpus,
        copies,
        backends: vec![None; graph.tensors.len()],
        copied: BTreeMap::new(),
        splits: Vec::new(),
        graph,
    };
    scheduler.assign_fixed();
    scheduler.expand();
    scheduler.assign_rest();
    scheduler.split();
    scheduler.collect()
}

/// Consecutive nodes of one device, with the tensors that it copies in first.
#[derive(Debug)]
struct Split {
    backend: usize,
    /// Index of its first node.
    start: usize,
    inputs: Vec<TensorId>,
}

struct Scheduler<'a> {
    host: usize,
    copies: usize,
    graph: &'a mut Graph,
    backends: Vec<Option<usize>>,
    /// `(tensor, device)` to its copies there.
    copied: BTreeMap<(TensorId, usize), Vec<TensorId>>,
    splits: Vec<Split>,
}

impl Scheduler<'_> {
    fn index(&self, device: Device) -> usize {
        match device {
            Device::Gpu(gpu) => gpu,
            Device::Host => self.host,
        }
    }

    fn resident_backend(&self, id: TensorId) -> Option<usize> {
        match self.graph.get(id).resident? {
            Resident::Weight(device) | Resident::Cache(device) => Some(self.index(device)),
        }
    }

    /// Pass 1: what already has memory, inputs, and operations on weights.
    fn assign_fixed(&mut self) {
        for place in 0..self.graph.leaves.len() {
            let id = self.graph.leaves[place];
            self.backends[id] = self.fixed_backend(id);
        }
        for place in 0..self.graph.nodes.len() {
            let id = self.graph.nodes[place];
            self.backends[id] = self.fixed_backend(id);
        }
    }

    fn fixed_backend(&self, id: TensorId) -> Option<usize> {
        let tensor = self.graph.get(id);
        if let Some(device) = tensor.fixed {
            return Some(self.index(device));
        }
        if let Some(backend) = self.resident_backend(tensor.view_of.unwrap_or(id)) {
            return Some(backend);
        }
        if tensor.is_input {
            return Some(self.host);
        }
        if matches!(tensor.operation, Operation::Rope | Operation::FlashAttention) {
            return None;
        }
        for source in &tensor.sources {
            if let Some(Resident::Weight(device)) = self.graph.get(*source).resident {
                let backend = self.index(device);
                let offload = backend == self.host && self.host > 0;
                return Some(if offload && rows(tensor) >= OFFLOAD_ROWS { 0 } else { backend });
            }
        }
        None
    }

    fn computed(&self) -> Vec<TensorId> {
        let nodes = self.graph.nodes.iter().copied();
        nodes.filter(|id| self.graph.get(*id).operation != Operation::View).collect()
    }

    /// Pass 2: unassigned nodes join their neighbors, GPUs first.
    fn expand(&mut self) {
        let down = self.computed();
        let up: Vec<TensorId> = down.iter().rev().copied().collect();
        for (order, skip_host) in [(&down, true), (&up, true), (&down, false), (&up, false)] {
            let mut current = None;
            for id in order {
                match self.backends[*id] {
                    Some(backend) if skip_host && backend == self.host => current = None,
                    Some(backend) => current = Some(backend),
                    None => self.backends[*id] = current,
                }
            }
        }
    }

    /// Pass 4: views and sources follow; what is left goes to the first device.
    fn assign_rest(&mut self) {
        for place in 0..self.graph.nodes.len() {
            let id = self.graph.nodes[place];
            if let (None, Some(root)) = (self.backends[id], self.graph.get(id).view_of) {
                self.backends[id] = self.backends[root];
            }
            for source in self.graph.get(id).sources.clone() {
                if self.backends[source].is_none() {
                    self.backends[source] = match self.graph.get(source).view_of {
                        Some(root) => self.backends[root],
                        None => self.backends[id],
                    };
                }
            }
            if self.backends[id].is_none() {
                self.backends[id] = Some(0);
            }
        }
    }

    /// Whether a device can read a tensor where it is.
    fn reads(&self, backend: usize, id: TensorId) -> bool {
        let root = self.graph.get(id).view_of.unwrap_or(id);
        self.resident_backend(root).or(self.backends[id]).or(self.backends[root]) == Some(backend)
    }

    /// Pass 5: cuts the order where the device changes, and copies in what a split needs.
    fn split(&mut self) {
        let mut current: Option<usize> = None;
        for place in 0..self.graph.nodes.len() {
            let id = self.graph.nodes[place];
            if self.graph.get(id).operation == Operation::View {
                continue;
            }
            let backend = self.backends[id].unwrap_or(self.host);
            let sources = self.graph.get(id).sources.clone();
            let crowded = self.splits.last().is_some_and(|split| !split.inputs.is_empty());
            let foreign_weight = crowded
                && sources.iter().any(|source| {
                    matches!(self.graph.get(*source).resident, Some(Resident::Weight(_)))
                        && !self.reads(backend, *source)
                });
            if current != Some(backend) || foreign_weight {
                let start = if current.is_none() { 0 } else { place };
                self.splits.push(Split { backend, start, inputs: Vec::new() });
                current = Some(backend);
            }
            for (slot, source) in sources.into_iter().enumerate() {
                if self.backends[source] != Some(backend) && !self.reads(backend, source) {
                    let copy = self.copy_in(source, backend);
                    self.graph.tensors[id].sources[slot] = copy;
                }
            }
        }
    }

    /// The copy of `source` on a device, made on first need.
    fn copy_in(&mut self, source: TensorId, backend: usize) -> TensorId {
        if let Some(copies) = self.copied.get(&(source, backend)) {
            return copies[0];
        }
        let copies: Vec<TensorId> = (0..self.copies).map(|_| self.duplicate(source)).collect();
        let first = copies[0];
        self.copied.insert((source, backend), copies);
        if let Some(split) = self.splits.last_mut() {
            split.inputs.push(source);
        }
        first
    }

    fn duplicate(&mut self, source: TensorId) -> TensorId {
        let original = self.graph.get(source).clone();
        let id = self.graph.new_tensor(Operation::Leaf, original.kind, original.shape, &[]);
        let copy = &mut self.graph.tensors[id];
        copy.strides = original.strides;
        // several copies are in flight at once: none may be overwritten
        copy.is_input = self.copies > 1;
        copy.is_output = self.copies > 1;
        self.backends.push(None);
        id
    }

    /// The order in which everything is allocated.
    fn collect(mut self) -> Schedule {
        let mut leaves = Vec::new();
        if self.copies > 1 {
            leaves = self.copied_leaves();
        }
        let holds = self.holds();
        let mut nodes = Vec::new();
        let ends: Vec<usize> = self.splits.iter().skip(1).map(|split| split.start).collect();
        let last = self.graph.nodes.len();
        for (place, split) in std::mem::take(&mut self.splits).iter().enumerate() {
            let end = ends.get(place).copied().unwrap_or(last);
            for input in &split.inputs {
                // keeps the original alive until it is copied
                let id = self.hold(&[*input]);
                let home = self.backends[*input].unwrap_or(self.host);
                nodes.push(Slot { tensor: id, buffer: home });
                let copy = self.copied[&(*input, split.backend)][0];
                nodes.push(Slot { tensor: copy, buffer: split.backend });
            }
            for position in split.start..end {
                let id = self.graph.nodes[position];
                nodes.push(Slot { tensor: id, buffer: self.backends[id].unwrap_or(self.host) });
                if let Some(hold) = holds.get(&position) {
                    nodes.push(Slot { tensor: *hold, buffer: split.backend });
                }
            }
        }
        leaves.extend(
            self.graph
                .leaves
                .iter()
                .map(|id| Slot { tensor: *id, buffer: self.backends[*id].unwrap_or(self.host) }),
        );
        Schedule { nodes, leaves }
    }

    /// Nodes that do nothing but need what is kept, by the position they follow.
    fn holds(&mut self) -> BTreeMap<usize, TensorId> {
        let mut holds = BTreeMap::new();
        let mut positions = vec![None; self.graph.tensors.len()];
        for (place, id) in self.graph.nodes.iter().enumerate() {
            positions[*id] = Some(place);
        }
        for kept in std::mem::take(&mut self.graph.kept) {
            let (Some(from), Some(until)) = (positions[kept.from], positions[kept.until]) else {
                continue;
            };
            if self.split_at(from) == self.split_at(until) && self.backends[kept.until] != Some(self.host) {
                holds.insert(until, self.hold(&kept.tensors));
            }
        }
        holds
    }

    /// The split that a position belongs to.
    fn split_at(&self, position: usize) -> usize {
        self.splits.partition_point(|split| split.start <= position)
    }

    /// A node that needs `sources` and does nothing.
    fn hold(&mut self, sources: &[TensorId]) -> TensorId {
        let first = self.graph.get(sources[0]).clone();
        let id = self.graph.new_tensor(Operation::Leaf, first.kind, first.shape, sources);
        self.graph.tensors[id].view_of = Some(first.view_of.unwrap_or(sources[0]));
        id
    }

    /// With several copies: those of the inputs, then those of every split, come first.
    fn copied_leaves(&mut self) -> Vec<Slot> {
        let mut leaves = Vec::new();
        for id in self.graph.leaves.clone() {
            if !self.graph.get(id).is_input {
                continue;
            }
            self.graph.tensors[id].is_output = true;
            leaves.push(Slot { tensor: id, buffer: self.host });
            for _ in 1..self.copies {
                let copy = self.duplicate(id);
                leaves.push(Slot { tensor: copy, buffer: self.host });
            }
        }
        for split in &self.splits {
            for input in &split.inputs {
                for copy in &self.copied[&(*input, split.backend)] {
                    leaves.push(Slot { tensor: *copy, buffer: split.backend });
                }
            }
        }
        leaves
    }
}

/// Rows by which a GPU decides whether an operation is worth the transfer of its weights.
fn rows(tensor: &Tensor) -> u64 {
    match tensor.operation {
        Operation::GetRows => 0,
        Operation::MulMat => tensor.shape[1],
        Operation::MulMatId | Operation::Rope => tensor.shape[2],
        _ => tensor.shape[1] * tensor.shape[2] * tensor.shape[3],
    }
}
