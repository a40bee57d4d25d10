//! Memory of ExLlamaV3 and MLX for one sequence: weights and cache by their formats, the rest as a range.

use crate::architecture::{Architecture, LayerKind};
use crate::bytes::Bytes;
use crate::cache::state_widths;
use crate::checkpoint::{WeightType, weight_bytes};
use crate::estimator::{BytesRange, NotCovered, driver_context};
use crate::placement::Device;
use crate::transformers::SequenceEstimate;

const MIB: u64 = 1 << 20;
/// Step in tokens by which both caches grow: pages of ExLlamaV3 (`constants.py`), `KVCache.step` of mlx-lm.
const CACHE_STEP: u64 = 256;
/// Tokens of a prompt that mlx-lm processes at once (`DEFAULT_PREFILL_STEP_SIZE`).
const MLX_PROMPT_STEP: u64 = 2048;

/// Returns the memory of ExLlamaV3 on one GPU, with EXL3 weights of `bits` and a cache of `cache_bits` per value: 16, or
/// 2 to 8 with a 16-bit scale for each 32 values (`cache/fp16.py` and `cache/quant.py` of exllamav3 1.6.5).
///
/// Activations: with Qwen2.5 32B at 4.0 bpw and 8,192 tokens, 816 to 1,182 MiB were in use in addition to
/// weights and cache, including the driver (text-generation-webui, pull request 6903).
///
/// # Errors
/// If the model has sliding windows or recurrent states, whose cache depends on the number of slots.
pub fn exllamav3(
    model: &Architecture,
    bits: u8,
    cache_bits: u64,
    tokens: u64,
) -> Result<SequenceEstimate, NotCovered> {
    if let Some(part) = model.uncommon_cache() {
        return Err(NotCovered(format!("the ExLlamaV3 cache of {part} is not modeled")));
    }
    let tokens = tokens.next_multiple_of(CACHE_STEP);
    let mut cache = 0;
    for layer in &model.layers {
        let width = layer.kv_heads * layer.head_dim;
        cache += match layer.kind {
            LayerKind::Full if cache_bits == 16 => 4 * width * tokens,
            LayerKind::Full => 2 * (width / 32) * (4 * cache_bits + 2) * tokens,
            LayerKind::Latent => 2 * layer.head_dim * tokens,
            LayerKind::None => 0,
            LayerKind::Sliding | LayerKind::Recurrent => {
                let reason = "the ExLlamaV3 cache of sliding windows and recurrent states is not modeled";
                return Err(NotCovered(reason.to_owned()));
            }
        };
    }
    Ok(SequenceEstimate {
        weights: weight_bytes(model, WeightType::Exl3(bits), 1)?,
        cache: BytesRange { low: Bytes(cache), high: Bytes(cache) },
        activations: BytesRange { low: Bytes(128 * MIB), high: Bytes(1536 * MIB) },
        driver: driver_context(Device::Gpu(0)).expect("a GPU has a driver"),
    })
}

/// Returns the memory of mlx-lm with a 16-bit cache: keys and values in steps of 256 tokens, windows of
/// sliding layers plus up to one step of the prompt, and states of recurrent layers with 16-bit or 32-bit
/// values (`mlx_lm/models/cache.py`, mlx-lm 0.32.2).
///
/// Activations: reported peaks exceed weights and cache by 0.3 to 0.8 GB (pull requests 40, 478 and 1569 of mlx-lm).
///
/// # Errors
/// If the model has latent attention or an uncommon cache.
pub fn mlx(model: &Architecture, weights: WeightType, tokens: u64) -> Result<SequenceEstimate, NotCovered> {
    if let Some(part) = model.uncommon_cache() {
        return Err(NotCovered(format!("the MLX cache of {part} is not modeled")));
    }
    let (mut low, mut high) = (0, 0);
    let steps = tokens.next_multiple_of(CACHE_STEP);
    let (convolution, state) = state_widths(model);
    for layer in &model.layers {
        let token = 4 * layer.kv_heads * layer.head_dim;
        let (least, most) = match layer.kind {
            LayerKind::Full => (token * steps, token * steps),
            LayerKind::Latent => {
                // `deepseek_v2.py` caches whole keys and values, `deepseek_v3.py` their compressed form.
                return Err(NotCovered("the MLX cache of latent attention is not modeled".to_owned()));
            }
            LayerKind::Sliding => {
                let window = model.sliding_window;
                (token * tokens.min(window), token * tokens.min(window + MLX_PROMPT_STEP))
            }
            LayerKind::Recurrent => (2 * (convolution + state), 2 * convolution + 4 * state),
            LayerKind::None => (0, 0),
        };
        low += least;
        high += most;
    }
    Ok(SequenceEstimate {
        weights: weight_bytes(model, weights, 1)?,
        cache: BytesRange { low: Bytes(low), high: Bytes(high) },
        activations: BytesRange { low: Bytes(128 * MIB), high: Bytes(1536 * MIB) },
        driver: BytesRange { low: Bytes(0), high: Bytes(0) },
    })
}
