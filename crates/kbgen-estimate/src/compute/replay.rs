//! The allocator run over a structure's programs: how far each buffer is ever filled.

use crate::compute::allocator::Buffer;
use crate::compute::extent::Quantities;
use crate::compute::program::{Program, Step};
use crate::compute::size::Size;
use crate::compute::structure::Structure;
use crate::compute::tensor_size::Rule;
use crate::names::Home;
use crate::weights::{WeightList, Weights};

/// Inputs of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) structure: &'a Structure,
    /// For every layer of the model the place of its stand-in among the structure's.
    pub(crate) representatives: &'a [u16],
    pub(crate) list: &'a WeightList,
    pub(crate) weights: &'a Weights,
    /// Number of buffers that are computed: of the GPUs in order, then of the host. They do not affect each other.
    pub(crate) buffers: usize,
    /// Every layer is run, also those seen before.
    pub(crate) thorough: bool,
}

/// The size that each computed buffer reaches.
pub(crate) fn buffer_sizes<N: Size>(run: Run<'_>, sizes: Vec<N>, horizon: &mut N::Horizon) -> Vec<N> {
    let mut replay = Replay {
        run,
        sizes,
        buffers: (0..run.buffers).map(|_| Buffer::new()).collect(),
        slots: Vec::with_capacity(256),
        reserved: Vec::new(),
        horizon,
        states: Vec::with_capacity(32),
        values: Vec::with_capacity(512),
        seen: Vec::with_capacity(32),
    };
    replay.layers();
    replay.buffers.iter().map(|buffer| buffer.largest).collect()
}

/// The size of every tensor of a structure; those of layers' weights come with their layer.
pub(crate) fn tensor_sizes<N: Size>(
    structure: &Structure,
    list: &WeightList,
    weights: &Weights,
    quantities: &Quantities<N>,
    horizon: &mut N::Horizon,
) -> Vec<N> {
    let sizes = structure.sizes.iter().map(|size| {
        size.value(quantities, horizon, |home, name| list.copy_bytes(weights, home, name, size.on_host))
    });
    sizes.collect()
}

/// Everything that the allocator knows between two layers, apart from how far the buffers
/// were ever filled: the free blocks, and where the slots in use are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    /// Where its numbers begin and end in [`Replay::values`].
    start: usize,
    end: usize,
}

/// A layer that was run: in this state, by this program, with weights of these types.
#[derive(Debug, Clone, Copy)]
struct Seen {
    state: usize,
    program: u16,
    patterns: (u16, u16),
    next: usize,
}

struct Replay<'a, 'h, N: Size> {
    run: Run<'a>,
    sizes: Vec<N>,
    buffers: Vec<Buffer<N>>,
    /// Offsets of the slots.
    slots: Vec<N>,
    /// Offsets of the blocks that were reserved for the layers.
    reserved: Vec<N>,
    horizon: &'h mut N::Horizon,
    states: Vec<State>,
    values: Vec<N>,
    seen: Vec<Seen>,
}

impl<N: Size> Replay<'_, '_, N> {
    /// Runs all layers. One that was seen with the same program in the same state takes the
    /// same steps with the same answers once more: it fills no buffer further, limits no
    /// horizon, and leaves the same state. So it is not run again.
    fn layers(&mut self) {
        let structure = self.run.structure;
        let representatives = self.run.representatives;
        self.execute(structure.head, 0);
        let mut state = self.state();
        let mut loaded = state;
        for (layer, stand) in representatives.iter().enumerate() {
            let program = structure.layers[usize::from(*stand)];
            let patterns = self.patterns(program, layer);
            let same =
                |seen: &&Seen| seen.state == state && seen.program == program && seen.patterns == patterns;
            // a reserved block is elsewhere in every layer
            let reserved = structure.reserved[usize::from(*stand)].is_some();
            if let Some(seen) = self.seen.iter().find(same).filter(|_| !self.run.thorough && !reserved) {
                state = seen.next;
                continue;
            }
            if loaded != state {
                self.restore(state);
            }
            self.execute(program, layer);
            let next = self.state();
            self.seen.push(Seen { state, program, patterns, next });
            (state, loaded) = (next, next);
        }
        if loaded != state {
            self.restore(state);
        }
        self.execute(structure.tail, representatives.len());
    }

