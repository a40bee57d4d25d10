//! The weight tensors of a model file, family by family.
//!
//! Source of the lists: `load_arch_tensors` in llama.cpp's `src/models/*.cpp`
//! (<https://github.com/ggml-org/llama.cpp>, state of October 2026).

use crate::architecture::{
    Architecture, Experts, FeedForward, Latent, Layer, LayerKind, Recurrent, RopeFactors,
};
use crate::family::Family;
use crate::names::{Home, Name, WeightTensor};

/// All tensors of the model file, layer by layer.
pub(crate) fn weight_tensors(model: &Architecture) -> Vec<WeightTensor> {
    let mut list = TensorList { model, home: Home::Input, tensors: Vec::new() };
    list.matrix(Name::TokenEmbedding, model.hidden, model.vocabulary);
    for (layer, index) in model.layers.iter().zip(0..) {
        list.home = Home::Layer(index);
        list.norms(layer);
        list.attention(layer);
        list.feed_forward(layer, index);
    }
    list.home = Home::EveryDevice;
    match model.rope_factors {
        RopeFactors::None => {}
        RopeFactors::One(values) => list.vector(Name::RopeFactors, values),
        RopeFactors::LongAndShort(values) => {
            list.vector(Name::RopeFactors, values);
            list.vector(Name::RopeFactors, values);
        }
    }
    list.home = Home::Output;
    list.vector(Name::OutputNorm, model.hidden);
    if has_norm_bias(model.family) {
        list.vector(Name::OutputNormBias, model.hidden);
    }
    if !model.tied {
        list.matrix(Name::Output, model.hidden, model.vocabulary);
    }
    if matches!(model.family, Family::Phi2 | Family::PhiMoe) {
        list.vector(Name::OutputBias, model.vocabulary);
    }
    list.tensors
}

/// Families whose norms are layer norms with a bias.
fn has_norm_bias(family: Family) -> bool {
    matches!(family, Family::Phi2 | Family::PhiMoe | Family::Starcoder2 | Family::StableLm)
}

/// Families whose Q projection also makes a gate of the same width.
fn has_query_gate(family: Family) -> bool {
    matches!(family, Family::Qwen35 | Family::Qwen35Moe | Family::Qwen3Next)
}

struct TensorList<'a> {
    model: &'a Architecture,
    home: Home,
    tensors: Vec<WeightTensor>,
}

