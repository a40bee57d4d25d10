//! Simulates ggml's scheduler: assigns nodes to devices and adds copies between devices.
//!
//! The rules are those of ggml's `src/ggml-backend.cpp`, `ggml_backend_sched_split_graph`
//! (<https://github.com/ggml-org/ggml>, state of October 2026), for CUDA devices, which support every
//! operation and read only their own memory.

use std::collections::BTreeMap;

use crate::compute::extent::Extent;
use crate::compute::graph::Graph;
use crate::compute::schedule::{Carried, Schedule, Slot};
use crate::compute::tensor::{Operation, Resident, TensorId};
use crate::placement::Device;

/// Minimum number of rows for which a GPU computes with weights in host memory (`op_offload_min_batch_size` of ggml's
/// CUDA backend).
const OFFLOAD_ROWS: u64 = 32;

/// Assigns every node to the buffer of its device (GPUs in order, then the host), and adds the copies between
/// devices to `graph`. `copies` is 4 with pipeline parallelism, else 1.
pub(crate) fn schedule(graph: &mut Graph, gpus: usize, copies: usize) -> Schedule {
    let mut scheduler = Scheduler {
        host: gpus,
        copies,
        backends: vec![None; graph.tensors.len()],
        copied: BTreeMap::new(),
        splits: Vec::new(),
        carried: vec![Carried::default(); graph.boundaries.len()],
        shared_copies: 0,
        graph,
    };
    scheduler.assign_fixed();
    scheduler.expand();
    scheduler.assign_rest();
    scheduler.split();
    scheduler.collect()
}

