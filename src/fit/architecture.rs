//! A model page's hyperparameters become the estimator's own type.

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::family::Family;
use kbgen_estimate::fields::ArchitectureFields;

use crate::diag::nearest;
use crate::files::Span;
use crate::site::kinds::ArchitectureData;

/// A hyperparameter that cannot be, at its place.
#[derive(Debug, Clone)]
pub struct ArchitectureFault {
    /// Where.
    pub span: Span,
    /// What, as a phrase.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// The hyperparameters of a page as plain fields; none if a required one is missing, which is
/// reported elsewhere.
pub(super) fn plain_fields(data: &ArchitectureData) -> Option<ArchitectureFields> {
    let (name, layers) = (data.name.as_ref()?, data.layers.as_ref()?);
    let required = ["hidden", "heads", "kv_heads", "vocab", "max_ctx"];
    if required.iter().any(|field| data.count(field).is_none()) {
        return None;
    }
    let count = |name| data.count(name).unwrap_or(0);
    let flag = |name| data.flag(name).unwrap_or(false);
    Some(ArchitectureFields {
        gguf_arch: name.value.clone(),
        layers: data.layer_count(),
        layer_kinds: layers.value.clone(),
        hidden: count("hidden"),
        heads: count("heads"),
        kv_heads: count("kv_heads"),
        head_dim: count("head_dim"),
        kv_heads_full: count("kv_heads_full"),
        head_dim_full: count("head_dim_full"),
        k_eq_v_full: flag("k_eq_v_full"),
        ffn: count("ffn"),
        vocab: count("vocab"),
        tied: flag("tied"),
        experts: count("experts"),
        experts_used: count("experts_used"),
        expert_ffn: count("expert_ffn"),
        shared_expert_ffn: count("shared_expert_ffn"),
        first_dense_layers: count("first_dense_layers"),
        moe_every: count("moe_every"),
        sliding_window: count("sliding_window"),
        mla_kv_lora: count("mla_kv_lora"),
        mla_q_lora: count("mla_q_lora"),
        mla_qk_rope: count("mla_qk_rope"),
        mla_qk_nope: count("mla_qk_nope"),
        mla_v_head: count("mla_v_head"),
        ssm_conv: count("ssm_conv"),
        ssm_inner: count("ssm_inner"),
        ssm_state: count("ssm_state"),
        ssm_dt_rank: count("ssm_dt_rank"),
        ssm_groups: count("ssm_groups"),
        qkv_bias: flag("qkv_bias"),
        qk_norm: data.word("qk_norm").unwrap_or_default(),
        fused_qkv: flag("fused_qkv"),
        fused_gate_up: flag("fused_gate_up"),
        gated_ffn: data.flag("gated_ffn").unwrap_or(true),
        max_ctx: count("max_ctx"),
    })
}

/// The architecture of a page; none if a required field is missing, which is reported elsewhere.
///
/// # Errors
/// The first field with an impossible value.
pub fn architecture(data: &ArchitectureData) -> Result<Option<Architecture>, ArchitectureFault> {
    let (Some(name), Some(fields)) = (&data.name, &data.fields) else { return Ok(None) };
    let Some(plain) = plain_fields(data) else { return Ok(None) };
    plain.build().map(Some).map_err(|fault| {
        let (key, near) = match fault.field {
            "gguf_arch" => ("name", nearest(&name.value, Family::ALL.iter().map(|f| f.name()))),
            "layer_kinds" => ("layers", None),
            other => (other, None),
        };
        let help = match near {
            Some(near) => format!("did you mean `{near}`?"),
            None => "take the value from the model's own `config.json` or from its GGUF file".to_string(),
        };
        ArchitectureFault { span: fields.span_of(key).unwrap_or(fields.span()), message: fault.problem, help }
    })
}
