//! Memory of vLLM: weights by data type, the remaining pool of KV blocks, and the contexts that fit.
//!
//! vLLM measures its needs at startup and uses the rest of its share of the GPU for the pool, so the pool is a range
//! here. Sources, at vllm-project/vllm 001cabc1: `vllm/v1/core/kv_cache_utils.py`, `vllm/v1/kv_cache_interface.py`;
//! `vllm/config/cache.py`.

use crate::architecture::{Architecture, LayerKind};
use crate::bytes::Bytes;
use crate::cache::state_widths;
use crate::checkpoint::{WeightType, card_kv_heads, check_split, weight_bytes};
use crate::estimator::{BytesRange, NotCovered};

/// Tokens per block.
const BLOCK: u64 = 16;
/// Share of GPU memory that vLLM uses, in thousandths (`--gpu-memory-utilization 0.92`).
pub const DEFAULT_UTILIZATION: u64 = 920;

/// Width of the cache (`--kv-cache-dtype`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PoolCache {
    /// Data type of the model's weights.
    #[default]
    Auto,
    /// One byte per value.
    Fp8,
}

/// Settings of a server with a pool for its cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PoolSettings {
    /// Type of the checkpoint.
    pub weights: WeightType,
    /// Width of the cache.
    pub cache: PoolCache,
    /// Number of GPUs in tensor parallelism.
    pub cards: u64,
    /// Memory of the smallest GPU, as programs see it.
    pub memory: Bytes,
    /// Share of the memory that the program may use, in thousandths; `None` for the program's default.
    pub utilization: Option<u64>,
    /// Parts of the checkpoint that may be loaded on each GPU in addition to the text model, such as a vision
    /// tower.
    pub further: Bytes,
    /// Weights on each GPU, from the headers of a checkpoint; `None` to compute them from the weight type.
    pub exact_weights: Option<Bytes>,
}

impl Default for PoolSettings {
    /// Returns settings for BF16 on one GPU. The memory is zero, which does not affect weights and requests.
    fn default() -> PoolSettings {
        PoolSettings {
            weights: WeightType::Bf16,
            cache: PoolCache::Auto,
            cards: 1,
            memory: Bytes(0),
            utilization: None,
            further: Bytes(0),
            exact_weights: None,
        }
    }
}

impl PoolSettings {
    /// Returns the weights on each GPU.
    ///
    /// # Errors
    /// If the model cannot be divided among the GPUs.
    pub(crate) fn weights_on_card(&self, model: &Architecture) -> Result<Bytes, NotCovered> {
        check_split(model, self.cards)?;
        match self.exact_weights {
            Some(bytes) => Ok(bytes),
            None => weight_bytes(model, self.weights, self.cards),
        }
    }

    /// Returns the bytes of a value in the cache.
    pub(crate) fn value_bytes(&self) -> u64 {
        match self.cache {
            PoolCache::Auto => self.weights.plain_bytes(),
            PoolCache::Fp8 => 1,
        }
    }
}

/// Memory that a server needs on each GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PoolEstimate {
    /// Weights.
    pub weights: Bytes,
    /// Peak of activations, and memory used by CUDA and NCCL.
    pub reserve: BytesRange,
    /// Bytes left for the pool of KV blocks; zero if none are left.
    pub pool: BytesRange,
    /// Longest context (`--max-model-len`) that is certain to fit, and longest that may fit, in tokens. At
    /// most the model's own maximum.
    pub context: (u64, u64),
}

/// Verdict whether a server starts with a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PoolVerdict {
    /// Starts even with the maximum reserve.
    Fits,
    /// Starts only with a smaller reserve.
    Tight,
    /// The pool is too small for one request of that length.
    TooLarge,
}

impl PoolEstimate {
    /// Returns the verdict for a `--max-model-len`: the pool must fit one request.
    pub fn verdict(&self, context: u64) -> PoolVerdict {
        match context {
            context if context <= self.context.0 => PoolVerdict::Fits,
            context if context <= self.context.1 => PoolVerdict::Tight,
            _ => PoolVerdict::TooLarge,
        }
    }
}

