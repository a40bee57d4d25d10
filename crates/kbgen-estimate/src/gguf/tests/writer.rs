//! Writes headers of GGUF files.

use crate::architecture::{Architecture, FeedForward, Layer, LayerKind, RopeFactors};
use crate::fields::ArchitectureFields;
use crate::names::{Home, Name, WeightTensor};
use crate::quantization::{Quantization, TensorType};
use crate::weights::typed_tensors;

/// A header under construction.
#[derive(Default)]
pub(super) struct Writer {
    pub(super) metadata: Vec<u8>,
    entries: u64,
    tensors: Vec<u8>,
    count: u64,
}

impl Writer {
    pub(super) fn text(bytes: &mut Vec<u8>, text: &str) {
        bytes.extend((text.len() as u64).to_le_bytes());
        bytes.extend(text.as_bytes());
    }

    pub(super) fn entry(&mut self, key: &str, kind: u32) {
        Self::text(&mut self.metadata, key);
        self.metadata.extend(kind.to_le_bytes());
        self.entries += 1;
    }

    pub(super) fn string(&mut self, key: &str, value: &str) {
        self.entry(key, 8);
        Self::text(&mut self.metadata, value);
    }

    pub(super) fn number(&mut self, key: &str, value: u64) {
        self.entry(key, 4);
        self.metadata.extend((value as u32).to_le_bytes());
    }

    fn array(&mut self, key: &str, kind: u32, values: impl ExactSizeIterator<Item = u64>) {
        self.entry(key, 9);
        self.metadata.extend(kind.to_le_bytes());
        self.metadata.extend((values.len() as u64).to_le_bytes());
        for value in values {
            match kind {
                7 => self.metadata.push(value as u8),
                _ => self.metadata.extend((value as u32).to_le_bytes()),
            }
        }
    }

    pub(super) fn tensor(&mut self, name: &str, dimensions: &[u64], kind: u32) {
        Self::text(&mut self.tensors, name);
        self.tensors.extend((dimensions.len() as u32).to_le_bytes());
        dimensions.iter().for_each(|size| self.tensors.extend(size.to_le_bytes()));
        self.tensors.extend(kind.to_le_bytes());
        self.tensors.extend(0_u64.to_le_bytes());
        self.count += 1;
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let counts = [self.count, self.entries].map(u64::to_le_bytes).concat();
        [b"GGUF", 3_u32.to_le_bytes().as_slice(), &counts, &self.metadata, &self.tensors].concat()
    }
}

