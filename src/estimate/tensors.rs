//! The weight tensors of a model file: role, shape, layer.
//!
//! Source of the lists: `load_arch_tensors` in llama.cpp's `src/models/*.cpp`
//! (https://github.com/ggml-org/llama.cpp, state of October 2026).

use crate::estimate::architecture::{
    Architecture, Experts, FeedForward, Latent, Layer, LayerKind, Recurrent, RopeFactors,
};
use crate::estimate::family::Family;

/// What a weight is for, as far as its type and its place depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Role {
    TokenEmbedding,
    Output,
    AttentionQ,
    AttentionK,
    AttentionV,
    AttentionQkv,
    AttentionOutput,
    FfnUp,
    FfnDown,
    /// Any other matrix that is quantized.
    Matrix,
    /// Norms, biases, routers, convolutions: kept in F32.
    Plain,
}

/// Where a weight belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Home {
    /// Before the layers: always in the host's memory.
    Input,
    /// A layer.
    Layer(u64),
    /// The experts of a layer, which may be kept on the CPU.
    Experts(u64),
    /// Rotary factors: one in the file, one on every device that holds a layer.
    EveryDevice,
    /// After the layers.
    Output,
}

/// One weight tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct WeightTensor {
    pub(crate) role: Role,
    pub(crate) home: Home,
    /// Elements of a row.
    pub(crate) columns: u64,
    /// Rows of one matrix.
    pub(crate) rows: u64,
    /// Matrices: the number of experts, or of heads in MLA.
    pub(crate) matrices: u64,
}

/// All tensors of the model file, layer by layer.
pub(crate) fn weight_tensors(model: &Architecture) -> Vec<WeightTensor> {
    let mut list = TensorList { model, home: Home::Input, tensors: Vec::new() };
    list.matrix(Role::TokenEmbedding, model.hidden, model.vocabulary);
    for (layer, index) in model.layers.iter().zip(0..) {
        list.home = Home::Layer(index);
        list.attention(layer);
        list.feed_forward(layer, index);
        list.norms(layer);
    }
    list.home = Home::EveryDevice;
    match model.rope_factors {
        RopeFactors::None => {}
        RopeFactors::One(values) => list.plain(values),
        RopeFactors::LongAndShort(values) => {
            list.plain(values);
            list.plain(values);
        }
    }
    list.home = Home::Output;
    list.plain(model.hidden);
    if has_norm_bias(model.family) {
        list.plain(model.hidden);
    }
    if !model.tied {
        list.matrix(Role::Output, model.hidden, model.vocabulary);
    }
    if matches!(model.family, Family::Phi2 | Family::PhiMoe) {
        list.plain(model.vocabulary);
    }
    list.tensors
}

/// Families whose norms are layer norms with a bias.
pub(crate) fn has_norm_bias(family: Family) -> bool {
    matches!(family, Family::Phi2 | Family::PhiMoe | Family::Starcoder2 | Family::StableLm)
}

/// Families whose attention output has a bias.
pub(crate) fn has_output_bias(family: Family) -> bool {
    matches!(family, Family::GptOss | Family::Phi2 | Family::PhiMoe | Family::Starcoder2)
}

struct TensorList<'a> {
    model: &'a Architecture,
    home: Home,
    tensors: Vec<WeightTensor>,
}

