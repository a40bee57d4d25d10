//! Hyperparameters from the `config.json` of a checkpoint and the shapes of its tensors.
//!
//! Keys are those of `src/transformers/models/*/configuration_*.py`.

use std::fmt;

use serde_json::Value;

use crate::family::Family;
use crate::fields::{ArchitectureFields, MAX_LAYERS, or, run_lengths};
use crate::huggingface::safetensors::StoredTensor;

/// Reason why a configuration cannot be read, as a phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(pub String);

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConfigError {}

/// Object in a configuration.
struct Config<'v>(&'v Value);

impl Config<'_> {
    /// Returns the first of these numbers that is present, or zero.
    fn number(&self, keys: &[&str]) -> u64 {
        keys.iter().find_map(|key| self.0.get(key)?.as_u64()).unwrap_or_default()
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.0.get(key)?.as_bool()
    }
}

/// Tensors, found by the end of their names.
struct Tensors<'t>(&'t [StoredTensor]);

impl Tensors<'_> {
    fn find(&self, end: &str) -> Option<&StoredTensor> {
        self.0.iter().find(|tensor| tensor.name.ends_with(end))
    }

    fn has(&self, end: &str) -> bool {
        self.find(end).is_some()
    }
}

/// Returns the hyperparameters, which [`ArchitectureFields::build`] checks. Missing values stay zero.
///
/// # Errors
/// If the text is not the configuration of a language model.
pub fn model_fields(json: &[u8], tensors: &[StoredTensor]) -> Result<ArchitectureFields, ConfigError> {
    let error = |problem: String| ConfigError(problem);
    let value: Value =
        serde_json::from_slice(json).map_err(|reason| error(format!("not a configuration: {reason}")))?;
    if !value.is_object() {
        return Err(error("not a configuration: expected an object".to_owned()));
    }
    let text = value.get("text_config").filter(|text| text.is_object()).unwrap_or(&value);
    let config = Config(text);
    let kind = text.get("model_type").or_else(|| value.get("model_type")).and_then(Value::as_str);
    let Some(kind) = kind else {
        return Err(error("the configuration has no `model_type`".to_owned()));
    };
    let name = Family::of_model_type(kind).map_or(kind, |family| family.name);
    let number = |keys: &[&str]| config.number(keys);
    let count = number(&["num_hidden_layers", "n_layer", "num_layers"]);
    if count > MAX_LAYERS {
        return Err(error(format!("`num_hidden_layers` is {count}")));
    }
    let tensors = Tensors(tensors);
    let (hidden, heads) = (number(&["hidden_size", "n_embd"]), number(&["num_attention_heads", "n_head"]));
    let latent = number(&["kv_lora_rank"]);
    let kinds = kinds(&config, count, latent > 0);
    let has = |letter: char| kinds.contains(&letter);
    let head_dim = match number(&["head_dim"]) {
        0 => hidden.checked_div(heads).unwrap_or_default(),
        width => width,
    };
    let experts = number(&["num_experts", "num_local_experts", "n_routed_experts"]);
    let expert_ffn = match number(&["moe_intermediate_size"]) {
        0 if experts > 0 => number(&["intermediate_size"]),
        width => width,
    };
    let shared = match number(&["shared_expert_intermediate_size"]) {
        0 => number(&["n_shared_experts", "num_shared_experts"]).saturating_mul(expert_ffn),
        width => width,
    };
    let step = number(&["decoder_sparse_step", "interleave_moe_layer_step"]);
    let norm = tensors.find("self_attn.q_norm.weight").or_else(|| tensors.find("query_layernorm.weight"));
    let qk_norm = match norm {
        // the shape is unknown if only an index was read
        Some(norm) if norm.shape == [head_dim] || norm.shape.is_empty() => "head",
        Some(_) => "full",
        None => "",
    };
    let sliding_kv_heads = if has('S') { number(&["swa_num_key_value_heads"]) } else { 0 };
    let value_heads = number(&["linear_num_value_heads"]);
    Ok(ArchitectureFields {
        name: name.to_owned(),
        layers: run_lengths(&kinds),
        hidden,
        heads,
        kv_heads: match number(&["num_key_value_heads"]) {
            _ if latent > 0 => 1,
            0 => heads,
            _ if sliding_kv_heads > 0 => sliding_kv_heads,
            kv_heads => kv_heads,
        },
        kv_heads_full: if sliding_kv_heads > 0 { number(&["num_key_value_heads"]) } else { 0 },
        head_dim: if latent > 0 { 0 } else { head_dim },
        value_head_dim: match number(&["v_head_dim"]) {
            width if latent > 0 || width == head_dim => 0,
            width => width,
        },
        ffn: number(&["intermediate_size", "n_inner"]),
        vocab: tensors
            .find("embed_tokens.weight")
            .and_then(|table| table.shape.first().copied())
            .unwrap_or(number(&["vocab_size"])),
        tied: !tensors.has("lm_head.weight"),
        max_ctx: number(&["max_position_embeddings", "n_positions"]),
        per_layer_embedding: number(&["hidden_size_per_layer_input"]),
        kv_shared_layers: number(&["num_kv_shared_layers"]),
        kv_shared_ffn: match config.flag("use_double_wide_mlp") {
            Some(true) => number(&["intermediate_size"]).saturating_mul(2),
            _ => 0,
        },
        experts,
        experts_used: number(&["num_experts_per_tok", "moe_topk"]),
        expert_ffn,
        shared_expert_ffn: if experts > 0 { shared } else { 0 },
        expert_latent: number(&["moe_latent_size"]),
        first_dense_layers: match text.get("moe_layer_freq").and_then(Value::as_array) {
            Some(layers) => layers.iter().take_while(|layer| layer.as_u64() == Some(0)).count() as u64,
            None => number(&["first_k_dense_replace"]),
        },
        moe_every: if step > 1 { step } else { 0 },
        sliding_window: if has('S') { number(&["sliding_window"]) } else { 0 },
        mla_kv_lora: latent,
        mla_q_lora: number(&["q_lora_rank"]),
        mla_qk_rope: if latent > 0 { number(&["qk_rope_head_dim"]) } else { 0 },
        mla_qk_nope: if latent > 0 { number(&["qk_nope_head_dim"]) } else { 0 },
        mla_v_head: if latent > 0 { number(&["v_head_dim"]) } else { 0 },
        indexer_heads: number(&["index_n_heads"]),
        indexer_head_dim: number(&["index_head_dim"]),
        indexer_top_k: number(&["index_topk"]),
        ssm_conv: if has('R') {
            number(&["linear_conv_kernel_dim", "mamba_d_conv", "conv_L_cache"])
        } else {
            0
        },
        ssm_inner: or(
            value_heads.saturating_mul(number(&["linear_value_head_dim"])),
            hidden.saturating_mul(number(&["mamba_expand"])),
        ),
        ssm_state: number(&["linear_key_head_dim", "mamba_d_state"]),
        ssm_dt_rank: if value_heads > 0 { value_heads } else { number(&["mamba_n_heads"]) },
        ssm_groups: number(&["linear_num_key_heads", "mamba_n_groups"]),
        qkv_bias: tensors.has("q_proj.bias") || tensors.has("qkv_proj.bias"),
        qk_norm: qk_norm.to_owned(),
        fused_qkv: tensors.has("qkv_proj.weight"),
        fused_gate_up: tensors.has("mlp.gate_up_proj.weight"),
        ..ArchitectureFields::default()
    })
}

