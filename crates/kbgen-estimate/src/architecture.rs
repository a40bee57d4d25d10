//! A model in plain numbers: its layers, widths, experts, latent and recurrent parts.

use std::fmt;

use crate::family::Family;
use crate::quantization::Quantization;
use crate::settings::{FlashAttention, Settings};

/// Smallest head width for which CUDA has flash-attention kernels (`ggml_cuda_get_best_fattn_kernel` in
/// ggml's `src/ggml-cuda/fattn.cu`).
const NARROWEST_FUSED_HEAD: u64 = 40;

/// Kind of a layer, by the state that it keeps of earlier tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// Attention over the whole context.
    Full,
    /// Attention over a sliding window.
    Sliding,
    /// A state of fixed size: SSM, gated delta net, short convolution.
    Recurrent,
    /// Multi-head latent attention: one compressed row per token.
    Latent,
    /// No state: the layer has only a feed-forward part.
    None,
}

/// The feed-forward part of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeedForward {
    /// No feed-forward part.
    None,
    /// Dense network of this width.
    Dense(u64),
    /// Routed experts, as [`Architecture::experts`] describes them.
    Experts,
}

/// One layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Layer {
    /// Kind, by the state that the layer keeps of earlier tokens.
    pub kind: LayerKind,
    /// KV heads; zero if the layer has no attention.
    pub kv_heads: u64,
    /// Width of a head.
    pub head_dim: u64,
    /// Width of a head of values.
    pub value_dim: u64,
    /// Whether the V projection is the K projection (full-attention layers of Gemma 4).
    pub value_is_key: bool,
    /// Whether the layer reads the cache of an earlier layer of its kind (the last layers of Gemma 4 E2B and
    /// E4B).
    pub shares_cache: bool,
    /// Whether the layer has an indexer, and so a cache of index keys. Sparse layers without one read the
    /// tokens that an earlier layer selected.
    pub has_indexer: bool,
    /// Feed-forward part.
    pub feed_forward: FeedForward,
}

/// Key for the size of a layer's cache or state: kind, KV heads, head width, whether it has an indexer.
pub type CacheShape = (LayerKind, u64, u64, bool);

impl Layer {
    /// Returns the key for the size of the layer's cache or state, with given model and settings.
    pub fn cache_shape(&self) -> CacheShape {
        (self.cache_kind(), self.kv_heads, self.head_dim, self.has_indexer)
    }

    /// Returns the kind of the layer's own cache or state.
    pub fn cache_kind(&self) -> LayerKind {
        if self.shares_cache { LayerKind::None } else { self.kind }
    }
}

/// Routed experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Experts {
    /// Number of experts.
    pub count: u64,
    /// Experts used for a token.
    pub used: u64,
    /// Width of one expert.
    pub width: u64,
    /// Total width of the shared experts; zero if there are none.
    pub shared_width: u64,
    /// Width to which the hidden state is projected for the routed experts; zero if it is not projected.
    pub latent_width: u64,
    /// Whether the router has a correction bias.
    pub router_bias: bool,
}

/// Multi-head latent attention (MLA).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Latent {
    /// Rank of the compressed K and V.
    pub kv_lora: u64,
    /// Rank of the compressed Q; zero if Q is not compressed.
    pub q_lora: u64,
    /// Width of a head's part with rotary positions.
    pub qk_rope: u64,
    /// Width of a head's part without rotary positions.
    pub qk_nope: u64,
    /// Width of a head's value.
    pub v_head: u64,
}

/// Lightning indexer: selects the tokens that latent attention reads (DeepSeek sparse attention).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Indexer {
    /// Heads.
    pub heads: u64,
    /// Width of a head, and of the index key of a token.
    pub width: u64,
    /// Number of tokens selected for a query.
    pub top: u64,
}

/// Method that combines the vectors of a text's tokens into its embedding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Pooling {
    /// Their mean.
    Mean,
    /// The vector of one token: the first or the last.
    Token,
}

/// State of the recurrent layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Recurrent {
    /// Length of the convolution.
    pub conv: u64,
    /// Inner width; zero for a pure short convolution (LFM2).
    pub inner: u64,
    /// State per head.
    pub state: u64,
    /// Rank of the time step: the number of value heads.
    pub dt_rank: u64,
    /// Groups: the number of key heads.
    pub groups: u64,
}

/// Rotary frequency factors stored as separate tensors in the model file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RopeFactors {
    /// None.
    None,
    /// One tensor with this number of values (Llama 3.1 and later).
    One(u64),
    /// A long and a short tensor with this number of values each (LongRoPE of Phi).
    LongAndShort(u64),
}

