//! Hyperparameters from the metadata of a file and from the shapes of its tensors.
//!
//! Keys and names of tensors are those of llama.cpp's `gguf-py/gguf/constants.py`.

use std::collections::HashMap;

use crate::family::Family;
use crate::fields::{ArchitectureFields, MAX_LAYERS, or, run_lengths};
use crate::gguf::header::{FileTensor, Header};

/// Tensors of a file by name.
struct Tensors<'h>(HashMap<&'h str, &'h FileTensor>);

impl<'h> Tensors<'h> {
    fn layer(&self, layer: u64, name: &str) -> Option<&'h FileTensor> {
        self.0.get(format!("blk.{layer}.{name}").as_str()).copied()
    }

    fn has(&self, layer: u64, name: &str) -> bool {
        self.layer(layer, name).is_some()
    }

    /// Returns a dimension of the tensor with this name in the first layer that has it.
    fn size(&self, layers: u64, name: &str, dimension: usize) -> Option<u64> {
        (0..layers).find_map(|layer| self.layer(layer, name)).map(|tensor| tensor.dimensions[dimension])
    }
}

/// Returns the number of layers that llama.cpp computes. Layers for multi-token prediction are loaded only on
/// request.
pub(super) fn layer_count(header: &Header) -> u64 {
    let name = header.text("general.architecture").unwrap_or_default();
    let number = |key: &str| header.number(&format!("{name}.{key}"));
    number("block_count")
        .unwrap_or_default()
        .saturating_sub(number("nextn_predict_layers").unwrap_or_default())
}

/// Returns the hyperparameters of a file, which [`ArchitectureFields::build`] checks. Missing values stay zero.
pub fn architecture_fields(header: &Header) -> ArchitectureFields {
    let name = header.text("general.architecture").unwrap_or_default();
    let key = |key: &str| format!("{name}.{key}");
    let number = |name: &str| header.number(&key(name)).unwrap_or_default();
    let tensors = Tensors(header.tensors.iter().map(|tensor| (tensor.name.as_str(), tensor)).collect());
    // Leaves an invalid number of layers to the validation of the fields.
    let count = layer_count(header);
    let layers = if count > MAX_LAYERS { 0 } else { count };
    let kinds: Vec<char> = kinds(header, &tensors, name, layers);
    let of_kind = |kind: char| (0..).zip(&kinds).find(|(_, found)| **found == kind).map(|(layer, _)| layer);
    let by_layer = |name: &str, layer: Option<u64>| {
        let numbers = header.numbers(&key(name)).unwrap_or_default();
        let at = layer.filter(|layer| (*layer as usize) < numbers.len());
        at.or(Some(0)).and_then(|layer| numbers.get(layer as usize).copied()).unwrap_or_default()
    };
    let (full, sliding) = (of_kind('F'), of_kind('S'));
    let attention = sliding.or(full);
    let heads = header
        .numbers(&key("attention.head_count"))
        .unwrap_or_default()
        .into_iter()
        .max()
        .unwrap_or_default();
    let hidden = number("embedding_length");
    let head_dim = match (number("attention.key_length"), number("attention.key_length_swa")) {
        (_, swa) if swa > 0 && sliding.is_some() => swa,
        (length, _) if length > 0 => length,
        _ => hidden.checked_div(heads).unwrap_or_default(),
    };
    let head_dim_full = match number("attention.key_length") {
        length if full.is_some() && sliding.is_some() && length != head_dim => length,
        _ => 0,
    };
    // Without the key, llama.cpp uses the number of heads (`src/llama-model.cpp`).
    let kv_key = match header.numbers(&key("attention.head_count_kv")) {
        Some(_) => "attention.head_count_kv",
        None => "attention.head_count",
    };
    let kv_heads = by_layer(kv_key, attention);
    let kv_heads_full = match by_layer(kv_key, full) {
        count if sliding.is_some() && full.is_some() && count != kv_heads => count,
        _ => 0,
    };
    let experts: Vec<u64> = (0..layers).filter(|layer| has_experts(&tensors, *layer)).collect();
    let step = match experts.as_slice() {
        [first, second, ..] => second - first,
        _ => 1,
    };
    let widths = header.numbers(&key("feed_forward_length")).unwrap_or_default();
    let kv_shared_layers = number("attention.shared_kv_layers");
    let widest = widths.iter().copied().max().unwrap_or_default();
    let (ffn, kv_shared_ffn) = match widths.as_slice() {
        [first, .., last] if kv_shared_layers > 0 && first != last => (*first, *last),
        _ => (widest, 0),
    };
    let up =
        (0..layers).find_map(|layer| tensors.layer(layer, "ffn_up.weight")).map_or(0, |up| up.dimensions[1]);
    let has_gate = (0..layers).any(|layer| tensors.has(layer, "ffn_gate.weight"));
    let is_fused = !has_gate && ffn > 0 && up == 2 * ffn;
    let expert_gates = ["ffn_gate_exps.weight", "ffn_gate_up_exps.weight", "ffn_gate_shexp.weight"];
    let gated =
        has_gate || is_fused || expert_gates.iter().any(|gate| tensors.size(layers, gate, 0).is_some());
    let rope = number("rope.dimension_count");
    let latent = of_kind('M').is_some();
    let q_norm = attention.and_then(|layer| tensors.layer(layer, "attn_q_norm.weight"));
    ArchitectureFields {
        name: name.to_owned(),
        layers: if layers == count { run_lengths(&kinds) } else { format!("F{count}") },
        hidden,
        heads,
        kv_heads: if latent { 1 } else { kv_heads },
        head_dim: if latent { 0 } else { head_dim },
        value_head_dim: match number("attention.value_length") {
            width if latent || width == or(number("attention.key_length"), head_dim) => 0,
            width => width,
        },
        ffn,
        vocab: header.tensor("token_embd.weight").map_or(0, |tensor| tensor.dimensions[1]),
        tied: header.tensor("output.weight").is_none(),
        max_ctx: number("context_length"),
        kv_heads_full,
        head_dim_full,
        k_eq_v_full: full
            .is_some_and(|layer| tensors.has(layer, "attn_k.weight") && !tensors.has(layer, "attn_v.weight")),
        per_layer_embedding: number("embedding_length_per_layer_input"),
        kv_shared_layers,
        kv_shared_ffn,
        experts: number("expert_count"),
        experts_used: number("expert_used_count"),
        expert_ffn: tensors
            .size(layers, "ffn_down_exps.weight", 0)
            .unwrap_or(number("expert_feed_forward_length")),
        shared_expert_ffn: tensors.size(layers, "ffn_down_shexp.weight", 0).unwrap_or_default(),
        expert_latent: tensors.size(layers, "ffn_latent_down.weight", 1).unwrap_or_default(),
        first_dense_layers: if step == 1 { experts.first().copied().unwrap_or_default() } else { 0 },
        moe_every: if step == 1 { 0 } else { step },
        sliding_window: if sliding.is_some() { number("attention.sliding_window") } else { 0 },
        mla_kv_lora: if latent { number("attention.kv_lora_rank") } else { 0 },
        mla_q_lora: if latent { number("attention.q_lora_rank") } else { 0 },
        mla_qk_rope: if latent { rope } else { 0 },
        mla_qk_nope: if latent {
            or(number("attention.key_length_mla"), head_dim).saturating_sub(rope)
        } else {
            0
        },
        mla_v_head: match latent {
            true => or(number("attention.value_length_mla"), number("attention.value_length")),
            false => 0,
        },
        indexer_heads: number("attention.indexer.head_count"),
        indexer_head_dim: number("attention.indexer.key_length"),
        indexer_top_k: number("attention.indexer.top_k"),
        ssm_conv: or(number("ssm.conv_kernel"), number("shortconv.l_cache")),
        ssm_inner: number("ssm.inner_size"),
        ssm_state: number("ssm.state_size"),
        ssm_dt_rank: number("ssm.time_step_rank"),
        ssm_groups: number("ssm.group_count"),
        qkv_bias: attention
            .is_some_and(|layer| tensors.has(layer, "attn_q.bias") || tensors.has(layer, "attn_qkv.bias")),
        qk_norm: match q_norm.map(|norm| norm.dimensions[0]) {
            None => String::new(),
            Some(width) if width == head_dim => "head".to_owned(),
            Some(_) => "full".to_owned(),
        },
        fused_qkv: attention.is_some_and(|layer| tensors.has(layer, "attn_qkv.weight")),
        fused_gate_up: is_fused,
        gated_ffn: gated,
        pooling: match number("pooling_type") {
            1 => "mean".to_owned(),
            2 => "cls".to_owned(),
            3 => "last".to_owned(),
            _ => String::new(),
        },
        token_types: header.tensor("token_types.weight").map_or(0, |tensor| tensor.dimensions[1]),
    }
}

