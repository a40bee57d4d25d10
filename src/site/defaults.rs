//! Default settings: a current `llama-server` with one slot.
//!
//! `kbgen fit`, the pages, calls in prose and the calculator all use these.

/// Context in tokens, or the model's maximum if that is smaller.
pub const DEFAULT_CTX: u64 = 8192;

/// Quantization of a model that is not released in a narrow type of its own.
pub const DEFAULT_QUANT: &str = "Q4_K_M";
