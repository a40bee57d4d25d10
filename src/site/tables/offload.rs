//! Compute buffers of a model that is split over devices and the host.
//!
//! With one GPU they are sampled like in the planner ([`kbgen_estimate::plan::partial`]). With several, pages show a
//! range from a few replays of two GPUs in one pipeline, widened by the observed effect of gaps in the allocator.

use serde::{Deserialize, Serialize};

use crate::site::tables::{CACHE_TYPES, PAIRS, SLOTS};

/// Data for the range over several GPUs, in addition to the curves of one: indices of curves, and bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offload {
    /// The first of two GPUs, by slots and pair.
    pub first: [[Option<usize>; PAIRS]; SLOTS.len()],
    /// The last of two GPUs, by runner, slots and pair.
    pub last: [[[Option<usize>; PAIRS]; SLOTS.len()]; 2],
    /// Observed effect of gaps between the allocator's blocks: four times the stream, and sixteen times for layers
    /// with state or latent attention.
    pub slack: u64,
    /// Whether layers have state.
    pub states: bool,
    /// Whether the last layers use the cache of earlier ones, which another device copies.
    pub shares_cache: bool,
    /// Bytes of the hidden states of a micro-batch, passed between layers.
    pub stream: u64,
    /// Bytes of the logits of one token.
    pub logits: u64,
}

/// A split between one GPU and the host with a known compute buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledSplit {
    /// Number of first layers on the host, entirely or with their experts only.
    pub count: u64,
    /// Index of the sample, by cache type; `None` if the model does not support the type.
    pub samples: [Option<usize>; CACHE_TYPES.len()],
}

/// Splits of one quantization between one GPU and the host. Each covers all smaller ones down to the previous one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledSplits {
    /// Entire layers on the host.
    pub layers: Vec<SampledSplit>,
    /// Experts on the host.
    pub experts: Vec<SampledSplit>,
    /// The whole model on the host.
    pub nothing: [Option<usize>; CACHE_TYPES.len()],
}

impl SampledSplits {
    /// Iterates over all sample indices.
    pub fn places_mut(&mut self) -> impl Iterator<Item = &mut usize> {
        let splits = self.layers.iter_mut().chain(&mut self.experts);
        splits.flat_map(|split| &mut split.samples).chain(&mut self.nothing).flatten()
    }
}