/// Consecutive nodes on one device, and the tensors that are copied to it first.
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
    /// Copies on a device, by `(tensor, device)`.
    copied: BTreeMap<(TensorId, usize), Vec<TensorId>>,
    splits: Vec<Split>,
    carried: Vec<Carried>,
    /// Number of copied tensors that all layers share.
    shared_copies: usize,
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

    /// Pass 1: assigns resident tensors, inputs, and operations on weights.
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

    fn fixed_backend(&mut self, id: TensorId) -> Option<usize> {
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
        for place in 0..self.graph.sources(id).len() {
            let source = self.graph.sources(id)[place];
            if let Some(Resident::Weight(device)) = self.graph.get(source).resident {
                let backend = self.index(device);
                let offload = backend == self.host && self.host > 0;
                return Some(if offload && self.is_worth_a_transfer(id) { 0 } else { backend });
            }
        }
        None
    }

    /// Returns whether a GPU computes an operation although its weights are in host memory.
    fn is_worth_a_transfer(&mut self, id: TensorId) -> bool {
        let tensor = self.graph.get(id);
        let [_, rows, matrices, streams] = tensor.shape;
        let rows = match tensor.operation {
            Operation::GetRows => Extent::ZERO,
            Operation::MulMat => rows,
            Operation::MulMatId | Operation::Rope => matrices,
            _ => rows * matrices * streams,
        };
        self.graph.at_least(rows, OFFLOAD_ROWS.into())
    }

    /// Pass 2: assigns the remaining nodes to the device of their neighbors, GPUs first.
    fn expand(&mut self) {
        for (upwards, skip_host) in [(false, true), (true, true), (false, false), (true, false)] {
            self.sweep(upwards, skip_host);
        }
    }

    fn sweep(&mut self, upwards: bool, skip_host: bool) {
        let count = self.graph.nodes.len();
        let boundaries = self.graph.boundaries.clone();
        let mut current = None;
        for part in 0..=boundaries.len() {
            let part = if upwards { boundaries.len() - part } else { part };
            let start = part.checked_sub(1).map_or(0, |before| boundaries[before]);
            let end = boundaries.get(part).copied().unwrap_or(count);
            for place in 0..end - start {
                let id = self.graph.nodes[if upwards { end - 1 - place } else { start + place }];
                match self.backends[id] {
                    _ if self.graph.get(id).operation == Operation::View => {}
                    Some(backend) if skip_host && backend == self.host => current = None,
                    Some(backend) => current = Some(backend),
                    None => self.backends[id] = current,
                }
            }
            let boundary = if upwards { part.checked_sub(1) } else { Some(part) };
            if let Some(carried) = boundary.and_then(|boundary| self.carried.get_mut(boundary)) {
                carried.sweeps.push(current);
            }
        }
    }

    /// Pass 4: assigns views and sources, then the rest to the first device.
    fn assign_rest(&mut self) {
        for place in 0..self.graph.nodes.len() {
            let id = self.graph.nodes[place];
            if let (None, Some(root)) = (self.backends[id], self.graph.get(id).view_of) {
                self.backends[id] = self.backends[root];
            }
            for slot in 0..self.graph.sources(id).len() {
                let source = self.graph.sources(id)[slot];
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

    /// Returns whether a device can read a tensor without a copy.
    fn reads(&self, backend: usize, id: TensorId) -> bool {
        let root = self.graph.get(id).view_of.unwrap_or(id);
        self.resident_backend(root).or(self.backends[id]).or(self.backends[root]) == Some(backend)
    }

    /// Pass 5: splits the nodes where the device changes, and copies in the tensors that each split needs.
    fn split(&mut self) {
        let mut current: Option<usize> = None;
        let mut boundary = 0;
        for place in 0..self.graph.nodes.len() {
            while self.graph.boundaries.get(boundary) == Some(&place) {
                let carried = &mut self.carried[boundary];
                carried.backend = current;
                carried.splits = self.splits.len();
                carried.inputs = self.splits.last().map_or(0, |split| split.inputs.len());
                carried.copies = self.copied.len();
                carried.shared_copies = self.shared_copies;
                boundary += 1;
            }
            let id = self.graph.nodes[place];
            if self.graph.get(id).operation == Operation::View {
                continue;
            }
            let backend = self.backends[id].unwrap_or(self.host);
            let count = self.graph.sources(id).len();
            let crowded = self.splits.last().is_some_and(|split| !split.inputs.is_empty());
            let foreign_weight = crowded
                && self.graph.sources(id).iter().any(|source| {
                    matches!(self.graph.get(*source).resident, Some(Resident::Weight(_)))
                        && !self.reads(backend, *source)
                });
            if current != Some(backend) || foreign_weight {
                let start = if current.is_none() { 0 } else { place };
                self.splits.push(Split { backend, start, inputs: Vec::new() });
                current = Some(backend);
            }
            for slot in 0..count {
                let source = self.graph.sources(id)[slot];
                if self.backends[source] != Some(backend) && !self.reads(backend, source) {
                    let copy = self.copy_in(source, backend);
                    self.graph.replace_source(id, slot, copy);
                }
            }
        }
    }

    /// Returns the copy of `source` on a device, creating it on first use.
    fn copy_in(&mut self, source: TensorId, backend: usize) -> TensorId {
        if let Some(copies) = self.copied.get(&(source, backend)) {
            return copies[0];
        }
        let copies: Vec<TensorId> = (0..self.copies).map(|_| self.duplicate(source)).collect();
        let first = copies[0];
        self.copied.insert((source, backend), copies);
        self.shared_copies += usize::from(self.graph.is_shared(source));
        if let Some(split) = self.splits.last_mut() {
            split.inputs.push(source);
        }
        first
    }

    fn duplicate(&mut self, source: TensorId) -> TensorId {
        let original = *self.graph.get(source);
        let id = self.graph.new_tensor(Operation::Leaf, original.kind, original.shape, &[]);
        let copy = &mut self.graph.tensors[id];
        copy.strides = original.strides;
        copy.weight = original.weight;
        copy.copy_of = Some(original.view_of.unwrap_or(source));
        // several copies are in use at once, so none may be overwritten
        copy.is_input = self.copies > 1;
        copy.is_output = self.copies > 1;
        self.backends.push(None);
        id
    }

    /// Returns the order in which tensors are allocated.
    fn collect(mut self) -> Schedule {
        let mut leaves = Vec::new();
        if self.copies > 1 {
            leaves = self.copied_leaves();
        }
        let holds = self.holds();
        let mut boundaries = Vec::new();
        let marks = std::mem::take(&mut self.graph.boundaries);
        let mut unmarked = marks.iter().peekable();
        let split_inputs = self.splits.iter().map(|split| split.inputs.len()).collect();
        let mut nodes = Vec::new();
        let ends: Vec<usize> = self.splits.iter().skip(1).map(|split| split.start).collect();
        let last = self.graph.nodes.len();
        for (place, split) in std::mem::take(&mut self.splits).iter().enumerate() {
            let end = ends.get(place).copied().unwrap_or(last);
            while unmarked.next_if_eq(&&split.start).is_some() {
                boundaries.push(nodes.len());
            }
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
                while unmarked.next_if_eq(&&position).is_some() {
                    boundaries.push(nodes.len());
                }
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
        let pipelined = self.copies > 1;
        Schedule { nodes, leaves, boundaries, carried: self.carried, split_inputs, pipelined }
    }

    /// Returns no-op nodes that extend the lifetime of tensors in fused nodes, by the position before them.
    fn holds(&mut self) -> BTreeMap<usize, TensorId> {
        let mut holds = BTreeMap::new();
        let mut positions = vec![None; self.graph.tensors.len()];
        for (place, id) in self.graph.nodes.iter().enumerate() {
            positions[*id] = Some(place);
        }
        for fused in std::mem::take(&mut self.graph.fused) {
            let (Some(from), Some(until)) = (positions[fused.from], positions[fused.until]) else {
                continue;
            };
            if self.split_at(from) == self.split_at(until) && self.backends[fused.until] != Some(self.host) {
                holds.insert(until, self.hold(&fused.tensors));
            }
        }
        holds
    }

    /// Returns the split that contains a position.
    fn split_at(&self, position: usize) -> usize {
        self.splits.partition_point(|split| split.start <= position)
    }

    /// Adds a node that uses `sources` and computes nothing.
    fn hold(&mut self, sources: &[TensorId]) -> TensorId {
        let first = *self.graph.get(sources[0]);
        let id = self.graph.new_tensor(Operation::Leaf, first.kind, first.shape, sources);
        self.graph.tensors[id].view_of = Some(first.view_of.unwrap_or(sources[0]));
        id
    }

    /// Returns the leaves that precede all others with several copies: the copies of the inputs, then those
    /// of every split.
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
