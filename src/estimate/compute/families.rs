//! What the layers of each family are made of, and the whole graph.
//!
//! Follows llama.cpp's `src/models/*.cpp` (https://github.com/ggml-org/llama.cpp,
//! commit 0c1e570).

use crate::estimate::architecture::{FeedForward, LayerKind};
use crate::estimate::compute::attention::Projections;
use crate::estimate::compute::builder::{Builder, NormKind};
use crate::estimate::compute::feed_forward::{Gating, Routing};
use crate::estimate::compute::graph::{TensorId, shape};
use crate::estimate::family::Family;
use crate::estimate::tensors::Name;

impl Builder<'_> {
    /// Builds the whole graph.
    pub(crate) fn build(&mut self) {
        let family = self.model.family;
        let mut x = self.embedding();
        if matches!(
            family,
            Family::Gemma
                | Family::Gemma2
                | Family::Gemma3
                | Family::Gemma4
                | Family::Granite
                | Family::GraniteMoe
                | Family::GraniteHybrid
        ) {
            x = self.graph.in_place(&[x]);
            self.graph.expand(x);
        }
        self.add_inputs();
        let last = self.model.layers.len() as u64 - 1;
        for layer in 0..=last {
            x = self.layer(layer, x, layer == last);
        }
        let kind = self.norm_kind();
        x = match family {
            // the state that a draft head would read is an output too
            Family::GptOss => {
                self.graph.mark_output(x);
                let kept = self.keep_outputs(x);
                self.output_norm(kept, kind)
            }
            _ if self.keeps_outputs_late() => {
                let normed = self.output_norm(x, kind);
                self.graph.mark_output(normed);
                self.keep_outputs(normed)
            }
            _ => self.output_norm(x, kind),
        };
        self.graph.mark_output(x);
        let mut logits = self.logits(x);
        let steps = match family {
            Family::Gemma2 | Family::Gemma4 => 3,
            Family::Granite
            | Family::GraniteMoe
            | Family::GraniteHybrid
            | Family::CommandR
            | Family::Cohere2 => 1,
            _ => 0,
        };
        for _ in 0..steps {
            logits = self.graph.in_place(&[logits]);
        }
        self.graph.mark_output(logits);
        self.graph.expand(logits);
    }

    fn add_inputs(&mut self) {
        let per_token = match self.model.family {
            Family::Qwen35 | Family::Qwen35Moe => 4,
            _ => 1,
        };
        self.add_positions(per_token);
        if self.model.family == Family::Llama4 {
            self.add_query_scale();
        }
        self.add_attention_inputs();
        if self.model.has(LayerKind::Recurrent) {
            self.add_state_inputs();
        }
    }

    /// Whether the tokens without logits are dropped only before the last norm.
    fn keeps_outputs_late(&self) -> bool {
        matches!(
            self.model.family,
            Family::GptOss
                | Family::Gemma4
                | Family::NemotronHMoe
                | Family::Qwen3Next
                | Family::Qwen35
                | Family::Qwen35Moe
        )
    }

    fn norm_kind(&self) -> NormKind {
        match self.model.family {
            Family::Phi2 | Family::Starcoder2 | Family::StableLm | Family::CommandR | Family::Cohere2 => {
                NormKind::Layer
            }
            _ => NormKind::Rms,
        }
    }

    fn layer(&mut self, layer: u64, x: TensorId, is_last: bool) -> TensorId {
        match self.model.family {
            Family::Phi2 | Family::CommandR | Family::Cohere2 => self.parallel_layer(layer, x, is_last),
            Family::NemotronHMoe => self.single_part_layer(layer, x, is_last),
            _ => self.two_part_layer(layer, x, is_last),
        }
    }

    /// Attention, then feed-forward, each added to the stream.
    fn two_part_layer(&mut self, layer: u64, x: TensorId, is_last: bool) -> TensorId {
        let family = self.model.family;
        let kind = self.norm_kind();
        let mut stream = x;
        let mut y = self.norm_if_any(layer, Name::AttentionNorm, kind, x);
        if matches!(family, Family::Qwen35 | Family::Qwen35Moe | Family::Qwen3Next) {
            self.graph.expand(y);
        }
        y = self.mixer(layer, y);
        if is_last && !self.keeps_outputs_late() {
            y = self.keep_outputs(y);
            stream = self.keep_outputs(stream);
        }
        y = self.norm_if_any(layer, Name::AttentionPostNorm, kind, y);
        let scales_residual = matches!(family, Family::Granite | Family::GraniteMoe | Family::GraniteHybrid);
        if scales_residual {
            y = self.graph.in_place(&[y]);
        }
        let pair = match family {
            Family::Lfm2 | Family::Lfm2Moe => [stream, y],
            _ => [y, stream],
        };
        let middle = self.graph.in_place(&pair);
        let mut z = self.feed_forward(layer, middle);
        z = self.norm_if_any(layer, Name::FfnPostNorm, kind, z);
        if scales_residual {
            z = self.graph.in_place(&[z]);
        }
        let pair = match family {
            Family::Lfm2 | Family::Lfm2Moe | Family::Phi3 | Family::PhiMoe => [middle, z],
            _ => [z, middle],
        };
        let out = self.graph.in_place(&pair);
        match self.layer_weight(layer, Name::LayerScale) {
            Some(scale) => self.graph.in_place(&[out, scale]),
            None => out,
        }
    }

    /// Attention and feed-forward beside each other.
    fn parallel_layer(&mut self, layer: u64, x: TensorId, is_last: bool) -> TensorId {
        let normed = self.norm(x, NormKind::Layer, layer, Name::AttentionNorm);
        let mut attended = self.mixer(layer, normed);
        let (mut stream, mut inner) = (x, normed);
        if is_last {
            attended = self.keep_outputs(attended);
            stream = self.keep_outputs(stream);
            inner = self.keep_outputs(inner);
        }
        let fed = self.dense(layer, inner);
        if self.model.family == Family::Phi2 {
            let sum = self.graph.in_place(&[attended, fed]);
            return self.graph.in_place(&[sum, stream]);
        }
        let sum = self.graph.in_place(&[fed, stream]);
        self.graph.in_place(&[sum, attended])
    }

    /// Either a mixer or a feed-forward.
    fn single_part_layer(&mut self, layer: u64, x: TensorId, is_last: bool) -> TensorId {
        let normed = self.norm(x, NormKind::Rms, layer, Name::AttentionNorm);
        let mut y = if self.has_experts(layer) {
            self.routed_and_shared(layer, normed)
        } else {
            self.mixer(layer, normed)
        };
        let mut stream = x;
        if is_last && !self.keeps_outputs_late() {
            y = self.keep_outputs(y);
            stream = self.keep_outputs(stream);
        }
        self.graph.in_place(&[y, stream])
    }

    fn norm_if_any(&mut self, layer: u64, name: Name, kind: NormKind, x: TensorId) -> TensorId {
        match self.layer_weight(layer, name) {
            Some(_) => self.norm(x, kind, layer, name),
            None => x,
        }
    }

    /// What mixes tokens: attention or a recurrent layer.
    fn mixer(&mut self, layer: u64, x: TensorId) -> TensorId {
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
        if self.uses_rope(layer) {
            parts.query = self.rope(layer, parts.query);
        }
        if by_head && !norms_last {
            parts.key = self.head_norm(layer, Name::KNorm, parts.key);
        }
        if self.uses_rope(layer) {
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
        if !self.uses_rope(layer) {
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

    /// Some families leave rotary positions out of every fourth or of the full layers.
    fn uses_rope(&self, layer: u64) -> bool {
        let sliding = self.model.layers[layer as usize].kind == LayerKind::Sliding;
        match self.model.family {
            Family::SmolLm3 | Family::Llama4 => !(layer + 1).is_multiple_of(4),
            Family::Cohere2 => sliding,
            Family::Exaone4 => sliding || !self.model.has(LayerKind::Sliding),
            Family::NemotronHMoe => false,
            _ => true,
        }
    }

    /// Gemma 4: V is normed, and may be K.
    fn gemma4_attention(&mut self, layer: u64, x: TensorId) -> TensorId {
        let (heads, kv_heads, head_dim) = self.head_counts(layer);
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

    fn feed_forward(&mut self, layer: u64, x: TensorId) -> TensorId {
        if self.model.family == Family::Gemma4 && self.has_experts(layer) {
            return self.gemma4_experts(layer, x);
        }
        let kind = self.norm_kind();
        let normed = self.norm_if_any(layer, Name::FfnNorm, kind, x);
        match self.model.layers[layer as usize].feed_forward {
            FeedForward::Experts => self.routed_and_shared(layer, normed),
            _ => self.dense(layer, normed),
        }
    }

    fn routed_and_shared(&mut self, layer: u64, x: TensorId) -> TensorId {
        let family = self.model.family;
        let routing = self.routing();
        let shared = self.layer_weight(layer, Name::SharedUp).is_some();
        if family == Family::HunyuanMoe && shared {
            let shared = self.shared_experts(layer, x);
            let routed = self.routed_experts(layer, x, routing, None);
            return self.graph.in_place(&[routed, shared]);
        }
        let logits = (family == Family::NemotronHMoe).then(|| self.linear(layer, Name::Router, None, x));
        let routed = self.routed_experts(layer, x, routing, logits);
        if !shared {
            return routed;
        }
        let gate_first = family == Family::Qwen2Moe;
        let mut gate = gate_first.then(|| self.shared_gate(layer, x));
        let mut out = self.shared_experts(layer, x);
        if !gate_first && self.layer_weight(layer, Name::SharedRouter).is_some() {
            gate = Some(self.shared_gate(layer, x));
        }
        if let Some(gate) = gate {
            out = self.graph.in_place(&[out, gate]);
        }
        self.graph.in_place(&[routed, out])
    }

    /// How much of the shared experts counts, token by token.
    fn shared_gate(&mut self, layer: u64, x: TensorId) -> TensorId {
        let logit = self.linear(layer, Name::SharedRouter, None, x);
        let opened = self.graph.in_place(&[logit]);
        match self.model.family {
            Family::Qwen2Moe => self.graph.in_place(&[opened, logit]),
            _ => opened,
        }
    }

    /// Gemma 4: a dense network and experts beside each other.
    fn gemma4_experts(&mut self, layer: u64, x: TensorId) -> TensorId {
        let normed = self.norm(x, NormKind::Rms, layer, Name::FfnNorm);
        let dense = self.dense(layer, normed);
        let dense = self.norm(dense, NormKind::Rms, layer, Name::DensePostNorm);
        let inner = self.norm(x, NormKind::Rms, layer, Name::ExpertsPreNorm);
        let bare = self.bare_norm(x, NormKind::Rms);
        let scaled = self.graph.in_place(&[bare]);
        let weight = self.expect_weight(layer, Name::RouterScale);
        let scaled = self.graph.in_place(&[scaled, weight]);
        let logits = self.linear(layer, Name::Router, None, scaled);
        let routing = self.routing();
        let routed = self.routed_experts(layer, inner, routing, Some(logits));
        let routed = self.norm(routed, NormKind::Rms, layer, Name::ExpertsPostNorm);
        self.graph.in_place(&[dense, routed])
    }

    fn routing(&self) -> Routing {
        let family = self.model.family;
        let bias = self.model.experts.is_some_and(|experts| experts.router_bias);
        let gating = match family {
            Family::GptOss => Gating::SoftmaxOfChosen,
            Family::Llama4 | Family::NemotronHMoe => Gating::Sigmoid,
            Family::Ernie45Moe => Gating::Softmax,
            _ if bias => Gating::Sigmoid,
            _ => Gating::Softmax,
        };
        // DeepSeek, GLM, Nemotron, dots and Ling normalize and scale as the file's metadata
        // say: a few KiB of 300 MiB, left out as in the measurements
        let normalized = !matches!(
            family,
            Family::GptOss
                | Family::Qwen2Moe
                | Family::Olmoe
                | Family::Llama4
                | Family::Deepseek2
                | Family::Glm4Moe
                | Family::NemotronHMoe
                | Family::Dots1
                | Family::BailingMoe
                | Family::BailingMoe2
        );
        Routing {
            gating,
            normalized,
            before: family == Family::Llama4,
            squared: family == Family::NemotronHMoe,
        }
    }
}