/// Returns the name of a tensor in a file.
fn file_name(tensor: &WeightTensor) -> String {
    let name = match tensor.name {
        Name::TokenEmbedding => "token_embd.weight",
        Name::PositionEmbedding => "position_embd.weight",
        Name::TypeEmbedding => "token_types.weight",
        Name::EmbeddingNorm => return "token_embd_norm.weight".to_owned(),
        Name::EmbeddingNormBias => return "token_embd_norm.bias".to_owned(),
        Name::LayerEmbeddings => "per_layer_token_embd.weight",
        Name::LayerEmbeddingsProjection => return "per_layer_model_proj.weight".to_owned(),
        Name::LayerEmbeddingsNorm => return "per_layer_proj_norm.weight".to_owned(),
        Name::LayerEmbeddingGate => "inp_gate.weight",
        Name::LayerEmbeddingUp => "proj.weight",
        Name::LayerEmbeddingNorm => "post_norm.weight",
        Name::ExpertsLatentDown => "ffn_latent_down.weight",
        Name::ExpertsLatentUp => "ffn_latent_up.weight",
        Name::RopeFactors => "rope_freqs.weight",
        Name::OutputNorm => "output_norm.weight",
        Name::OutputNormBias => "output_norm.bias",
        Name::Output => "output.weight",
        Name::OutputBias => "output.bias",
        Name::AttentionNorm => "attn_norm.weight",
        Name::AttentionNormBias => "attn_norm.bias",
        Name::AttentionPostNorm => "post_attention_norm.weight",
        Name::Q => "attn_q.weight",
        Name::K => "attn_k.weight",
        Name::V => "attn_v.weight",
        Name::Qkv => "attn_qkv.weight",
        Name::QBias => "attn_q.bias",
        Name::KBias => "attn_k.bias",
        Name::VBias => "attn_v.bias",
        Name::QNorm => "attn_q_norm.weight",
        Name::KNorm => "attn_k_norm.weight",
        Name::AttentionOutput => "attn_output.weight",
        Name::AttentionOutputBias => "attn_output.bias",
        Name::Sinks => "attn_sinks.weight",
        Name::LatentQDown => "attn_q_a.weight",
        Name::LatentQNorm => "attn_q_a_norm.weight",
        Name::LatentQUp => "attn_q_b.weight",
        Name::LatentKvDown => "attn_kv_a_mqa.weight",
        Name::LatentKvNorm => "attn_kv_a_norm.weight",
        Name::LatentKUp => "attn_k_b.weight",
        Name::LatentVUp => "attn_v_b.weight",
        Name::IndexerQ => "indexer.attn_q_b.weight",
        Name::IndexerK => "indexer.attn_k.weight",
        Name::IndexerKNorm => "indexer.k_norm.weight",
        Name::IndexerKNormBias => "indexer.k_norm.bias",
        Name::IndexerShares => "indexer.proj.weight",
        Name::StateIn => "ssm_in.weight",
        Name::StateGate => "attn_gate.weight",
        Name::StateConv => "ssm_conv1d.weight",
        Name::StateConvBias => "ssm_conv1d.bias",
        Name::StateStep => "ssm_dt.bias",
        Name::StateDecay => "ssm_a",
        Name::StateSkip => "ssm_d",
        Name::StateBeta => "ssm_beta.weight",
        Name::StateAlpha => "ssm_alpha.weight",
        Name::StateBetaAlpha => "ssm_ba.weight",
        Name::StateNorm => "ssm_norm.weight",
        Name::StateOut => "ssm_out.weight",
        Name::FfnNorm => "ffn_norm.weight",
        Name::FfnNormBias => "ffn_norm.bias",
        Name::FfnPostNorm => "post_ffw_norm.weight",
        Name::FfnGate => "ffn_gate.weight",
        Name::FfnUp => "ffn_up.weight",
        Name::FfnUpBias => "ffn_up.bias",
        Name::FfnDown => "ffn_down.weight",
        Name::FfnDownBias => "ffn_down.bias",
        Name::Router => "ffn_gate_inp.weight",
        Name::RouterInputBias => "ffn_gate_inp.bias",
        Name::RouterBias => "exp_probs_b.bias",
        Name::RouterScale => "ffn_gate_inp.scale",
        Name::ExpertsPreNorm => "pre_ffw_norm_2.weight",
        Name::DensePostNorm => "post_ffw_norm_1.weight",
        Name::ExpertsPostNorm => "post_ffw_norm_2.weight",
        Name::ExpertsGate => "ffn_gate_exps.weight",
        Name::ExpertsGateBias => "ffn_gate_exps.bias",
        Name::ExpertsUp => "ffn_up_exps.weight",
        Name::ExpertsUpBias => "ffn_up_exps.bias",
        Name::ExpertsGateUp => "ffn_gate_up_exps.weight",
        Name::ExpertsDown => "ffn_down_exps.weight",
        Name::ExpertsDownBias => "ffn_down_exps.bias",
        Name::ExpertsDownScale => "ffn_down_exps.scale",
        Name::SharedRouter => "ffn_gate_inp_shexp.weight",
        Name::SharedGate => "ffn_gate_shexp.weight",
        Name::SharedUp => "ffn_up_shexp.weight",
        Name::SharedDown => "ffn_down_shexp.weight",
        Name::LayerScale => "layer_output_scale.weight",
        Name::Other => unreachable!("no model lists it"),
    };
    match tensor.home {
        Home::Layer(layer) | Home::Experts(layer) => format!("blk.{layer}.{name}"),
        _ => name.to_owned(),
    }
}

fn ggml_number(kind: TensorType) -> u32 {
    TensorType::in_files().find(|(_, known)| *known == kind).unwrap().0
}

