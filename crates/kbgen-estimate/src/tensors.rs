//! Lists the weight tensors of a model file.

use crate::architecture::{
    Architecture, Experts, FeedForward, Latent, Layer, LayerKind, Recurrent, RopeFactors,
};
use crate::family::{QueryKeyNorm, Recurrence, SharedGate};
use crate::names::{Home, Name, WeightTensor};

/// Returns all tensors of the model file, layer by layer.
pub(crate) fn weight_tensors(model: &Architecture) -> Vec<WeightTensor> {
    let mut list = TensorList { model, home: Home::Input, tensors: Vec::new() };
    list.matrix(Name::TokenEmbedding, model.hidden, model.vocabulary);
    if let Some(more) = model.family.input_tensors {
        more(&mut list);
    }
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
    if model.family.has_output() {
        list.vector(Name::OutputNorm, model.hidden);
        if model.family.norm_bias {
            list.vector(Name::OutputNormBias, model.hidden);
        }
    }
    if !model.tied {
        list.matrix(Name::Output, model.hidden, model.vocabulary);
    }
    if model.family.output_bias {
        list.vector(Name::OutputBias, model.vocabulary);
    }
    list.tensors
}

/// List of tensors under construction.
pub(crate) struct TensorList<'a> {
    pub(crate) model: &'a Architecture,
    pub(crate) home: Home,
    tensors: Vec<WeightTensor>,
}

