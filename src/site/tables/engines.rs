//! Constants of vLLM's memory formulas for a model.

use serde::{Deserialize, Serialize};

/// Maximum number of GPUs in the table.
pub const CARDS: usize = 4;

/// Weight types of a checkpoint, the widest first.
pub const WEIGHT_TYPES: [&str; 4] = ["BF16", "FP8", "GPTQ", "AWQ"];

/// Constants of vLLM's memory formulas for a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vllm {
    /// By number of GPUs minus one; `None` if the heads cannot be split evenly.
    pub cards: [Option<VllmCard>; CARDS],
    /// Number of layers with full attention, and with a sliding window.
    pub layers: (u64, u64),
    /// The same after vLLM pads them to groups.
    pub padded: (u64, u64),
    /// Size of the window in tokens.
    pub window: u64,
    /// Number of layers with a recurrent state, and the same after vLLM pads them to groups.
    pub states: Option<(u64, u64)>,
}

/// Memory on each GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VllmCard {
    /// Bytes of the weights, by type.
    pub weights: [u64; WEIGHT_TYPES.len()],
    /// Bytes of a cache block of one layer, at 16 bits per value.
    pub page: u64,
    /// Minimum and maximum bytes of the recurrent state of one layer.
    pub state: (u64, u64),
}
