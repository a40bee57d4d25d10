//! How a model is run: what the command line of llama.cpp sets.

use crate::build::Build;
use crate::quantization::{CacheType, Quantization};

/// Where the experts' weights of a model with experts are kept (`--cpu-moe`, `--n-cpu-moe`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ExpertPlacement {
    /// With their layer.
    #[default]
    WithLayer,
    /// Experts of the first layers in host memory.
    FirstLayersOnCpu(u64),
    /// Experts of the last layers in host memory, as selected by `--fit` of llama.cpp.
    LastLayersOnCpu(u64),
    /// All in the host's memory.
    Cpu,
}

/// Whether flash attention is used (`-fa`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FlashAttention {
    /// One fused operation; llama.cpp's choice wherever the device can.
    #[default]
    On,
    /// Scores are written out: a large compute buffer, and no quantized V cache.
    Off,
}

/// Whether sequences share one cache (`--kv-unified`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CacheLayout {
    /// Each sequence has its own part of the context.
    #[default]
    Separate,
    /// All sequences share the whole context.
    Unified,
}

/// Where the KV cache is kept (`--no-kv-offload`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CachePlacement {
    /// On the device of its layer.
    #[default]
    WithLayer,
    /// In the host's memory.
    Host,
}

/// The size of the caches of sliding-window layers (`--swa-full`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WindowCache {
    /// As many cells as the window needs.
    #[default]
    Window,
    /// As many cells as the full-attention layers have.
    Full,
}

/// Whether several GPUs with all layers keep copies of their inputs, to compute in parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Pipelining {
    /// As llama.cpp does on backends that support it.
    #[default]
    On,
    /// As on backends without events.
    Off,
}

/// How a model is run. Start from [`Settings::new`] and change fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Quantization of the weights.
    pub quantization: Quantization,
    /// Context size in tokens, over all sequences (`-c`). One shorter than a micro-batch
    /// counts as the next multiple of 256.
    pub context: u64,
    /// Type of the K cache.
    pub cache_type_k: CacheType,
    /// Type of the V cache.
    pub cache_type_v: CacheType,
    /// Flash attention.
    pub flash_attention: FlashAttention,
    /// Tokens a call may hold (`-b`).
    pub n_batch: u64,
    /// Tokens the graph computes at once (`-ub`).
    pub n_ubatch: u64,
    /// Sequences served side by side (`-np`).
    pub sequences: u64,
    /// One cache for all sequences, or one each.
    pub cache_layout: CacheLayout,
    /// Tokens of a micro-batch whose logits are kept; none: all of them, which is the
    /// library's default. The server passes its number of slots.
    pub n_outputs: Option<u64>,
    /// Layers on the GPUs, the output counted as one more (`-ngl`); none: all.
    pub gpu_layers: Option<u64>,
    /// Share of the layers that each GPU gets (`-ts`); its length is the number of GPUs,
    /// an empty list is a machine without one.
    pub tensor_split: Vec<u64>,
    /// Where experts are kept.
    pub experts: ExpertPlacement,
    /// Where the cache is kept.
    pub cache_placement: CachePlacement,
    /// Size of sliding-window caches.
    pub window_cache: WindowCache,
    /// Copies for pipeline parallelism.
    pub pipelining: Pipelining,
    /// Build of llama.cpp.
    pub build: Build,
}

impl Settings {
    /// All layers on one GPU, f16 cache, flash attention, one sequence, llama.cpp's batch sizes.
    pub fn new(quantization: Quantization, context: u64) -> Settings {
        Settings {
            quantization,
            context,
            cache_type_k: CacheType::F16,
            cache_type_v: CacheType::F16,
            flash_attention: FlashAttention::On,
            n_batch: 2048,
            n_ubatch: 512,
            sequences: 1,
            cache_layout: CacheLayout::Separate,
            n_outputs: None,
            gpu_layers: None,
            tensor_split: vec![1],
            experts: ExpertPlacement::WithLayer,
            cache_placement: CachePlacement::WithLayer,
            window_cache: WindowCache::Window,
            pipelining: Pipelining::On,
            build: Build::default(),
        }
    }

    /// Tokens that the graph computes at once: the smaller of the two batch sizes.
    pub(crate) fn micro_batch(&self) -> u64 {
        self.n_ubatch.min(self.n_batch)
    }

    /// The same settings at another context size.
    pub fn at_context(&self, context: u64) -> Settings {
        Settings { context, ..self.clone() }
    }
}
