//! Memory of SGLang: weights as in vLLM, and a pool of tokens in the remaining memory.
//!
//! Sources: `arg_groups/memory_hook.py`, `mem_cache/kv_cache_configurator.py` and
//! `model_executor/pool_configurator.py` of sglang 0.5.23.

use crate::architecture::{Architecture, LayerKind};
use crate::bytes::Bytes;
use crate::checkpoint::card_kv_heads;
use crate::estimator::{BytesRange, NotCovered};
use crate::vllm::{PoolEstimate, PoolSettings, longest_context};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// Tokens in the pool of sliding layers, in tenths of those of other layers (`--swa-full-tokens-ratio 0.8`).
const SLIDING_TENTHS: u64 = 8;

/// Returns the memory that SGLang needs on each GPU.
///
/// # Errors
/// If the model has recurrent states, or is not divisible among the GPUs.
pub fn sglang(model: &Architecture, settings: &PoolSettings) -> Result<PoolEstimate, NotCovered> {
    let weights = settings.weights_on_card(model)?;
    let reserve = reserve(model, settings);
    let left = |taken: u64| Bytes(settings.memory.0.saturating_sub(taken));
    let pool = BytesRange {
        low: left(weights.0 + settings.further.0 + reserve.high.0),
        high: left(weights.0 + reserve.low.0),
    };
    let cell = token_bytes(model, settings)?;
    let context =
        |pool: Bytes, bytes: u64| longest_context(model.max_context, |tokens| tokens * bytes <= pool.0);
    let context = (context(pool.low, cell.high.0), context(pool.high, cell.low.0));
    Ok(PoolEstimate { weights, reserve, pool, context })
}

/// Returns the bytes of one token on each GPU. The ends differ for models with sliding windows: the upper end
/// includes the pool of sliding layers that SGLang allocates by default, the lower end does not.
///
/// # Errors
/// If the model has recurrent states or an uncommon cache.
pub fn token_bytes(model: &Architecture, settings: &PoolSettings) -> Result<BytesRange, NotCovered> {
    let width = settings.value_bytes();
    if let Some(part) = model.uncommon_cache() {
        return Err(NotCovered(format!("the SGLang cache of {part} is not modeled")));
    }
    let (mut full, mut sliding) = (0, 0);
    for layer in &model.layers {
        let split = 2 * card_kv_heads(layer.kv_heads, settings.cards) * layer.head_dim * width;
        match layer.kind {
            LayerKind::Full => full += split,
            LayerKind::Sliding => sliding += split,
            LayerKind::Latent => full += layer.head_dim * width,
            LayerKind::Recurrent => {
                return Err(NotCovered("the SGLang cache of recurrent states is not modeled".to_owned()));
            }
            LayerKind::None => {}
        }
    }
    let high = full + (sliding * SLIDING_TENTHS).div_ceil(10);
    Ok(BytesRange { low: Bytes(if full == 0 { high } else { full }), high: Bytes(high) })
}

/// Returns the memory outside weights and pool: the share that SGLang leaves free by its own rule or by
/// `--mem-fraction-static`, and the contexts of CUDA and NCCL, up to 2.01 GiB with several GPUs (pull request
/// 11716). After loading, 0.11 GiB more than the weights were in use (pull request 18263).
fn reserve(model: &Architecture, settings: &PoolSettings) -> BytesRange {
    let total = settings.memory.0;
    let free = match settings.utilization {
        Some(share) => {
            let free = Bytes(total - total * share / 1000);
            BytesRange { low: free, high: free }
        }
        None => default_free_share(model, settings),
    };
    let contexts = if settings.cards == 1 { GIB } else { 5 * GIB / 2 };
    // Parts for images reduce the share to no less than 0.76 of it (`adjust_mem_fraction_for_vlm`).
    let images = if settings.further.0 == 0 { 0 } else { total.saturating_sub(free.high.0) * 24 / 100 };
    BytesRange { low: free.low, high: free.high + Bytes(contexts + GIB / 4 + images) }
}

/// Returns the free share without `--mem-fraction-static` (`handle_gpu_memory_settings`), with and without graphs for
/// prompts (`generate_prefill_cuda_graph_batch_sizes`). The share is rounded to thousandths.
fn default_free_share(model: &Architecture, settings: &PoolSettings) -> BytesRange {
    let memory = settings.memory.0 / MIB;
    let few_cards = settings.cards < 4;
    // Tokens of a prompt processed at once, graphs for prompts of up to that length, and sequences with a
    // graph.
    let (chunk, prompts, sequences) = match memory {
        ..20_480 => (2048, 42, 8),
        20_480..35_840 => (4096, 50, if few_cards { 48 } else { 160 }),
        35_840..61_440 => (4096, 50, if few_cards { 32 } else { 160 }),
        61_440..163_840 => (8192, 58, if few_cards { 256 } else { 512 }),
        _ => (16_384, 74, 512),
    };
    let is_latent = model.layers.iter().any(|layer| layer.kind == LayerKind::Latent);
    let graphs = if is_latent { 1536 } else { prompts * 8 };
    let base = 512 + chunk * 3 / 2 + settings.cards * 128 + sequences * 2;
    let at_least = |reserved: u64| if memory > 61_440 { reserved.max(10_240) } else { reserved };
    let rounding = settings.memory.0 / 2000;
    BytesRange {
        low: Bytes((at_least(base) * MIB).saturating_sub(rounding)),
        high: Bytes(at_least(base + graphs) * MIB + rounding),
    }
}
