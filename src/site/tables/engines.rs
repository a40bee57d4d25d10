//! What vLLM needs of a model: the constants of its few formulas.

use serde::{Deserialize, Serialize};

/// Numbers of cards that the table holds: one to four.
pub const CARDS: usize = 4;

/// Types of a checkpoint, the widest first.
pub const WEIGHT_TYPES: [&str; 4] = ["BF16", "FP8", "GPTQ", "AWQ"];

/// What vLLM needs of a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vllm {
    /// By the number of cards, less one; none where the heads cannot be shared out among so many.
    pub cards: [Option<VllmCard>; CARDS],
    /// Layers that keep all tokens, and layers that keep a window.
    pub layers: (u64, u64),
    /// The same as they count once vLLM has padded them to groups.
    pub padded: (u64, u64),
    /// Tokens of the window.
    pub window: u64,
}

/// What each of the cards holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VllmCard {
    /// Bytes of the weights, by type.
    pub weights: [u64; WEIGHT_TYPES.len()],
    /// Bytes of a block of one layer's cache, at 16 bits a value.
    pub page: u64,
}
