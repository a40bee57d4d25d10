//! The order in which tensors are allocated, and the check that layers repeat in it.

use crate::compute::tensor::TensorId;

/// A node or a leaf, and the buffer that it belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) tensor: TensorId,
    pub(crate) buffer: usize,
}

/// The nodes and leaves to allocate, including copies.
#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) nodes: Vec<Slot>,
    pub(crate) leaves: Vec<Slot>,
    /// Indices in `nodes` at which a layer begins, and at which the last one ends.
    pub(crate) boundaries: Vec<usize>,
    /// State that the scheduler's passes carried across each boundary.
    pub(crate) carried: Vec<Carried>,
    /// Number of tensors that each split copies in.
    pub(crate) split_inputs: Vec<usize>,
    /// Whether inputs are copied for several concurrent runs.
    pub(crate) pipelined: bool,
}

impl Schedule {
    /// Returns whether further copies of the layers between two boundaries, inserted after the second one,
    /// would be scheduled in the same way and change nothing before or after them.
    ///
    /// Every pass visits the nodes once, in one direction. Its decision about a node depends on the node, on
    /// tensors of the same layer and of the one before, on tensors that all layers share, and on the state
    /// that the pass carries. So it suffices that the carried state is the same at both boundaries, and that
    /// the layers between them have no effect elsewhere: they add no copy of a shared tensor, and copy
    /// nothing in at the start of a split that began before them (or, with pipeline parallelism, before
    /// everything).
    pub(crate) fn repeats(&self, first: usize, second: usize) -> bool {
        let (from, to) = (&self.carried[first], &self.carried[second]);
        let Some(split) = from.splits.checked_sub(1) else { return false };
        let inputs_later = if from.splits == to.splits { to.inputs } else { self.split_inputs[split] };
        from.sweeps == to.sweeps
            && from.backend == to.backend
            && (from.inputs > 0) == (to.inputs > 0)
            && from.shared_copies == to.shared_copies
            && from.inputs == inputs_later
            && (!self.pipelined || from.copies == to.copies)
    }
}

/// State that the passes carry across a boundary.
#[derive(Debug, Clone, Default)]
pub(crate) struct Carried {
    /// Device that each sweep assigns to the next unassigned node.
    pub(crate) sweeps: Vec<Option<usize>>,
    /// The device of the current split.
    pub(crate) backend: Option<usize>,
    /// Number of splits so far, and of tensors that the current one copies in.
    pub(crate) splits: usize,
    pub(crate) inputs: usize,
    /// Number of tensors copied so far, and of those among them that all layers share.
    pub(crate) copies: usize,
    pub(crate) shared_copies: usize,
}
