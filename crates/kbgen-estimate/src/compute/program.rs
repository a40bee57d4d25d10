//! Allocator steps of a graph, computed once and run for any sizes.
//!
//! Which tensor overwrites which, and when each one is released, depends only on the graph. The rules are
//! those of ggml's `src/ggml-alloc.c` (<https://github.com/ggml-org/ggml>, state of October 2026): a result
//! may overwrite a source of the same layout that has no other use, and memory is released after its last
//! use.

use crate::compute::graph::Graph;
use crate::compute::schedule::{Schedule, Slot};
use crate::compute::tensor::{Operation, TensorId};
use crate::compute::tensor_size::{Rule, TensorSize};

/// Allocator step. A slot is an allocated block; sizes are indices into [`Programs::sizes`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Allocates a new slot.
    Allocate { slot: u16, size: u16, buffer: u8 },
    /// Releases a slot.
    Release { slot: u16, size: u16, buffer: u8 },
    /// Releases the end of a slot.
    Shrink { slot: u16, from: u16, to: u16, buffer: u8 },
    /// Allocates the blocks of all layers in [`Programs::reserved`].
    Reserve,
    /// Creates a slot from the block that is reserved for the layer.
    Claim { slot: u16 },
}

/// Steps between two layer boundaries. The numbering of slots in use at the start is fixed, so that layers
/// with the same requirements have equal programs.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    /// Number of slots in use at the start; they are numbered from zero.
    pub(crate) slots_in: usize,
    /// Slots in use at the end, in the order of their numbers in the next part.
    pub(crate) slots_out: Vec<u16>,
    /// Sizes that depend on the weights of the layer.
    pub(crate) layer_weights: Vec<u16>,
}

/// Programs of a graph.
#[derive(Debug)]
pub(crate) struct Programs {
    /// One program before the first layer, one for each kept layer, and one after the last layer.
    pub(crate) parts: Vec<Program>,
    /// Sizes that the programs refer to.
    pub(crate) sizes: Vec<TensorSize>,
    /// Size and buffer of the block that each kept layer reserves before the first layer.
    pub(crate) reserved: Vec<Option<(u16, u8)>>,
}

/// Compiles a scheduled graph. `layers` are the layers that it contains, and `host` is the index of the
/// host's buffer.
pub(crate) fn programs(graph: &mut Graph, schedule: &Schedule, layers: &[u64], host: usize) -> Programs {
    let count = graph.tensors.len();
    let mut lifetimes = Lifetimes {
        graph,
        layers,
        host,
        uses: vec![Uses::default(); count],
        part: 0,
        owners: Vec::new(),
        program: Program::default(),
        programs: Programs { parts: Vec::new(), sizes: Vec::new(), reserved: vec![None; layers.len()] },
    };
    lifetimes.run(schedule);
    lifetimes.programs
}

/// State of a tensor so far.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    children: u32,
    views: u32,
    buffer: usize,
    /// Slot of the tensor, while it is allocated.
    slot: Option<u16>,
    /// Size of the tensor and the part for which it was computed.
    size: Option<(u16, usize)>,
}

struct Lifetimes<'a> {
    graph: &'a mut Graph,
    layers: &'a [u64],
    host: usize,
    uses: Vec<Uses>,
    /// Number of finished parts. Part 0 precedes the layers, so part `n` is layer `n - 1` of `layers`.
    part: usize,
    /// Tensor in each slot of the current part.
    owners: Vec<Option<TensorId>>,
    program: Program,
    programs: Programs,
}

