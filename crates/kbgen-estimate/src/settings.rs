//! Settings of a run, as on llama.cpp's command line.

use std::ops::Range;

use crate::build::Build;
use crate::quantization::{CacheType, Quantization};

/// Placement of the weights of experts (`--cpu-moe`, `--n-cpu-moe`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum ExpertPlacement {
    /// With their layer.
    #[default]
    WithLayer,
    /// Experts of the first layers in host memory.
    FirstLayersOnCpu(u64),
    /// Experts of the last layers in host memory, as selected by `--fit` of llama.cpp.
    LastLayersOnCpu(u64),
    /// All experts in host memory.
    Cpu,
}

impl ExpertPlacement {
    /// Returns the layers whose experts are in host memory even if the layer is not.
    pub(crate) fn on_host(self, layers: u64) -> Range<u64> {
        match self {
            ExpertPlacement::WithLayer => 0..0,
            ExpertPlacement::FirstLayersOnCpu(count) => 0..count.min(layers),
            ExpertPlacement::LastLayersOnCpu(count) => layers.saturating_sub(count)..layers,
            ExpertPlacement::Cpu => 0..layers,
        }
    }
}

/// Whether flash attention is used (`-fa`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum FlashAttention {
    /// Attention is one fused operation. llama.cpp's choice on every device that supports it.
    #[default]
    On,
    /// Attention scores are stored, which requires a large compute buffer and rules out a quantized V cache.
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

/// Placement of the KV cache (`--no-kv-offload`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum CachePlacement {
    /// On the device of its layer.
    #[default]
    WithLayer,
    /// In host memory.
    Host,
}

/// Size of the caches of sliding-window layers (`--swa-full`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum WindowCache {
    /// As many cells as the window needs.
    #[default]
    Window,
    /// As many cells as the full-attention layers have.
    Full,
}

/// Whether several GPUs that hold all layers keep copies of their inputs to compute in parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Pipelining {
    /// Enabled, as in llama.cpp on backends that support it.
    #[default]
    On,
    /// Disabled, as on backends without events.
    Off,
}

/// Settings of a run. Start from [`Settings::new`] and change fields.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Quantization of the weights.
    pub quantization: Quantization,
    /// Context size in tokens, over all sequences (`-c`). A context shorter than a micro-batch is rounded up
    /// to a multiple of 256.
    pub context: u64,
    /// Type of the K cache.
    pub cache_type_k: CacheType,
    /// Type of the V cache.
    pub cache_type_v: CacheType,
    /// Flash attention.
    pub flash_attention: FlashAttention,
    /// Maximum tokens per call (`-b`).
    pub n_batch: u64,
    /// Tokens that the graph computes at once (`-ub`).
    pub n_ubatch: u64,
    /// Sequences served concurrently (`-np`).
    pub sequences: u64,
    /// Whether sequences share one cache.
    pub cache_layout: CacheLayout,
    /// Tokens of a micro-batch whose logits are kept; `None` keeps all of them, the library's default. The
    /// server passes its number of slots.
    pub n_outputs: Option<u64>,
    /// Layers on the GPUs, counting the output as one more (`-ngl`); `None` means all.
    pub gpu_layers: Option<u64>,
    /// Relative share of the layers for each GPU (`-ts`). The length is the number of GPUs; an empty list describes a
    /// machine without GPUs.
    pub tensor_split: Vec<u64>,
    /// Placement of experts.
    pub experts: ExpertPlacement,
    /// Placement of the cache.
    pub cache_placement: CachePlacement,
    /// Size of sliding-window caches.
    pub window_cache: WindowCache,
    /// Copies for pipeline parallelism.
    pub pipelining: Pipelining,
    /// Build of llama.cpp.
    pub build: Build,
}

impl Settings {
    /// Creates settings with all layers on one GPU, an f16 cache, flash attention, one sequence, and
    /// llama.cpp's batch sizes.
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

    /// Returns the number of tokens that the graph computes at once: the smaller of the two batch sizes.
    pub(crate) fn micro_batch(&self) -> u64 {
        self.n_ubatch.min(self.n_batch)
    }

    /// Returns how many of the layers are in host memory, counting the output as one more; these are the first
    /// ones.
    pub(crate) fn on_host(&self, layers: u64) -> u64 {
        match self.gpu_layers {
            _ if self.tensor_split.is_empty() => layers + 1,
            Some(count) => (layers + 1).saturating_sub(count),
            None => 0,
        }
    }

    /// Returns the same settings with another context size.
    pub fn at_context(&self, context: u64) -> Settings {
        Settings { context, ..self.clone() }
    }
}
