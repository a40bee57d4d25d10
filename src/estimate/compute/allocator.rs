//! ggml's graph allocator, replayed without memory: the size that each buffer reaches.
//!
//! The rules are those of ggml's `src/ggml-alloc.c`
//! (<https://github.com/ggml-org/ggml>, state of October 2026): best fit among free blocks,
//! results that overwrite a source nobody else needs, and release after the last use.

use crate::estimate::compute::graph::{Operation, Tensor, TensorId};
use crate::estimate::compute::linear::{Horizon, Linear};

/// One growing buffer.
#[derive(Debug)]
struct Buffer {
    alignment: u64,
    /// Free blocks `(offset, size)`, by offset as ggml keeps them; the last has no end.
    free: Vec<(Linear, Linear)>,
    largest: Linear,
}

/// Larger than any buffer.
const ENDLESS: Linear = Linear { at: i64::MAX / 4, slope: 0 };

impl Buffer {
    fn new(alignment: u64) -> Buffer {
        Buffer { alignment, free: vec![(Linear::default(), ENDLESS)], largest: Linear::default() }
    }

    fn allocate(&mut self, size: Linear, horizon: &mut Horizon) -> Linear {
        let size = horizon.aligned(size, self.alignment);
        let last = self.free.len() - 1;
        let mut best = last;
        let mut best_size = ENDLESS;
        for (place, (_, free)) in self.free[..last].iter().enumerate() {
            if horizon.at_least(*free, size) && horizon.at_least(best_size, *free) {
                best = place;
                best_size = *free;
            }
        }
        let (offset, free) = self.free[best];
        self.free[best] = (offset + size, free - size);
        if best != last && horizon.equal(free, size) {
            self.free.remove(best);
        }
        let end = offset + size;
        if !horizon.at_least(self.largest, end) {
            self.largest = end;
        }
        offset
    }

    fn release(&mut self, offset: Linear, size: Linear, horizon: &mut Horizon) {
        let size = horizon.aligned(size, self.alignment);
        for place in 0..self.free.len() {
            let (start, free) = self.free[place];
            if horizon.equal(start + free, offset) {
                self.free[place].1 = free + size;
                self.merge(place, horizon);
                return;
            }
            if horizon.equal(offset + size, start) {
                self.free[place] = (offset, free + size);
                if place > 0 {
                    self.merge(place - 1, horizon);
                }
                return;
            }
        }
        let mut place = 0;
        while place < self.free.len() && !horizon.at_least(self.free[place].0, offset) {
            place += 1;
        }
        self.free.insert(place, (offset, size));
    }

    /// Joins a block with the next one where they touch.
    fn merge(&mut self, place: usize, horizon: &mut Horizon) {
        let (offset, size) = self.free[place];
        if let Some((next, more)) = self.free.get(place + 1).copied()
            && horizon.equal(offset + size, next)
        {
            self.free[place].1 = size + more;
            self.free.remove(place + 1);
        }
    }
}

/// What the allocator knows of a tensor.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    children: u32,
    views: u32,
    buffer: usize,
    offset: Linear,
    allocated: bool,
}

/// A node or a leaf with the buffer it belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) tensor: TensorId,
    pub(crate) buffer: usize,
}

/// The graph to allocate.
pub(crate) struct Plan<'a> {
    pub(crate) tensors: &'a [Tensor],
    pub(crate) nodes: &'a [Slot],
    pub(crate) leaves: &'a [Slot],
    /// Alignment of each buffer.
    pub(crate) alignments: &'a [u64],
    /// Bytes that a tensor takes in a buffer.
    pub(crate) size: &'a dyn Fn(TensorId, usize) -> Linear,
}

/// The size that each buffer reaches, and for how many further steps of cells these lines
/// hold.
pub(crate) fn buffer_sizes(plan: &Plan<'_>) -> (Vec<Linear>, u64) {
    let mut replay = Replay {
        plan,
        horizon: Horizon::new(),
        buffers: plan.alignments.iter().map(|alignment| Buffer::new(*alignment)).collect(),
        places: vec![Place::default(); plan.tensors.len()],
    };
    replay.run();
    (replay.buffers.iter().map(|buffer| buffer.largest).collect(), replay.horizon.steps)
}