/// A model in plain numbers. Created by `ArchitectureFields::build`, which validates them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Architecture {
    /// GGUF architecture.
    pub family: &'static Family,
    /// Layers in order.
    pub layers: Vec<Layer>,
    /// Width of the residual stream.
    pub hidden: u64,
    /// Attention heads.
    pub heads: u64,
    /// Width of the dense feed-forward network, which Gemma 4 has in addition to experts; zero if there is
    /// none.
    pub ffn: u64,
    /// Vocabulary.
    pub vocabulary: u64,
    /// Width of a token's per-layer embedding; zero if there is none.
    pub per_layer_embedding: u64,
    /// Whether the output matrix is the embedding matrix.
    pub tied: bool,
    /// Routed experts.
    pub experts: Option<Experts>,
    /// Latent attention.
    pub latent: Option<Latent>,
    /// Indexer of sparse attention.
    pub indexer: Option<Indexer>,
    /// Recurrent layers' state.
    pub recurrent: Option<Recurrent>,
    /// Window of sliding-window layers, in tokens; zero if there are none.
    pub sliding_window: u64,
    /// Whether Q, K and V projections have a bias.
    pub qkv_bias: bool,
    /// Whether Q and K are normalized by head.
    pub head_norm: bool,
    /// Whether Q, K and V are one matrix.
    pub fused_qkv: bool,
    /// Whether gate and up projections are one matrix.
    pub fused_gate_up: bool,
    /// Whether the feed-forward network has a gate.
    pub gated_ffn: bool,
    /// Tensors of rotary frequency factors.
    pub rope_factors: RopeFactors,
    /// Pooling of an embedding model; `None` for a model that generates text.
    pub pooling: Option<Pooling>,
    /// Number of token types with a vector of their own; zero if there are none.
    pub token_types: u64,
    /// Longest context that the model supports, in tokens.
    pub max_context: u64,
}

impl Architecture {
    /// Returns `heads / kv_heads` of the first layer for the quantizer's rules. Zero if the first layer has
    /// no attention and the file stores KV heads by layer.
    pub(crate) fn grouped_query_ratio(&self) -> u64 {
        let layer = if self.family.kv_heads_by_layer {
            self.layers.first()
        } else {
            self.layers.iter().find(|layer| layer.kv_heads > 0)
        };
        layer.map_or(0, |layer| self.heads.checked_div(layer.kv_heads).unwrap_or(0))
    }

    /// Returns the part of the model that other programs cache in their own format, which is not modeled.
    pub(crate) fn uncommon_cache(&self) -> Option<&'static str> {
        match self.indexer {
            Some(_) => Some("sparse attention"),
            None if self.layers.iter().any(|layer| layer.value_dim != layer.head_dim) => {
                Some("values of another width than keys")
            }
            None => None,
        }
    }

    /// Returns the widest V row of all layers. Without flash attention, every V cache has this width.
    pub(crate) fn widest_value_row(&self) -> u64 {
        self.layers.iter().map(|layer| layer.kv_heads * layer.value_dim).max().unwrap_or(0)
    }

    /// Returns whether GPUs have a kernel of flash attention for the heads of all layers.
    pub fn has_fused_kernel(&self) -> bool {
        self.layers.iter().all(|layer| layer.kv_heads == 0 || layer.head_dim >= NARROWEST_FUSED_HEAD)
    }

    /// Returns whether attention is one fused operation. Even with [`FlashAttention::On`], llama.cpp does not
    /// fuse attention if a layer is on a GPU without a kernel.
    pub fn fuses_attention(&self, settings: &Settings) -> bool {
        let on_host = settings.tensor_split.is_empty() || settings.gpu_layers.is_some_and(|count| count <= 1);
        settings.flash_attention == FlashAttention::On && (on_host || self.has_fused_kernel())
    }

    /// Returns whether the model is available in a quantization. MXFP4 is for experts: llama-quantize calls it
    /// `MXFP4_MOE` and writes dense models as Q8_0 (`llama_tensor_get_type_impl` in llama.cpp's
    /// `src/llama-quant.cpp`).
    pub fn comes_in(&self, quantization: Quantization) -> bool {
        quantization != Quantization::MXFP4 || self.experts.is_some()
    }

    /// Returns whether any layer is of this kind.
    pub fn has(&self, kind: LayerKind) -> bool {
        self.layers.iter().any(|layer| layer.kind == kind)
    }
}

/// Field of [`ArchitectureFields`](crate::fields::ArchitectureFields) with an invalid value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldError {
    /// Name of the field.
    pub field: &'static str,
    /// Description of the error, as a phrase.
    pub problem: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.field, self.problem)
    }
}

impl std::error::Error for FieldError {}
