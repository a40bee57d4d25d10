//! Runs the allocator over the programs of a structure, to find the size of each buffer.

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
    /// For each layer of the model, the index of its representative among the layers of the structure.
    pub(crate) representatives: &'a [u16],
    pub(crate) list: &'a WeightList,
    pub(crate) weights: &'a Weights,
    /// Number of buffers to compute, of the GPUs in order, then of the host. Buffers do not affect each
    /// other.
    pub(crate) buffers: usize,
    /// Whether to run every layer, including those seen before.
    pub(crate) thorough: bool,
}

/// Returns the size that each computed buffer reaches.
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
        executed: Vec::with_capacity(32),
    };
    replay.layers();
    replay.buffers.iter().map(|buffer| buffer.largest).collect()
}

/// Returns the size of every tensor of a structure. Sizes of layers' weights are set later, for each layer.
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

/// Allocator state between two layers, except for the largest ends of the buffers: the free blocks, and the
/// offsets of the slots in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct State {
    /// Range of its numbers in [`Replay::values`].
    start: usize,
    end: usize,
}

/// Executed layer: initial state, program, types of the weights, and resulting state.
#[derive(Debug, Clone, Copy)]
struct ExecutedLayer {
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
    /// Offsets of the blocks that are reserved for layers.
    reserved: Vec<N>,
    horizon: &'h mut N::Horizon,
    states: Vec<State>,
    values: Vec<N>,
    executed: Vec<ExecutedLayer>,
}

impl<N: Size> Replay<'_, '_, N> {
    /// Runs all layers. A layer with the program, the weight types and the initial state of an earlier one
    /// would repeat the same steps with the same comparisons: it would enlarge no buffer, limit no horizon,
    /// and end in the same state. So it is not run again.
    fn layers(&mut self) {
        let structure = self.run.structure;
        let representatives = self.run.representatives;
        self.execute(structure.head, 0);
        let mut state = self.intern_state();
        let mut loaded = state;
        for (layer, representative) in representatives.iter().enumerate() {
            let program = structure.layers[usize::from(*representative)];
            let patterns = self.patterns(program, layer);
            let same = |earlier: &&ExecutedLayer| {
                earlier.state == state && earlier.program == program && earlier.patterns == patterns
            };
            // the reserved block has another offset in every layer
            let reserved = structure.reserved[usize::from(*representative)].is_some();
            if let Some(earlier) = self.executed.iter().find(same).filter(|_| !self.run.thorough && !reserved)
            {
                state = earlier.next;
                continue;
            }
            if loaded != state {
                self.restore(state);
            }
            self.execute(program, layer);
            let next = self.intern_state();
            self.executed.push(ExecutedLayer { state, program, patterns, next });
            (state, loaded) = (next, next);
        }
        if loaded != state {
            self.restore(state);
        }
        self.execute(structure.tail, representatives.len());
    }

    /// Returns the type patterns of the weights of a layer and of the one before, if they matter.
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
        // appends the renumbered slots, then removes the old ones
        let count = self.slots.len();
        for slot in &program.slots_out {
            self.slots.push(self.slots[usize::from(*slot)]);
        }
        self.slots.drain(..count);
    }

    /// Allocates the reserved blocks of all layers, in order.
    fn reserve(&mut self) {
        for representative in self.run.representatives {
            let block = self.run.structure.reserved[usize::from(*representative)];
            let offset = block.and_then(|(size, buffer)| {
                let size = self.sizes[usize::from(size)];
                Some(self.buffers.get_mut(usize::from(buffer))?.allocate(size, self.horizon))
            });
            self.reserved.push(offset.unwrap_or_default());
        }
    }

    /// Sets the sizes that depend on a layer's own weights.
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

    /// Returns the index of the current state, adding the state if it is new.
    fn intern_state(&mut self) -> usize {
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

    /// Restores a state.
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