impl TensorList<'_> {
    fn push(&mut self, role: Role, columns: u64, rows: u64, matrices: u64) {
        self.tensors.push(WeightTensor { role, home: self.home, columns, rows, matrices });
    }

    fn matrix(&mut self, role: Role, columns: u64, rows: u64) {
        self.push(role, columns, rows, 1);
    }

    fn plain(&mut self, values: u64) {
        self.push(Role::Plain, values, 1, 1);
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
            self.matrix(Role::AttentionQkv, hidden, query_width + 2 * key_width);
        } else {
            let gate = if has_query_gate(model.family) { 2 } else { 1 };
            self.matrix(Role::AttentionQ, hidden, gate * query_width);
            self.matrix(Role::AttentionK, hidden, key_width);
            if !layer.value_is_key {
                self.matrix(Role::AttentionV, hidden, key_width);
            }
        }
        self.matrix(Role::AttentionOutput, query_width, hidden);
        if model.qkv_bias {
            for width in [query_width, key_width, key_width] {
                self.plain(width);
            }
        }
        if has_output_bias(model.family) {
            self.plain(hidden);
        }
        if model.family == Family::GptOss {
            self.plain(model.heads);
        }
        match model.family {
            Family::Olmo2 | Family::Olmoe | Family::MinimaxM2 => {
                self.plain(query_width);
                self.plain(key_width);
            }
            Family::CommandR if model.layers.len() >= 64 => {
                self.plain(query_width);
                self.plain(key_width);
            }
            _ if model.head_norm => {
                self.plain(head_dim);
                self.plain(head_dim);
            }
            _ => {}
        }
    }

    fn latent_attention(&mut self, latent: Latent) {
        let (hidden, heads) = (self.model.hidden, self.model.heads);
        let query_width = heads * (latent.qk_nope + latent.qk_rope);
        if latent.q_lora > 0 {
            self.plain(latent.q_lora);
            self.matrix(Role::Matrix, hidden, latent.q_lora);
            self.matrix(Role::Matrix, latent.q_lora, query_width);
        } else {
            self.matrix(Role::AttentionQ, hidden, query_width);
        }
        self.plain(latent.kv_lora);
        self.matrix(Role::Matrix, hidden, latent.kv_lora + latent.qk_rope);
        self.push(Role::Matrix, latent.qk_nope, latent.kv_lora, heads);
        self.push(Role::Matrix, latent.kv_lora, latent.v_head, heads);
        self.matrix(Role::AttentionOutput, heads * latent.v_head, hidden);
    }

    fn recurrent(&mut self, recurrent: Recurrent) {
        let hidden = self.model.hidden;
        match self.model.family {
            Family::Lfm2 | Family::Lfm2Moe => {
                self.plain(recurrent.conv * hidden);
                self.matrix(Role::Matrix, hidden, 3 * hidden);
                self.matrix(Role::Matrix, hidden, hidden);
            }
            Family::Qwen35 | Family::Qwen35Moe | Family::Qwen3Next => self.delta_net(recurrent),
            _ => self.mamba2(recurrent),
        }
    }

    fn delta_net(&mut self, recurrent: Recurrent) {
        let hidden = self.model.hidden;
        let value_width = recurrent.state * recurrent.dt_rank;
        let mixed_width = 2 * recurrent.state * recurrent.groups + value_width;
        self.matrix(Role::AttentionQkv, hidden, mixed_width);
        self.matrix(Role::Matrix, hidden, value_width);
        self.plain(recurrent.conv * mixed_width);
        self.plain(recurrent.dt_rank);
        self.plain(recurrent.dt_rank);
        if self.model.family == Family::Qwen3Next {
            self.matrix(Role::Matrix, hidden, 2 * recurrent.dt_rank);
        } else {
            self.matrix(Role::Matrix, hidden, recurrent.dt_rank);
            self.matrix(Role::Matrix, hidden, recurrent.dt_rank);
        }
        self.plain(recurrent.state);
        self.matrix(Role::Matrix, value_width, hidden);
    }

    fn mamba2(&mut self, recurrent: Recurrent) {
        let hidden = self.model.hidden;
        let groups_width = 2 * recurrent.groups * recurrent.state;
        let mixed_width = recurrent.inner + groups_width;
        self.matrix(Role::Matrix, hidden, 2 * recurrent.inner + groups_width + recurrent.dt_rank);
        self.plain(recurrent.conv * mixed_width);
        self.plain(mixed_width);
        for _ in ["dt", "a", "d"] {
            self.plain(recurrent.dt_rank);
        }
        self.plain(recurrent.inner);
        self.matrix(Role::Matrix, recurrent.inner, hidden);
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
            self.matrix(Role::FfnUp, hidden, 2 * width);
        } else {
            if self.model.gated_ffn {
                self.matrix(Role::Matrix, hidden, width);
            }
            self.matrix(Role::FfnUp, hidden, width);
        }
        self.matrix(Role::FfnDown, width, hidden);
        if matches!(self.model.family, Family::Phi2 | Family::Starcoder2) {
            self.plain(width);
            self.plain(hidden);
        }
    }

    fn experts(&mut self, experts: Experts, index: u64) {
        let model = self.model;
        let (hidden, family) = (model.hidden, model.family);
        self.plain(hidden * experts.count);
        if experts.router_bias || family == Family::GptOss {
            self.plain(experts.count);
        }
        if experts.shared_width > 0 {
            if has_shared_gate(family) {
                self.plain(hidden);
            }
            if model.gated_ffn {
                self.matrix(Role::Matrix, hidden, experts.shared_width);
            }
            self.matrix(Role::FfnUp, hidden, experts.shared_width);
            self.matrix(Role::FfnDown, experts.shared_width, hidden);
        }
        if family == Family::Gemma4 {
            self.dense(model.ffn);
            self.plain(hidden);
        }
        self.home = Home::Experts(index);
        if has_fused_experts(family) {
            self.push(Role::Matrix, hidden, 2 * experts.width, experts.count);
        } else {
            if model.gated_ffn {
                self.push(Role::Matrix, hidden, experts.width, experts.count);
            }
            self.push(Role::FfnUp, hidden, experts.width, experts.count);
        }
        self.push(Role::FfnDown, experts.width, hidden, experts.count);
        match family {
            Family::GptOss => {
                for width in [experts.width, experts.width, hidden] {
                    self.plain(width * experts.count);
                }
            }
            Family::Gemma4 => self.plain(experts.count),
            _ => {}
        }
        self.home = Home::Layer(index);
    }

    fn norms(&mut self, layer: &Layer) {
        let model = self.model;
        for _ in 0..norm_count(model, layer) {
            self.plain(model.hidden);
            if has_norm_bias(model.family) {
                self.plain(model.hidden);
            }
        }
        if model.family == Family::Gemma4 {
            self.plain(1);
        }
    }
}

/// Norms as wide as the residual stream in one layer.
fn norm_count(model: &Architecture, layer: &Layer) -> u64 {
    match model.family {
        Family::Gemma4 if layer.feed_forward == FeedForward::Experts => 7,
        Family::Gemma2 | Family::Gemma3 | Family::Gemma4 | Family::Glm4 => 4,
        Family::CommandR | Family::Cohere2 | Family::Phi2 | Family::NemotronHMoe => 1,
        _ => 2,
    }
}

/// Families whose Q projection also makes a gate of the same width.
pub(crate) fn has_query_gate(family: Family) -> bool {
    matches!(family, Family::Qwen35 | Family::Qwen35Moe | Family::Qwen3Next)
}

/// Families whose shared expert has a gate vector.
pub(crate) fn has_shared_gate(family: Family) -> bool {
    matches!(family, Family::Qwen2Moe | Family::Qwen35Moe | Family::Qwen3Next)
}

/// Families whose files hold the experts' gate and up projections as one tensor.
pub(crate) fn has_fused_experts(family: Family) -> bool {
    matches!(family, Family::Gemma4)
}