    /// The types of the weights of a layer and of the one before, where they matter.
    fn patterns(&self, program: u16, layer: usize) -> (u16, u16) {
        if self.run.structure.programs[usize::from(program)].layer_weights.is_empty() {
            return (0, 0);
        }
        let patterns = &self.run.weights.patterns;
        (patterns[layer], layer.checked_sub(1).map_or(0, |before| patterns[before]))
    }

    fn execute(&mut self, program: u16, layer: usize) {
        let program = &self.run.structure.programs[usize::from(program)];
        self.set_weights(program, layer as u64);
        for step in &program.steps {
            match *step {
                Step::Allocate { slot, size, buffer } => {
                    debug_assert_eq!(usize::from(slot), self.slots.len());
                    let size = self.sizes[usize::from(size)];
                    let buffer = self.buffers.get_mut(usize::from(buffer));
                    self.slots
                        .push(buffer.map_or(N::default(), |buffer| buffer.allocate(size, self.horizon)));
                }
                Step::Release { slot, size, buffer } => {
                    let Some(buffer) = self.buffers.get_mut(usize::from(buffer)) else { continue };
                    buffer.release(
                        self.slots[usize::from(slot)],
                        self.sizes[usize::from(size)],
                        self.horizon,
                    );
                }
                Step::Reserve => self.reserve(),
                Step::Claim { slot } => {
                    debug_assert_eq!(usize::from(slot), self.slots.len());
                    self.slots.push(self.reserved[layer]);
                }
                Step::Shrink { slot, from, to, buffer } => {
                    let Some(buffer) = self.buffers.get_mut(usize::from(buffer)) else { continue };
                    let (had, needs) = (self.sizes[usize::from(from)], self.sizes[usize::from(to)]);
                    if !needs.at_least(had, self.horizon) {
                        buffer.release(self.slots[usize::from(slot)] + needs, had - needs, self.horizon);
                    }
                }
            }
        }
        // behind the old numbers, which then go
        let count = self.slots.len();
        for slot in &program.slots_out {
            self.slots.push(self.slots[usize::from(*slot)]);
        }
        self.slots.drain(..count);
    }

    /// Takes the blocks of all layers, in order.
    fn reserve(&mut self) {
        for stand in self.run.representatives {
            let block = self.run.structure.reserved[usize::from(*stand)];
            let offset = block.and_then(|(size, buffer)| {
                let size = self.sizes[usize::from(size)];
                Some(self.buffers.get_mut(usize::from(buffer))?.allocate(size, self.horizon))
            });
            self.reserved.push(offset.unwrap_or_default());
        }
    }

    /// Sets the sizes that are those of a layer's own weights.
    fn set_weights(&mut self, program: &Program, layer: u64) {
        for place in &program.layer_weights {
            let size = &self.run.structure.sizes[usize::from(*place)];
            let Rule::LayerWeight { age, name, experts } = size.rule else { continue };
            let layer = layer - age;
            let home = if experts { Home::Experts(layer) } else { Home::Layer(layer) };
            let bytes = self.run.list.copy_bytes(self.run.weights, home, name, size.on_host);
            self.sizes[usize::from(*place)] = N::from(bytes.next_multiple_of(size.alignment()));
        }
    }

    /// The current state, as a place among those met.
    fn state(&mut self) -> usize {
        let start = self.values.len();
        for buffer in &self.buffers {
            self.values.push(N::from(buffer.free.len() as u64));
            self.values.extend(buffer.free.iter().flat_map(|(offset, size)| [*offset, *size]));
        }
        self.values.extend(&self.slots);
        let (known, new) = self.values.split_at(start);
        if let Some(place) = self.states.iter().position(|state| known[state.start..state.end] == *new) {
            self.values.truncate(start);
            return place;
        }
        self.states.push(State { start, end: self.values.len() });
        self.states.len() - 1
    }

    /// Goes back to a state.
    fn restore(&mut self, state: usize) {
        let State { start, end } = self.states[state];
        let mut values = self.values[start..end].iter().copied();
        for buffer in &mut self.buffers {
            let count = values.next().unwrap_or_default();
            buffer.free.clear();
            while N::from(buffer.free.len() as u64) != count {
                let block = (values.next().unwrap_or_default(), values.next().unwrap_or_default());
                buffer.free.push(block);
            }
        }
        self.slots.clear();
        self.slots.extend(values);
    }
}