/// Returns the memory that vLLM needs on each GPU.
///
/// # Errors
/// If the model's cache is not modeled or not divisible among the GPUs.
pub fn vllm(model: &Architecture, settings: &PoolSettings) -> Result<PoolEstimate, NotCovered> {
    let weights = settings.weights_on_card(model)?;
    let reserve = reserve(settings);
    let share = settings.memory.0 * settings.utilization.unwrap_or(DEFAULT_UTILIZATION) / 1000;
    let pool = BytesRange {
        low: Bytes(share.saturating_sub(weights.0 + settings.further.0 + reserve.high.0)),
        high: Bytes(share.saturating_sub(weights.0 + reserve.low.0)),
    };
    let request = Request::new(model, settings)?;
    let context = (
        longest_context(model.max_context, |tokens| request.bytes(tokens).high <= pool.low),
        longest_context(model.max_context, |tokens| request.bytes(tokens).low <= pool.high),
    );
    Ok(PoolEstimate { weights, reserve, pool, context })
}

/// Returns the largest number of tokens up to `most` that fits.
pub(crate) fn longest_context(most: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if fits(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// Returns the memory that vLLM measures outside weights and pool, at its own batch size. Reported sums of
/// activation peak and memory outside PyTorch: 0.57 GiB on an RTX 3090 with a small batch (pull request
/// 14447), 1.1 to 1.6 GiB on consumer GPUs, a T4 and an A100, 3.05 GiB on an H100, 4.84 GiB on each of two
/// (pull request 10511), 10.1 GiB on each of four RTX PRO 6000. A larger `--max-num-batched-tokens` needs
/// more: 2.4 GiB were reported with 20,000 tokens (issue 10517). Since version 0.19, CUDA graphs count, too:
/// 1.62 GiB were logged (pull request 39559).
fn reserve(settings: &PoolSettings) -> BytesRange {
    const GIB: u64 = 1 << 30;
    let high = match (settings.cards, settings.memory.0 < 70 * GIB) {
        (1, true) => 7 * GIB / 2,
        (1, false) => 5 * GIB,
        (_, true) => 13 * GIB / 2,
        (_, false) => 12 * GIB,
    };
    BytesRange { low: Bytes(GIB / 2), high: Bytes(high) }
}

/// Returns the pool size that one GPU needs for one request of `tokens` tokens.
///
/// # Errors
/// As [`Request::new`].
pub fn request_bytes(
    model: &Architecture,
    settings: &PoolSettings,
    tokens: u64,
) -> Result<BytesRange, NotCovered> {
    Ok(Request::new(model, settings)?.bytes(tokens))
}

/// Bytes that a request uses in the pool of one GPU, by layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Request {
    /// Bytes of one layer's block.
    pub page: u64,
    /// Number of layers that keep all tokens, and of layers that keep a window.
    pub layers: (u64, u64),
    /// The same numbers after vLLM has padded them to groups.
    pub padded: (u64, u64),
    /// Tokens of the window.
    pub window: u64,
    /// Layers with a recurrent state.
    pub states: Option<States>,
}

/// Recurrent states of a request. vLLM stores states and blocks of attention layers in pages of one size,
/// that of the larger one (`HybridAttentionMambaModelConfig` in `vllm/model_executor/models/config.py`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct States {
    /// Number of layers, before and after vLLM pads it to groups.
    pub layers: (u64, u64),
    /// Bytes of one layer's state: with 16-bit values, and with 32-bit values after the convolution.
    pub bytes: BytesRange,
}

impl Request {
    /// Computes the constants of a request to this model.
    ///
    /// # Errors
    /// If the model has layers of different width, or an uncommon cache.
    pub fn new(model: &Architecture, settings: &PoolSettings) -> Result<Request, NotCovered> {
        let count = |kind| model.layers.iter().filter(|layer| layer.kind == kind).count() as u64;
        if let Some(part) = model.uncommon_cache() {
            return Err(NotCovered(format!("the vLLM cache of {part} is not modeled")));
        }
        let full = count(LayerKind::Full) + count(LayerKind::Latent);
        let sliding = count(LayerKind::Sliding);
        let recurrent = count(LayerKind::Recurrent);
        let (padded_full, padded_states) =
            if recurrent == 0 { (full, 0) } else { padded_to_groups(full, recurrent) };
        if recurrent > 0 && sliding > 0 {
            return Err(NotCovered("the vLLM cache of three kinds of layers is not modeled".to_owned()));
        }
        let states = (recurrent > 0).then(|| States {
            layers: (recurrent, padded_states),
            bytes: state_bytes(model, settings.cards),
        });
        Ok(Request {
            page: page_bytes(model, settings)?,
            layers: (full, sliding),
            padded: if sliding == 0 { (padded_full, 0) } else { padded_to_groups(full, sliding) },
            window: model.sliding_window,
            states,
        })
    }