struct Replay<'a> {
    plan: &'a Plan<'a>,
    horizon: Horizon,
    buffers: Vec<Buffer>,
    places: Vec<Place>,
}

impl Replay<'_> {
    fn run(&mut self) {
        let plan = self.plan;
        for leaf in plan.leaves {
            self.allocate(leaf.tensor, leaf.buffer);
        }
        for node in plan.nodes {
            let tensor = &plan.tensors[node.tensor];
            if let (Some(root), false) = (tensor.view_of, tensor.operation == Operation::Leaf) {
                self.places[root].views += 1;
            }
            if tensor.is_input {
                self.allocate(node.tensor, node.buffer);
            }
            for source in &tensor.sources {
                self.places[*source].children += 1;
                if plan.tensors[*source].is_input {
                    self.allocate(*source, node.buffer);
                }
            }
        }
        for node in plan.nodes {
            let tensor = &plan.tensors[node.tensor];
            for source in &tensor.sources {
                self.allocate(*source, node.buffer);
            }
            self.allocate(node.tensor, node.buffer);
            for source in &tensor.sources {
                self.leave(*source);
            }
        }
    }

    fn size(&self, id: TensorId, buffer: usize) -> Linear {
        (self.plan.size)(id, buffer)
    }

    fn allocate(&mut self, id: TensorId, buffer: usize) {
        let tensor = &self.plan.tensors[id];
        if tensor.resident.is_some() || self.places[id].allocated || tensor.view_of.is_some() {
            return;
        }
        self.places[id].allocated = true;
        if matches!(tensor.operation, Operation::InPlace | Operation::Rope)
            && tensor.sources.iter().any(|source| self.overwrite(id, *source))
        {
            return;
        }
        let size = self.size(id, buffer);
        let offset = self.buffers[buffer].allocate(size, &mut self.horizon);
        self.places[id].buffer = buffer;
        self.places[id].offset = offset;
    }

    /// Lets `id` take over the memory of `parent` where nobody else needs it.
    fn overwrite(&mut self, id: TensorId, parent: TensorId) -> bool {
        let tensors = self.plan.tensors;
        let (node, source) = (&tensors[id], &tensors[parent]);
        let place = self.places[parent];
        // a view does not own its memory: ggml looks for owners only
        if !place.allocated
            || source.is_output
            || !node.same_layout(source)
            || place.children != 1
            || place.views != 0
        {
            return false;
        }
        let (buffer, offset) = (place.buffer, place.offset);
        self.places[id].buffer = buffer;
        self.places[id].offset = offset;
        self.places[parent].allocated = false;
        let alignment = self.buffers[buffer].alignment;
        let had = self.horizon.aligned(self.size(parent, buffer), alignment);
        let needs = self.horizon.aligned(self.size(id, buffer), alignment);
        if !self.horizon.at_least(needs, had) {
            self.buffers[buffer].release(offset + needs, had - needs, &mut self.horizon);
        }
        true
    }

    /// One use of a source is over.
    fn leave(&mut self, id: TensorId) {
        self.places[id].children -= 1;
        if self.places[id].children != 0 || self.places[id].views != 0 {
            return;
        }
        match self.plan.tensors[id].view_of {
            Some(root) => {
                self.places[root].views -= 1;
                let place = self.places[root];
                if place.views == 0 && place.children == 0 && place.allocated {
                    self.free(root);
                }
            }
            None if self.places[id].allocated => self.free(id),
            None => {}
        }
    }

    fn free(&mut self, id: TensorId) {
        if self.plan.tensors[id].is_output {
            return;
        }
        let place = self.places[id];
        let size = self.size(id, place.buffer);
        self.buffers[place.buffer].release(place.offset, size, &mut self.horizon);
        self.places[id].allocated = false;
    }
}
