//! What the layers of each family are made of, and the whole graph.
//!
//! Follows llama.cpp's `src/models/*.cpp` (<https://github.com/ggml-org/llama.cpp>,
//! commit 0c1e570).

use crate::architecture::{FeedForward, LayerKind};
use crate::compute::builder::{Builder, NormKind};
use crate::compute::feed_forward::{Gating, Routing};
use crate::compute::tensor::TensorId;
use crate::family::Family;
use crate::names::Name;

impl Builder<'_> {
    /// Builds the graph of the model with these of its layers; the last is among them.
    pub(crate) fn build(&mut self, layers: &[u64]) {
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
        for layer in layers {
            self.graph.mark_boundary();
            x = self.layer(*layer, x, *layer == last);
        }
        self.graph.mark_boundary();
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

    pub(crate) fn norm_kind(&self) -> NormKind {
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

    pub(crate) fn norm_if_any(&mut self, layer: u64, name: Name, kind: NormKind, x: TensorId) -> TensorId {
        match self.layer_weight(layer, name) {
            Some(_) => self.norm(x, kind, layer, name),
            None => x,
        }
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