impl TensorList<'_> {
    fn push(&mut self, name: Name, columns: u64, rows: u64, matrices: u64) {
        self.tensors.push(WeightTensor { name, home: self.home, columns, rows, matrices });
    }

    fn matrix(&mut self, name: Name, columns: u64, rows: u64) {
        self.push(name, columns, rows, 1);
    }

    fn vector(&mut self, name: Name, values: u64) {
        self.push(name, values, 1, 1);
    }

    fn norms(&mut self, layer: &Layer) {
        let (family, hidden) = (self.model.family, self.model.hidden);
        let mut names = match family {
            Family::Gemma2 | Family::Gemma3 | Family::Gemma4 | Family::Glm4 => {
                vec![Name::AttentionNorm, Name::AttentionPostNorm, Name::FfnNorm, Name::FfnPostNorm]
            }
            Family::Olmo2 | Family::Exaone4 => vec![Name::AttentionPostNorm, Name::FfnPostNorm],
            Family::CommandR | Family::Cohere2 | Family::Phi2 | Family::NemotronHMoe => {
                vec![Name::AttentionNorm]
            }
            _ => vec![Name::AttentionNorm, Name::FfnNorm],
        };
        if family == Family::Gemma4 && layer.feed_forward == FeedForward::Experts {
            names.extend([Name::ExpertsPreNorm, Name::DensePostNorm, Name::ExpertsPostNorm]);
        }
        for name in names {
            self.vector(name, hidden);
        }
        if has_norm_bias(family) {
            self.vector(Name::AttentionNormBias, hidden);
            if family != Family::Phi2 {
                self.vector(Name::FfnNormBias, hidden);
            }
        }
        if family == Family::Gemma4 {
            self.vector(Name::LayerScale, 1);
        }
    }

    fn attention(&mut self, layer: &Layer) {
        let model = self.model;
        match (layer.kind, model.latent, model.recurrent) {
            (LayerKind::Full | LayerKind::Sliding, _, _) => self.heads_attention(layer),
            (LayerKind::Latent, Some(latent), _) => self.latent_attention(latent),
            (LayerKind::Recurrent, _, Some(recurrent)) => self.recurrent(recurrent),
            _ => {}
        }
    }

    fn heads_attention(&mut self, layer: &Layer) {
        let model = self.model;
        let (hidden, head_dim) = (model.hidden, layer.head_dim);
        let key_width = layer.kv_heads * head_dim;
        let query_width = model.heads * head_dim;
        if model.fused_qkv || model.family == Family::BailingMoe2 {
            self.matrix(Name::Qkv, hidden, query_width + 2 * key_width);
        } else {
            let gate = if has_query_gate(model.family) { 2 } else { 1 };
            self.matrix(Name::Q, hidden, gate * query_width);
            self.matrix(Name::K, hidden, key_width);
            if !layer.value_is_key {
                self.matrix(Name::V, hidden, key_width);
            }
        }
        self.matrix(Name::AttentionOutput, query_width, hidden);
        if model.qkv_bias {
            self.vector(Name::QBias, query_width);
            self.vector(Name::KBias, key_width);
            self.vector(Name::VBias, key_width);
        }
        if matches!(model.family, Family::GptOss | Family::Phi2 | Family::PhiMoe | Family::Starcoder2) {
            self.vector(Name::AttentionOutputBias, hidden);
        }
        if model.family == Family::GptOss {
            self.vector(Name::Sinks, model.heads);
        }
        let large_command_r = model.family == Family::CommandR && model.layers.len() >= 64;
        if matches!(model.family, Family::Olmo2 | Family::Olmoe | Family::MinimaxM2) || large_command_r {
            self.vector(Name::QNorm, query_width);
            self.vector(Name::KNorm, key_width);
        } else if model.head_norm {
            self.vector(Name::QNorm, head_dim);
            self.vector(Name::KNorm, head_dim);
        }
    }

    fn latent_attention(&mut self, latent: Latent) {
        let (hidden, heads) = (self.model.hidden, self.model.heads);
        let query_width = heads * (latent.qk_nope + latent.qk_rope);
        if latent.q_lora > 0 {
            self.vector(Name::LatentQNorm, latent.q_lora);
            self.matrix(Name::LatentQDown, hidden, latent.q_lora);
            self.matrix(Name::LatentQUp, latent.q_lora, query_width);
        } else {
            self.matrix(Name::Q, hidden, query_width);
        }
        self.vector(Name::LatentKvNorm, latent.kv_lora);
        self.matrix(Name::LatentKvDown, hidden, latent.kv_lora + latent.qk_rope);
        self.push(Name::LatentKUp, latent.qk_nope, latent.kv_lora, heads);
        self.push(Name::LatentVUp, latent.kv_lora, latent.v_head, heads);
        self.matrix(Name::AttentionOutput, heads * latent.v_head, hidden);
    }

    fn recurrent(&mut self, recurrent: Recurrent) {
        let hidden = self.model.hidden;
        match self.model.family {
            Family::Lfm2 | Family::Lfm2Moe => {
                self.matrix(Name::StateConv, recurrent.conv, hidden);
                self.matrix(Name::StateIn, hidden, 3 * hidden);
                self.matrix(Name::StateOut, hidden, hidden);
            }
            Family::Qwen35 | Family::Qwen35Moe | Family::Qwen3Next => self.delta_net(recurrent),
            _ => self.mamba2(recurrent),
        }
    }

    fn delta_net(&mut self, recurrent: Recurrent) {
        let hidden = self.model.hidden;
        let value_width = recurrent.state * recurrent.dt_rank;
        let mixed_width = 2 * recurrent.state * recurrent.groups + value_width;
        self.matrix(Name::Qkv, hidden, mixed_width);
        self.matrix(Name::StateGate, hidden, value_width);
        self.matrix(Name::StateConv, recurrent.conv, mixed_width);
        self.vector(Name::StateStep, recurrent.dt_rank);
        self.vector(Name::StateDecay, recurrent.dt_rank);
        if self.model.family == Family::Qwen3Next {
            self.matrix(Name::StateBetaAlpha, hidden, 2 * recurrent.dt_rank);
        } else {
            self.matrix(Name::StateBeta, hidden, recurrent.dt_rank);
            self.matrix(Name::StateAlpha, hidden, recurrent.dt_rank);
        }
        self.vector(Name::StateNorm, recurrent.state);
        self.matrix(Name::StateOut, value_width, hidden);
    }

    fn mamba2(&mut self, recurrent: Recurrent) {
        let hidden = self.model.hidden;
        let groups_width = 2 * recurrent.groups * recurrent.state;
        let mixed_width = recurrent.inner + groups_width;
        self.matrix(Name::StateIn, hidden, 2 * recurrent.inner + groups_width + recurrent.dt_rank);
        self.matrix(Name::StateConv, recurrent.conv, mixed_width);
        self.vector(Name::StateConvBias, mixed_width);
        self.vector(Name::StateStep, recurrent.dt_rank);
        self.matrix(Name::StateDecay, 1, recurrent.dt_rank);
        self.matrix(Name::StateSkip, 1, recurrent.dt_rank);
        self.matrix(Name::StateNorm, recurrent.inner / recurrent.groups, recurrent.groups);
        self.matrix(Name::StateOut, recurrent.inner, hidden);
    }

    fn feed_forward(&mut self, layer: &Layer, index: u64) {
        match (layer.feed_forward, self.model.experts) {
            (FeedForward::Dense(width), _) => self.dense(width),
            (FeedForward::Experts, Some(experts)) => self.experts(experts, index),
            _ => {}
        }
    }

    fn dense(&mut self, width: u64) {
        let hidden = self.model.hidden;
        if self.model.fused_gate_up {
            self.matrix(Name::FfnUp, hidden, 2 * width);
        } else {
            if self.model.gated_ffn {
                self.matrix(Name::FfnGate, hidden, width);
            }
            self.matrix(Name::FfnUp, hidden, width);
        }
        self.matrix(Name::FfnDown, width, hidden);
        if matches!(self.model.family, Family::Phi2 | Family::Starcoder2) {
            self.vector(Name::FfnUpBias, width);
            self.vector(Name::FfnDownBias, hidden);
        }
    }

    fn experts(&mut self, experts: Experts, index: u64) {
        let (hidden, family) = (self.model.hidden, self.model.family);
        self.matrix(Name::Router, hidden, experts.count);
        if experts.router_bias {
            self.vector(Name::RouterBias, experts.count);
        }
        if family == Family::GptOss {
            self.vector(Name::RouterInputBias, experts.count);
        }
        if family == Family::Gemma4 {
            self.dense(self.model.ffn);
            self.vector(Name::RouterScale, hidden);
        }
        self.home = Home::Experts(index);
        self.routed(experts);
        self.home = Home::Layer(index);
        if experts.shared_width > 0 {
            if matches!(family, Family::Qwen2Moe | Family::Qwen35Moe | Family::Qwen3Next) {
                self.vector(Name::SharedRouter, hidden);
            }
            if self.model.gated_ffn {
                self.matrix(Name::SharedGate, hidden, experts.shared_width);
            }
            self.matrix(Name::SharedUp, hidden, experts.shared_width);
            self.matrix(Name::SharedDown, experts.shared_width, hidden);
        }
    }

    fn routed(&mut self, experts: Experts) {
        let (hidden, count, width) = (self.model.hidden, experts.count, experts.width);
        let family = self.model.family;
        if family == Family::Gemma4 {
            self.push(Name::ExpertsGateUp, hidden, 2 * width, count);
        } else {
            if self.model.gated_ffn {
                self.push(Name::ExpertsGate, hidden, width, count);
            }
            self.push(Name::ExpertsUp, hidden, width, count);
        }
        self.push(Name::ExpertsDown, width, hidden, count);
        match family {
            Family::GptOss => {
                self.matrix(Name::ExpertsGateBias, width, count);
                self.matrix(Name::ExpertsUpBias, width, count);
                self.matrix(Name::ExpertsDownBias, hidden, count);
            }
            Family::Gemma4 => self.vector(Name::ExpertsDownScale, count),
            _ => {}
        }
    }
}