impl TensorList<'_> {
    pub(crate) fn push(&mut self, name: Name, columns: u64, rows: u64, matrices: u64) {
        self.tensors.push(WeightTensor { name, home: self.home, columns, rows, matrices });
    }

    pub(crate) fn matrix(&mut self, name: Name, columns: u64, rows: u64) {
        self.push(name, columns, rows, 1);
    }

    pub(crate) fn vector(&mut self, name: Name, values: u64) {
        self.push(name, values, 1, 1);
    }

    fn norms(&mut self, layer: &Layer) {
        let (family, hidden) = (self.model.family, self.model.hidden);
        for name in family.norms {
            self.vector(*name, hidden);
        }
        if family.norm_bias {
            self.vector(Name::AttentionNormBias, hidden);
            if family.norms.contains(&Name::FfnNorm) {
                self.vector(Name::FfnNormBias, hidden);
            }
        }
        if let Some(more) = family.layer_tensors {
            more(self, layer);
        }
    }

    fn attention(&mut self, layer: &Layer) {
        let model = self.model;
        match (layer.kind, model.latent, model.recurrent) {
            (LayerKind::Full | LayerKind::Sliding, _, _) => self.heads_attention(layer),
            (LayerKind::Latent, Some(latent), _) => self.latent_attention(latent, layer),
            (LayerKind::Recurrent, _, Some(recurrent)) => self.recurrent(recurrent),
            _ => {}
        }
    }

    fn heads_attention(&mut self, layer: &Layer) {
        let model = self.model;
        let (hidden, head_dim) = (model.hidden, layer.head_dim);
        let key_width = layer.kv_heads * head_dim;
        let query_width = model.heads * head_dim;
        let value_width = layer.kv_heads * layer.value_dim;
        if model.fused_qkv || model.family.fused_qkv {
            self.matrix(Name::Qkv, hidden, query_width + key_width + value_width);
        } else {
            let gate = if model.family.query_gate { 2 } else { 1 };
            self.matrix(Name::Q, hidden, gate * query_width);
            self.matrix(Name::K, hidden, key_width);
            if !layer.value_is_key {
                self.matrix(Name::V, hidden, value_width);
            }
        }
        self.matrix(Name::AttentionOutput, model.heads * layer.value_dim, hidden);
        if model.qkv_bias {
            self.vector(Name::QBias, query_width);
            self.vector(Name::KBias, key_width);
            self.vector(Name::VBias, value_width);
        }
        if model.family.attention_output_bias {
            self.vector(Name::AttentionOutputBias, hidden);
        }
        if (model.family.attention_sinks)(layer) {
            self.vector(Name::Sinks, model.heads);
        }
        let is_whole = match model.family.query_key_norm {
            QueryKeyNorm::Whole => true,
            QueryKeyNorm::EachHead => model.layers.len() >= 64,
            QueryKeyNorm::ByHead | QueryKeyNorm::ByHeadAfterRope => false,
        };
        if is_whole {
            self.vector(Name::QNorm, query_width);
            self.vector(Name::KNorm, key_width);
        } else if model.head_norm {
            self.vector(Name::QNorm, head_dim);
            self.vector(Name::KNorm, head_dim);
        }
    }

    fn latent_attention(&mut self, latent: Latent, layer: &Layer) {
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
        if let Some(indexer) = self.model.indexer.filter(|_| layer.has_indexer) {
            self.vector(Name::IndexerKNorm, indexer.width);
            self.vector(Name::IndexerKNormBias, indexer.width);
            self.matrix(Name::IndexerShares, hidden, indexer.heads);
            self.matrix(Name::IndexerK, hidden, indexer.width);
            self.matrix(Name::IndexerQ, latent.q_lora, indexer.heads * indexer.width);
        }
    }

    fn recurrent(&mut self, recurrent: Recurrent) {
        let hidden = self.model.hidden;
        match self.model.family.recurrence {
            Recurrence::ShortConvolution => {
                self.matrix(Name::StateConv, recurrent.conv, hidden);
                self.matrix(Name::StateIn, hidden, 3 * hidden);
                self.matrix(Name::StateOut, hidden, hidden);
            }
            Recurrence::DeltaNet { joint } => self.delta_net(recurrent, joint),
            Recurrence::Mamba2 => self.mamba2(recurrent),
        }
    }

    fn delta_net(&mut self, recurrent: Recurrent, joint: bool) {
        let hidden = self.model.hidden;
        let value_width = recurrent.state * recurrent.dt_rank;
        let mixed_width = 2 * recurrent.state * recurrent.groups + value_width;
        self.matrix(Name::Qkv, hidden, mixed_width);
        self.matrix(Name::StateGate, hidden, value_width);
        self.matrix(Name::StateConv, recurrent.conv, mixed_width);
        self.vector(Name::StateStep, recurrent.dt_rank);
        self.vector(Name::StateDecay, recurrent.dt_rank);
        if joint {
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
            (FeedForward::Experts, Some(experts)) => {
                let tensors = self.model.family.expert_tensors.unwrap_or(|list, experts, index| {
                    list.experts(experts, index);
                });
                tensors(self, experts, index);
            }
            _ => {}
        }
    }

    pub(crate) fn dense(&mut self, width: u64) {
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
        if self.model.family.ffn_bias {
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
        if family.expert_bias {
            self.vector(Name::RouterInputBias, experts.count);
        }
        if experts.latent_width > 0 {
            self.matrix(Name::ExpertsLatentDown, hidden, experts.latent_width);
            self.matrix(Name::ExpertsLatentUp, experts.latent_width, hidden);
        }
        self.home = Home::Experts(index);
        self.routed(experts);
        self.home = Home::Layer(index);
        if experts.shared_width > 0 {
            if family.shared_gate != SharedGate::None {
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
        let (count, width) = (experts.count, experts.width);
        let hidden = if experts.latent_width > 0 { experts.latent_width } else { self.model.hidden };
        if self.model.gated_ffn {
            self.push(Name::ExpertsGate, hidden, width, count);
        }
        self.push(Name::ExpertsUp, hidden, width, count);
        self.push(Name::ExpertsDown, width, hidden, count);
        if self.model.family.expert_bias {
            self.matrix(Name::ExpertsGateBias, width, count);
            self.matrix(Name::ExpertsUpBias, width, count);
            self.matrix(Name::ExpertsDownBias, hidden, count);
        }
    }
}