fn has_experts(tensors: &Tensors<'_>, layer: u64) -> bool {
    ["ffn_down_exps.weight", "ffn_up_exps.weight"].iter().any(|name| tensors.has(layer, name))
}

/// Returns the letter of each layer, as [`ArchitectureFields::layers`] has them.
fn kinds(header: &Header, tensors: &Tensors<'_>, name: &str, layers: u64) -> Vec<char> {
    let key = format!("{name}.attention.sliding_window_pattern");
    let window = header.number(&format!("{name}.attention.sliding_window")).unwrap_or_default();
    let pattern = header.numbers(&key).unwrap_or_default();
    let every = match pattern.as_slice() {
        _ if header.is_array(&key) => 0,
        [every, ..] => *every,
        [] => Family::named(name).map_or(0, |family| family.full_attention_every),
    };
    let slides = |layer: u64| match header.is_array(&key) {
        true => pattern.get(layer as usize).is_some_and(|slides| *slides == 1),
        false => every > 0 && !(layer + 1).is_multiple_of(every),
    };
    let indexes = header.number(&format!("{name}.attention.indexer.head_count")).unwrap_or_default() > 0;
    let kind = |layer: u64| {
        let has = |name: &str| tensors.has(layer, name);
        if has("attn_kv_a_mqa.weight") {
            if indexes && !has("indexer.proj.weight") { 'T' } else { 'M' }
        } else if has("ssm_conv1d.weight") || has("shortconv.conv.weight") {
            'R'
        } else if has("attn_q.weight") || has("attn_qkv.weight") {
            if window > 0 && slides(layer) { 'S' } else { 'F' }
        } else {
            'N'
        }
    };
    (0..layers).map(kind).collect()
}