/// Returns the header that a converter writes for a model.
pub(super) fn header(
    fields: &ArchitectureFields,
    model: &Architecture,
    quantization: Quantization,
) -> Writer {
    let mut file = Writer::default();
    let name = fields.name.as_str();
    let key = |key: &str| format!("{name}.{key}");
    file.string("general.architecture", name);
    file.string("general.name", "A model");
    // Vocabulary.
    file.entry("tokenizer.ggml.tokens", 9);
    file.metadata.extend(8_u32.to_le_bytes());
    file.metadata.extend(3_u64.to_le_bytes());
    ["a", "bc", ""].iter().for_each(|token| Writer::text(&mut file.metadata, token));
    let pooling = ["", "mean", "cls", "last"].into_iter().position(|name| name == fields.pooling).unwrap();
    if pooling > 0 {
        file.number(&key("pooling_type"), pooling as u64);
    }
    let per_layer = |value: &dyn Fn(&Layer) -> u64| -> Vec<u64> { model.layers.iter().map(value).collect() };
    for (name, value) in [
        ("block_count", model.layers.len() as u64),
        ("context_length", model.max_context),
        ("embedding_length", model.hidden),
        ("attention.head_count", model.heads),
        ("expert_count", fields.experts),
        ("expert_used_count", fields.experts_used),
        ("attention.sliding_window", fields.sliding_window),
        ("attention.shared_kv_layers", fields.kv_shared_layers),
        ("embedding_length_per_layer_input", fields.per_layer_embedding),
        ("attention.value_length", fields.value_head_dim),
        ("attention.kv_lora_rank", fields.mla_kv_lora),
        ("attention.q_lora_rank", fields.mla_q_lora),
        ("attention.key_length_mla", fields.mla_qk_nope + fields.mla_qk_rope),
        ("attention.value_length_mla", fields.mla_v_head),
        ("rope.dimension_count", fields.mla_qk_rope),
        ("attention.indexer.head_count", fields.indexer_heads),
        ("attention.indexer.key_length", fields.indexer_head_dim),
        ("attention.indexer.top_k", fields.indexer_top_k),
        ("ssm.conv_kernel", fields.ssm_conv),
        ("ssm.inner_size", fields.ssm_inner),
        ("ssm.state_size", fields.ssm_state),
        ("ssm.time_step_rank", fields.ssm_dt_rank),
        ("ssm.group_count", fields.ssm_groups),
    ] {
        if value > 0 {
            file.number(&key(name), value);
        }
    }
    let widths = per_layer(&|layer| match layer.feed_forward {
        FeedForward::Dense(width) => width,
        _ => model.ffn,
    });
    match fields.kv_shared_ffn {
        0 => file.number(&key("feed_forward_length"), model.ffn),
        _ => file.array(&key("feed_forward_length"), 5, widths.into_iter()),
    }
    let kv_heads = per_layer(&|layer| layer.kv_heads);
    match kv_heads.iter().all(|count| *count == kv_heads[0]) {
        true => file.number(&key("attention.head_count_kv"), kv_heads[0]),
        false => file.array(&key("attention.head_count_kv"), 5, kv_heads.into_iter()),
    }
    let width =
        |kind: LayerKind| model.layers.iter().find(|layer| layer.kind == kind).map(|layer| layer.head_dim);
    let (full, sliding) = (width(LayerKind::Full), width(LayerKind::Sliding));
    if sliding.is_some()
        && (full.is_some_and(|full| Some(full) != sliding) || model.family.full_attention_every == 0)
    {
        let slides = per_layer(&|layer| u64::from(layer.kind == LayerKind::Sliding));
        file.array(&key("attention.sliding_window_pattern"), 7, slides.into_iter());
    }
    match (full, sliding) {
        (Some(full), Some(sliding)) if full != sliding => {
            file.number(&key("attention.key_length"), full);
            file.number(&key("attention.key_length_swa"), sliding);
        }
        (full, sliding) => {
            if let Some(width) = full.or(sliding).filter(|width| width * model.heads != model.hidden) {
                file.number(&key("attention.key_length"), width);
            }
        }
    }
    let mut is_second = false;
    for (tensor, kind) in typed_tensors(model, quantization) {
        let name = match (tensor.name, model.rope_factors) {
            (Name::RopeFactors, RopeFactors::LongAndShort(_)) => {
                let name = if is_second { "rope_factors_short.weight" } else { "rope_factors_long.weight" };
                is_second = true;
                name.to_owned()
            }
            _ => file_name(&tensor),
        };
        let dimensions = [tensor.columns, tensor.rows, tensor.matrices];
        file.tensor(&name, &dimensions, ggml_number(kind));
    }
    file
}