    fn bytes_with_states(&self, states: &States, tokens: u64) -> BytesRange {
        let bytes = |full: u64, layers: u64, state: Bytes| {
            let blocks = state.0.div_ceil(self.page).max(1);
            let pages = full * tokens.div_ceil(BLOCK * blocks) + layers;
            Bytes(pages * blocks * self.page)
        };
        BytesRange {
            low: bytes(self.layers.0, states.layers.0, states.bytes.low),
            high: bytes(self.padded.0, states.layers.1, states.bytes.high),
        }
    }

    /// Returns the bytes for a number of tokens. The ends differ for models with sliding windows, where the
    /// bytes depend on the tokens of a batch and on how vLLM groups the layers.
    pub fn bytes(&self, tokens: u64) -> BytesRange {
        if let Some(states) = &self.states {
            return self.bytes_with_states(states, tokens);
        }
        let blocks = |(full, sliding): (u64, u64), batch: u64| {
            let kept = (self.window.saturating_sub(1) + batch).min(tokens);
            Bytes((full * tokens.div_ceil(BLOCK) + sliding * (kept.div_ceil(BLOCK) + 1)) * self.page)
        };
        BytesRange { low: blocks(self.layers, SMALL_BATCH), high: blocks(self.padded, LARGE_BATCH) }
    }
}

/// Default of `--max-num-batched-tokens` in `vllm serve`: 2048, and 8192 on GPUs with 70 GiB or more
/// (`vllm/engine/arg_utils.py`).
const SMALL_BATCH: u64 = 2048;
/// As [`SMALL_BATCH`], for GPUs with 70 GiB or more.
const LARGE_BATCH: u64 = 8192;

/// Returns the numbers of layers after vLLM has padded them to groups of one size: the smaller number, or the
/// larger one if it is less than 1.5 times the smaller.
fn padded_to_groups(full: u64, sliding: u64) -> (u64, u64) {
    if full == 0 {
        return (full, sliding);
    }
    let (fewest, most) = (full.min(sliding), full.max(sliding));
    let size = if 2 * most < 3 * fewest { most } else { fewest };
    (full.next_multiple_of(size), sliding.next_multiple_of(size))
}

/// Returns the bytes of one layer's recurrent state on one GPU.
fn state_bytes(model: &Architecture, cards: u64) -> BytesRange {
    let (convolution, state) = state_widths(model);
    let of_card = |width: u64| width.div_ceil(cards);
    BytesRange {
        low: Bytes(2 * (of_card(convolution) + of_card(state))),
        high: Bytes(2 * of_card(convolution) + 4 * of_card(state)),
    }
}

/// Returns the bytes of one layer's block on one GPU.
fn page_bytes(model: &Architecture, settings: &PoolSettings) -> Result<u64, NotCovered> {
    let width = settings.value_bytes();
    let no = |reason: &str| Err(NotCovered(reason.to_owned()));
    let mut pages = Vec::new();
    for layer in &model.layers {
        match layer.kind {
            LayerKind::Full | LayerKind::Sliding => {
                let heads = card_kv_heads(layer.kv_heads, settings.cards);
                pages.push(2 * BLOCK * heads * layer.head_dim * width);
            }
            LayerKind::Latent => pages.push(BLOCK * layer.head_dim * width),
            LayerKind::Recurrent | LayerKind::None => {}
        }
    }
    pages.dedup();
    match pages.as_slice() {
        [page] => Ok(*page),
        [] => no("the model has no attention"),
        _ => no("the vLLM cache of layers with different widths is not modeled"),
    }
}
