//! The fit table: what every model needs, as exact look-ups, without the arithmetic behind it.

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

/// Figures of all models, computed once a build.
#[derive(Debug, Clone, Default)]
pub struct FitTable {
    /// Names of quantizations, in the order of every model's `quants`.
    pub quants: Vec<String>,
    /// Least and most bytes that the driver takes on a device beside the buffers.
    pub driver: (u64, u64),
    /// Models by slug.
    pub models: BTreeMap<String, ModelFit>,
    /// What their tensors hold, by slug.
    pub parameters: BTreeMap<String, Parameters>,
    /// Shares of the memory bandwidth that devices reach.
    pub speeds: SpeedTable,
}

/// How much of its memory bandwidth a class of devices reaches when it decodes.
#[derive(Debug, Clone, Default)]
pub struct SpeedTable {
    /// Least and most thousandths by class of device and kind of model; none where no speeds
    /// were collected.
    pub bands: Vec<Vec<Option<(u32, u32)>>>,
    /// The class of each device that has one, by slug.
    pub devices: BTreeMap<String, usize>,
}

/// Numbers in the tensors of a model that are loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameters {
    /// All of them.
    pub held: u64,
    /// Those that work on one token.
    pub active: u64,
}

/// What a model needs, or why nothing is said about it.
#[derive(Debug, Clone)]
pub enum ModelFit {
    /// Figures for every quantization and way to run it; models of one architecture share them.
    Covered(Arc<Figures>),
    /// The reason, as a phrase.
    NotCovered(String),
}

/// Names of the cache types that the table holds, the widest first.
pub const CACHE_TYPES: [&str; 3] = ["f16", "q8_0", "q4_0"];

/// Pairs of a K and a V cache type.
pub const PAIRS: usize = CACHE_TYPES.len() * CACHE_TYPES.len();

/// Numbers of slots that the table holds: sequences served side by side from one unified cache.
pub const SLOTS: [u64; 4] = [1, 2, 4, 8];

/// Programs told apart by how many tokens of a micro-batch they keep the logits of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runner {
    /// All of them: llama.cpp's library by default, so older servers and most programs on top of it.
    Library,
    /// One for each slot: `llama-server`.
    Server,
}

impl Runner {
    /// Every kind and its name, in the order of every model's `compute`.
    pub const NAMES: [(&'static str, Self); 2] = [("library", Self::Library), ("server", Self::Server)];
}

/// A way to run a model with all of its layers on one GPU; numbers are positions in the lists above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run {
    /// The kind of program.
    pub runner: Runner,
    /// Place in [`SLOTS`].
    pub slots: usize,
    /// Place of the K cache's type in [`CACHE_TYPES`].
    pub key: usize,
    /// Place of the V cache's type in [`CACHE_TYPES`].
    pub value: usize,
}

impl Run {
    /// The default run with K and V of one type: `llama-server` with one slot.
    pub fn plain(cache: usize) -> Self {
        Self { runner: Runner::Server, slots: 0, key: cache, value: cache }
    }

    /// Place of its cache types among the [`PAIRS`].
    pub fn pair(self) -> usize {
        self.key * CACHE_TYPES.len() + self.value
    }
}

impl FitTable {
    /// Figures of a model, if it is covered.
    pub fn figures(&self, slug: &str) -> Option<&Figures> {
        match self.models.get(slug) {
            Some(ModelFit::Covered(figures)) => Some(figures),
            _ => None,
        }
    }

    /// Position of a quantization.
    pub fn quant(&self, name: &str) -> Option<usize> {
        self.quants.iter().position(|quant| quant == name)
    }
}

/// A figure that prose called for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProseFigure {
    /// The number: bytes or tokens.
    pub value: u64,
    /// As it is shown: `4.00 GiB`.
    pub text: String,
}
