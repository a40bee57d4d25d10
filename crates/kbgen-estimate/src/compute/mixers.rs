//! What mixes the tokens of a layer, family by family.
//!
//! Follows llama.cpp's `src/models/*.cpp` (<https://github.com/ggml-org/llama.cpp>,
//! commit 0c1e570).

use crate::architecture::{Architecture, LayerKind};
use crate::compute::attention::Projections;
use crate::compute::builder::{Builder, NormKind};
use crate::compute::extent::Extent;
use crate::compute::tensor::{TensorId, shape};
use crate::family::Family;
use crate::names::Name;

impl Builder<'_> {
    /// What mixes tokens: attention or a recurrent layer.
    pub(crate) fn mixer(&mut self, layer: u64, x: TensorId) -> TensorId {
        match (self.model.layers[layer as usize].kind, self.model.family) {
            (LayerKind::Latent, _) => self.latent_attention(layer, x),
            (LayerKind::Recurrent, Family::Lfm2 | Family::Lfm2Moe) => self.short_convolution(layer, x),
            (LayerKind::Recurrent, Family::Qwen35 | Family::Qwen35Moe | Family::Qwen3Next) => {
                self.delta_net(layer, x)
            }
            (LayerKind::Recurrent, _) => self.mamba2(layer, x),
            (_, Family::Qwen35 | Family::Qwen35Moe | Family::Qwen3Next) => self.gated_attention(layer, x),
            (_, Family::Gemma4) => self.gemma4_attention(layer, x),
            _ => self.plain_attention(layer, x),
        }
    }

    fn plain_attention(&mut self, layer: u64, x: TensorId) -> TensorId {
        let family = self.model.family;
        let mut parts = match family {
            Family::Olmo2 | Family::Olmoe | Family::MinimaxM2 => {
                let mut flat = self.flat_projections(layer, x);
                flat.query = self.norm(flat.query, NormKind::Rms, layer, Name::QNorm);
                flat.key = self.norm(flat.key, NormKind::Rms, layer, Name::KNorm);
                self.by_head(layer, flat)
            }
            _ => self.projections(layer, x),
        };
        let by_head = self.model.head_norm || family == Family::CommandR;
        let norms_last = matches!(family, Family::HunyuanDense | Family::HunyuanMoe);
        if by_head && !norms_last {
            parts.query = self.head_norm(layer, Name::QNorm, parts.query);
        }
        if uses_rope(self.model, layer) {
            parts.query = self.rope(layer, parts.query);
        }
        if by_head && !norms_last {
            parts.key = self.head_norm(layer, Name::KNorm, parts.key);
        }
        if uses_rope(self.model, layer) {
            parts.key = self.rope(layer, parts.key);
        }
        if by_head && norms_last {
            parts.key = self.head_norm(layer, Name::KNorm, parts.key);
            parts.query = self.head_norm(layer, Name::QNorm, parts.query);
        }
        match family {
            Family::Gemma
            | Family::Gemma2
            | Family::Gemma3
            | Family::Phi2
            | Family::Phi3
            | Family::PhiMoe => {
                parts.query = self.graph.in_place(&[parts.query]);
            }
            Family::Llama4 => self.llama4_norms(layer, &mut parts),
            _ => {}
        }
        self.attend(layer, parts, true)
    }

    /// Llama 4: norms where positions are rotary (not in Maverick, of 128 experts), else a
    /// scale that grows with the position.
    fn llama4_norms(&mut self, layer: u64, parts: &mut Projections) {
        let maverick = self.model.experts.is_some_and(|experts| experts.count == 128);
        if !uses_rope(self.model, layer) {
            let sources: Vec<TensorId> = [parts.query].into_iter().chain(self.query_scale).collect();
            parts.query = self.graph.in_place(&sources);
        } else if !maverick {
            parts.query = self.bare_norm(parts.query, NormKind::Rms);
            parts.key = self.bare_norm(parts.key, NormKind::Rms);
        }
    }

    fn head_norm(&mut self, layer: u64, name: Name, x: TensorId) -> TensorId {
        let kind = match self.model.family {
            Family::CommandR | Family::StableLm => NormKind::Layer,
            _ => NormKind::Rms,
        };
        self.norm_if_any(layer, name, kind, x)
    }

    /// Gemma 4: V is normed, and may be K.
    fn gemma4_attention(&mut self, layer: u64, x: TensorId) -> TensorId {
        let (heads, kv_heads, head_dim) = self.head_counts(layer);
        let [heads, kv_heads, head_dim] = [heads, kv_heads, head_dim].map(Extent::from);
        let tokens = self.tokens;
        let query = self.linear(layer, Name::Q, None, x);
        let query = self.graph.reshape(query, shape([head_dim, heads, tokens]));
        let query = self.norm(query, NormKind::Rms, layer, Name::QNorm);
        let query = self.rope(layer, query);
        let key = self.linear(layer, Name::K, None, x);
        let value = match self.layer_weight(layer, Name::V) {
            Some(_) => self.linear(layer, Name::V, None, x),
            None => key,
        };
        let key = self.graph.reshape(key, shape([head_dim, kv_heads, tokens]));
        let value = self.graph.reshape(value, shape([head_dim, kv_heads, tokens]));
        let key = self.norm(key, NormKind::Rms, layer, Name::KNorm);
        let value = self.bare_norm(value, NormKind::Rms);
        let key = self.rope(layer, key);
        self.attend(layer, Projections { query, key, value }, true)
    }

    /// Qwen3-Next and 3.5: the Q projection also makes a gate of the result.
    fn gated_attention(&mut self, layer: u64, x: TensorId) -> TensorId {
        let (heads, kv_heads, head_dim) = self.head_counts(layer);
        let [heads, kv_heads, head_dim] = [heads, kv_heads, head_dim].map(Extent::from);
        let tokens = self.tokens;
        let flat = self.flat_projections(layer, x);
        let step = 4 * 2 * head_dim;
        let strides = [step, step * heads, step * heads * tokens];
        let query = self.graph.view(flat.query, shape([head_dim, heads, tokens]), strides);
        let query = self.norm(query, NormKind::Rms, layer, Name::QNorm);
        let key = self.graph.reshape(flat.key, shape([head_dim, kv_heads, tokens]));
        let key = self.norm(key, NormKind::Rms, layer, Name::KNorm);
        let gate = self.graph.view(flat.query, shape([head_dim, heads, tokens]), strides);
        let gate = self.graph.packed(gate, shape([head_dim * heads, tokens]));
        let value = self.graph.reshape(flat.value, shape([head_dim, kv_heads, tokens]));
        let query = self.rope(layer, query);
        let key = self.rope(layer, key);
        let out = self.attend(layer, Projections { query, key, value }, false);
        let opened = self.graph.in_place(&[gate]);
        let gated = self.graph.in_place(&[out, opened]);
        self.linear(layer, Name::AttentionOutput, None, gated)
    }
}

/// Some families leave rotary positions out of every fourth or of the full layers.
pub(crate) fn uses_rope(model: &Architecture, layer: u64) -> bool {
    let sliding = model.layers[layer as usize].kind == LayerKind::Sliding;
    match model.family {
        Family::SmolLm3 | Family::Llama4 => !(layer + 1).is_multiple_of(4),
        Family::Cohere2 => sliding,
        Family::Exaone4 => sliding || !model.has(LayerKind::Sliding),
        Family::NemotronHMoe => false,
        _ => true,
    }
}
