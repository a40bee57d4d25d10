//! The run that every surface assumes where nobody says otherwise: today's `llama-server` with one slot.
//!
//! `kbgen fit`, the pages, calls in prose and the calculator read these; no other file declares its own.

/// Context in tokens, or the model's largest where that is less.
pub const DEFAULT_CTX: u64 = 8192;

/// Quantization of a model that is not released in a narrow type of its own.
pub const DEFAULT_QUANT: &str = "Q4_K_M";