/// Returns the letter of each layer, as [`ArchitectureFields::layers`] has them.
fn kinds(config: &Config<'_>, count: u64, latent: bool) -> Vec<char> {
    let types = config.0.get("layer_types").and_then(Value::as_array);
    let every = config.number(&["sliding_window_pattern", "_sliding_window_pattern"]);
    let hybrid = config.0.get("hybrid_layer_pattern").and_then(Value::as_array);
    let indexers = config.0.get("indexer_types").and_then(Value::as_array);
    let full_every = config.number(&["full_attention_interval"]);
    let slides = config.flag("use_sliding_window") != Some(false)
        && config.number(&["sliding_window"]) > 0
        && (every > 0 || types.is_some());
    let kind = |layer: u64| {
        let named = types.and_then(|types| types.get(layer as usize)).and_then(Value::as_str);
        match named {
            _ if latent => match indexers.and_then(|kinds| kinds.get(layer as usize)).and_then(Value::as_str)
            {
                Some("shared") => 'T',
                _ => 'M',
            },
            None if let Some(hybrid) = hybrid => match hybrid.get(layer as usize).and_then(Value::as_u64) {
                Some(1) => 'S',
                _ => 'F',
            },
            Some("sliding_attention" | "chunked_attention") if slides => 'S',
            Some("linear_attention" | "mamba" | "conv") => 'R',
            Some(_) => 'F',
            None if full_every > 1 && !(layer + 1).is_multiple_of(full_every) => 'R',
            None if slides && !(layer + 1).is_multiple_of(every) => 'S',
            None => 'F',
        }
    };
    (0..count).map(kind).collect()
}
