//! Memory of a model in Hugging Face transformers: weights by data type, a growing cache, and a range of
//! activations.

use crate::architecture::{Architecture, LayerKind};
use crate::bytes::Bytes;
use crate::checkpoint::{WeightType, weight_bytes};
use crate::estimator::{BytesRange, NotCovered, driver_context};
use crate::placement::Device;

/// Memory that a program needs on one device for one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SequenceEstimate {
    /// Weights.
    pub weights: Bytes,
    /// KV cache and states with the given number of tokens. The ends differ where the cache depends on more than
    /// the tokens.
    pub cache: BytesRange,
    /// Activations, in the range that is reported for the program.
    pub activations: BytesRange,
    /// The driver's context; zero where the program has none.
    pub driver: BytesRange,
}

impl SequenceEstimate {
    /// Returns the sum of all parts.
    pub fn total(&self) -> BytesRange {
        BytesRange {
            low: self.weights + self.cache.low + self.activations.low + self.driver.low,
            high: self.weights + self.cache.high + self.activations.high + self.driver.high,
        }
    }
}

/// Returns the memory of a model on one GPU for one sequence of `tokens` tokens.
///
/// Cache: a `DynamicCache`. The ends differ for sliding windows: the cache keeps one token less than the window
/// if it knows the model's configuration, else all tokens (`DynamicSlidingWindowLayer` in
/// `src/transformers/cache_utils.py`).
///
/// Activations: up to a fifth of the weights, according to EleutherAI and Accelerate
/// (<https://blog.eleuther.ai/transformer-math/>).
///
/// # Errors
/// If the model has latent attention or recurrent layers.
pub fn transformers(
    model: &Architecture,
    kind: WeightType,
    tokens: u64,
) -> Result<SequenceEstimate, NotCovered> {
    let weights = weight_bytes(model, kind, 1)?;
    let driver = driver_context(Device::Gpu(0)).expect("a GPU has a driver");
    Ok(SequenceEstimate {
        weights,
        cache: cache_bytes(model, kind, tokens)?,
        activations: BytesRange { low: Bytes(0), high: Bytes(weights.0 / 5) },
        driver,
    })
}

fn cache_bytes(model: &Architecture, kind: WeightType, tokens: u64) -> Result<BytesRange, NotCovered> {
    if let Some(part) = model.uncommon_cache() {
        return Err(NotCovered(format!("the transformers cache of {part} is not modeled")));
    }
    let (mut low, mut high) = (0, 0);
    for layer in &model.layers {
        let token = 2 * layer.kv_heads * layer.head_dim * kind.plain_bytes();
        let kept = match layer.kind {
            LayerKind::Full => tokens,
            LayerKind::Sliding => tokens.min(model.sliding_window - 1),
            LayerKind::None => 0,
            LayerKind::Latent | LayerKind::Recurrent => {
                let reason = "the transformers cache of latent attention and recurrent states is not modeled";
                return Err(NotCovered(reason.to_owned()));
            }
        };
        low += token * kept;
        high += if layer.kind == LayerKind::None { 0 } else { token * tokens };
    }
    Ok(BytesRange { low: Bytes(low), high: Bytes(high) })
}
