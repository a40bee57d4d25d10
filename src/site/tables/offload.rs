//! The compute buffers of a model that is divided over devices and the host.
//!
//! With one GPU they are sampled as the planner does it ([`kbgen_estimate::plan::partial`]). With several the page takes
//! a range from a few replays: two GPUs with one pipeline, widened by what the allocator's gaps were seen to add or save.

use serde::{Deserialize, Serialize};

use crate::site::tables::{CACHE_TYPES, PAIRS, SLOTS};

/// What the range over several GPUs is made of beside the curves of one: places in the pool of curves, and bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offload {
    /// The first of two GPUs, by slots and pair.
    pub first: [[Option<usize>; PAIRS]; SLOTS.len()],
    /// The last of two GPUs, by runner, slots and pair.
    pub last: [[[Option<usize>; PAIRS]; SLOTS.len()]; 2],
    /// What gaps between the allocator's blocks were seen to add or save: four times the stream,
    /// and sixteen times where layers have a state or latent attention.
    pub slack: u64,
    /// Whether layers have a state.
    pub states: bool,
    /// Bytes of the stream between two layers for a micro-batch.
    pub stream: u64,
    /// Bytes of the logits of one token.
    pub logits: u64,
}

/// A split between one GPU and the host whose compute buffer is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledSplit {
    /// First layers that are on the host, whole or with their experts.
    pub count: u64,
    /// The buffer's place among the samples, by cache type; none where the model is not run with it.
    pub samples: [Option<usize>; CACHE_TYPES.len()],
}

/// The splits of one quantization between one GPU and the host, each for all smaller ones down to the one before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledSplits {
    /// Whole layers on the host.
    pub layers: Vec<SampledSplit>,
    /// Experts on the host.
    pub experts: Vec<SampledSplit>,
    /// All of the model on the host.
    pub nothing: [Option<usize>; CACHE_TYPES.len()],
}

impl SampledSplits {
    /// Every place among the samples.
    pub fn places_mut(&mut self) -> impl Iterator<Item = &mut usize> {
        let splits = self.layers.iter_mut().chain(&mut self.experts);
        splits.flat_map(|split| &mut split.samples).chain(&mut self.nothing).flatten()
    }
}
