//! The order in which everything is allocated, and what shows that layers repeat in it.

use crate::compute::tensor::TensorId;

/// A node or a leaf with the buffer it belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slot {
    pub(crate) tensor: TensorId,
    pub(crate) buffer: usize,
}

/// The nodes and leaves to allocate, copies among them.
#[derive(Debug)]
pub(crate) struct Schedule {
    pub(crate) nodes: Vec<Slot>,
    pub(crate) leaves: Vec<Slot>,
    /// Places in `nodes` where a layer begins, then where the last ends.
    pub(crate) boundaries: Vec<usize>,
    /// State that the scheduler's passes carried across each boundary.
    pub(crate) carried: Vec<Carried>,
    /// Tensors that each split copies in.
    pub(crate) split_inputs: Vec<usize>,
    /// Whether inputs are copied for several runs at once.
    pub(crate) pipelined: bool,
}

impl Schedule {
    /// Whether further copies of the layers between two boundaries, put after the second,
    /// would be scheduled as these are and change nothing before or after them.
    ///
    /// Every pass goes over the nodes once, in one direction. What it decides of a node
    /// depends on the node, on tensors of its own layer and the one before, on tensors that
    /// all layers share, and on what the pass carries along. So it suffices that what is
    /// carried is the same at both boundaries, and that the layers between left no trace
    /// elsewhere: no copy of a shared tensor that was not there before, and nothing copied in
    /// at the start of a split that began before them (or, in a pipeline, before everything).
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
    /// The device that each sweep would give to a node of no device.
    pub(crate) sweeps: Vec<Option<usize>>,
    /// The device of the current split.
    pub(crate) backend: Option<usize>,
    /// Splits so far, and tensors that the current one copies in.
    pub(crate) splits: usize,
    pub(crate) inputs: usize,
    /// Tensors copied so far, and how many of them all layers share.
    pub(crate) copies: usize,
    pub(crate) shared_copies: usize,
}