impl Lifetimes<'_> {
    fn run(&mut self, schedule: &Schedule) {
        for leaf in &schedule.leaves {
            match self.graph.get(leaf.tensor).reserved_for {
                Some(layer) => self.reserve(leaf.tensor, leaf.buffer, layer),
                None => self.allocate(leaf.tensor, leaf.buffer),
            }
        }
        for node in &schedule.nodes {
            self.count(*node);
        }
        let mut boundaries = schedule.boundaries.iter().copied().peekable();
        for (place, node) in schedule.nodes.iter().enumerate() {
            while boundaries.next_if_eq(&place).is_some() {
                self.finish_part();
            }
            self.compute(*node);
        }
        self.finish_part();
    }

    /// Counts the uses by a node. Allocates inputs, which ggml does before everything else.
    fn count(&mut self, node: Slot) {
        let tensor = self.graph.get(node.tensor);
        if let (Some(root), false) = (tensor.view_of, tensor.operation == Operation::Leaf) {
            self.uses[root].views += 1;
        }
        if tensor.is_input {
            self.allocate(node.tensor, node.buffer);
        }
        for place in 0..self.graph.sources(node.tensor).len() {
            let source = self.graph.sources(node.tensor)[place];
            self.uses[source].children += 1;
            if self.graph.get(source).is_input {
                self.allocate(source, node.buffer);
            }
        }
    }

    fn compute(&mut self, node: Slot) {
        let count = self.graph.sources(node.tensor).len();
        for place in 0..count {
            self.allocate(self.graph.sources(node.tensor)[place], node.buffer);
        }
        self.allocate(node.tensor, node.buffer);
        for place in 0..count {
            self.end_use(self.graph.sources(node.tensor)[place]);
        }
    }

    /// Reserves memory for a leaf of a layer, together with those of all other layers.
    fn reserve(&mut self, id: TensorId, buffer: usize, layer: u64) {
        self.uses[id].buffer = buffer;
        let size = self.size(id);
        if self.programs.reserved.iter().all(Option::is_none) {
            self.program.steps.push(Step::Reserve);
        }
        let place = self.layers.partition_point(|kept| *kept < layer);
        self.programs.reserved[place] = Some((size, number_of_buffer(buffer)));
    }

    fn allocate(&mut self, id: TensorId, buffer: usize) {
        let tensor = self.graph.get(id);
        if tensor.resident.is_some() || self.uses[id].slot.is_some() || tensor.view_of.is_some() {
            return;
        }
        if tensor.reserved_for.is_some() {
            let slot = number(self.owners.len());
            self.owners.push(Some(id));
            self.uses[id].slot = Some(slot);
            self.program.steps.push(Step::Claim { slot });
            return;
        }
        if matches!(tensor.operation, Operation::InPlace | Operation::Rope) {
            for place in 0..self.graph.sources(id).len() {
                if self.overwrite(id, self.graph.sources(id)[place]) {
                    return;
                }
            }
        }
        let slot = number(self.owners.len());
        self.owners.push(Some(id));
        self.uses[id].buffer = buffer;
        self.uses[id].slot = Some(slot);
        let size = self.size(id);
        self.program.steps.push(Step::Allocate { slot, size, buffer: number_of_buffer(buffer) });
    }

    /// Lets `id` reuse the memory of `parent` if `parent` has no other use.
    fn overwrite(&mut self, id: TensorId, parent: TensorId) -> bool {
        let Uses { children, views, buffer, slot, .. } = self.uses[parent];
        // a view does not own its memory, and ggml considers only owners
        let Some(slot) = slot else { return false };
        if children != 1 || views != 0 || self.graph.get(parent).is_output {
            return false;
        }
        if !self.graph.same_layout(id, parent) {
            return false;
        }
        let from = self.size(parent);
        self.uses[parent].slot = None;
        self.uses[id].buffer = buffer;
        self.uses[id].slot = Some(slot);
        self.owners[usize::from(slot)] = Some(id);
        let to = self.size(id);
        if from != to {
            self.program.steps.push(Step::Shrink { slot, from, to, buffer: number_of_buffer(buffer) });
        }
        true
    }

    /// Removes one use of a source, and releases the source after its last use.
    fn end_use(&mut self, id: TensorId) {
        let uses = &mut self.uses[id];
        uses.children -= 1;
        if uses.children != 0 || uses.views != 0 {
            return;
        }
        match self.graph.get(id).view_of {
            Some(root) => {
                let uses = &mut self.uses[root];
                uses.views -= 1;
                if uses.views == 0 && uses.children == 0 {
                    self.release(root);
                }
            }
            None => self.release(id),
        }
    }

    fn release(&mut self, id: TensorId) {
        let Uses { slot: Some(slot), buffer, .. } = self.uses[id] else { return };
        if self.graph.get(id).is_output {
            return;
        }
        let size = self.size(id);
        self.program.steps.push(Step::Release { slot, size, buffer: number_of_buffer(buffer) });
        self.uses[id].slot = None;
        self.owners[usize::from(slot)] = None;
    }

    /// Returns the index of a tensor's size in the list of sizes.
    fn size(&mut self, id: TensorId) -> u16 {
        let buffer = self.uses[id].buffer;
        if let Some((size, part)) = self.uses[id].size
            && part == self.part
        {
            return size;
        }
        let (layers, part) = (self.layers, self.part);
        let age = |layer| (part - 1 - layers.partition_point(|kept| *kept < layer)) as u64;
        let new = TensorSize::new(self.graph, id, buffer == self.host, age);
        let sizes = &mut self.programs.sizes;
        let size = number(sizes.iter().position(|size| *size == new).unwrap_or_else(|| {
            sizes.push(new);
            sizes.len() - 1
        }));
        let varies = matches!(sizes[usize::from(size)].rule, Rule::LayerWeight { .. });
        if varies && !self.program.layer_weights.contains(&size) {
            self.program.layer_weights.push(size);
        }
        self.uses[id].size = Some((size, self.part));
        size
    }

    /// Closes the current part and renumbers the slots in use: first those shared by all layers, then the rest, each
    /// in the order of allocation.
    fn finish_part(&mut self) {
        let mut program = std::mem::take(&mut self.program);
        let in_use = std::mem::take(&mut self.owners).into_iter().enumerate();
        let mut in_use: Vec<(TensorId, u16)> =
            in_use.filter_map(|(slot, owner)| owner.map(|id| (id, number(slot)))).collect();
        in_use.sort_by_key(|(id, slot)| (!self.graph.is_shared_leaf(*id), *slot));
        for (place, (id, slot)) in in_use.into_iter().enumerate() {
            self.uses[id].slot = Some(number(place));
            self.owners.push(Some(id));
            program.slots_out.push(slot);
        }
        self.program.slots_in = self.owners.len();
        self.programs.parts.push(program);
        self.part += 1;
    }
}

/// Returns the number of a slot or a size.
fn number(place: usize) -> u16 {
    u16::try_from(place).expect("a layer has some thousand tensors at most: its used experts are bounded")
}

/// Returns the number of a buffer.
fn number_of_buffer(place: usize) -> u8 {
    u8::try_from(place).expect("the number of GPUs is bounded")
}
