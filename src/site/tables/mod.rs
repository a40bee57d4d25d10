//! The fit table: exact memory figures of every model for lookup.

mod curve;
mod engines;
mod figures;
mod offload;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use curve::Curve;
pub use engines::{CARDS, Vllm, VllmCard, WEIGHT_TYPES};
pub use figures::{Factors, Figures, LayerWeights, QuantFit, Share};
pub use offload::{Offload, SampledSplit, SampledSplits};

/// Figures of all models, computed once per build.
#[derive(Debug, Clone, Default)]
pub struct FitTable {
    /// Names of quantizations, in the order of every model's `quants`.
    pub quants: Vec<String>,
    /// Minimum and maximum bytes that the driver uses on a device in addition to the buffers.
    pub driver: (u64, u64),
    /// Models by slug.
    pub models: BTreeMap<String, ModelFit>,
    /// Parameter counts by slug.
    pub parameters: BTreeMap<String, Parameters>,
    /// Slugs of covered models by shape; of models with one shape, that with the longest
    /// context, and of these the first.
    pub shapes: BTreeMap<String, String>,
}

/// Parameter counts of the loaded tensors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// All parameters.
    pub held: u64,
    /// Parameters that are active per token.
    pub active: u64,
}

/// Figures of a model, or why there are none.
#[derive(Debug, Clone)]
pub enum ModelFit {
    /// Figures for all quantizations and settings; models with the same architecture share them.
    Covered(Arc<Figures>),
    /// Reason, as a phrase.
    NotCovered(String),
}

/// Cache types in the table, the widest first.
pub const CACHE_TYPES: [&str; 3] = ["f16", "q8_0", "q4_0"];

/// Number of pairs of a K and a V cache type.
pub const PAIRS: usize = CACHE_TYPES.len() * CACHE_TYPES.len();

/// Numbers of slots in the table: parallel sequences in one unified cache.
pub const SLOTS: [u64; 4] = [1, 2, 4, 8];

/// Programs by the number of tokens of a micro-batch whose logits they keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// All tokens: llama.cpp's library by default, so older servers and most programs based on it.
    Library,
    /// One per slot: `llama-server`.
    Server,
}

impl Runner {
    /// Names, in the order of every model's `compute`.
    pub const NAMES: [(&'static str, Self); 2] = [("library", Self::Library), ("server", Self::Server)];
}

/// Settings for a model with all layers on one GPU; numbers are indices into the lists above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// Kind of program.
    pub runner: Runner,
    /// Index into [`SLOTS`].
    pub slots: usize,
    /// Index of the K cache type in [`CACHE_TYPES`].
    pub key: usize,
    /// Index of the V cache type in [`CACHE_TYPES`].
    pub value: usize,
}

impl Run {
    /// Returns the default settings with K and V of one type: `llama-server` with one slot.
    pub fn plain(cache: usize) -> Self {
        Self { runner: Runner::Server, slots: 0, key: cache, value: cache }
    }

    /// Returns the index of the cache types among the [`PAIRS`].
    pub fn pair(self) -> usize {
        self.key * CACHE_TYPES.len() + self.value
    }
}

impl FitTable {
    /// Returns the figures of a model, if it is covered.
    pub fn figures(&self, slug: &str) -> Option<&Figures> {
        match self.models.get(slug) {
            Some(ModelFit::Covered(figures)) => Some(figures),
            _ => None,
        }
    }

    /// Returns the index of a quantization.
    pub fn quant(&self, name: &str) -> Option<usize> {
        self.quants.iter().position(|quant| quant == name)
    }
}

/// The figure of a call in prose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProseFigure {
    /// Value in bytes or tokens.
    pub value: u64,
    /// Displayed value: `4.00 GiB`.
    pub text: String,
}
