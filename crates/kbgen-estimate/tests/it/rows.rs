//! Tables of measured figures, and the models that they are about.

use std::collections::BTreeMap;

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::fields::ArchitectureFields;

/// A row of a table, by its columns.
pub type Row = BTreeMap<String, String>;

/// Hyperparameters of the measured models.
pub const MODELS: &str = include_str!("../data/measured_models.csv");

/// Parses a table with a line of headings.
pub fn rows(table: &str) -> Vec<Row> {
    csv::Reader::from_reader(table.as_bytes()).deserialize().map(|row| row.unwrap()).collect()
}

/// The number in a column; an empty one is zero.
pub fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap_or(0)
}

/// The hyperparameters in a row.
pub fn fields(row: &Row) -> ArchitectureFields {
    let number = |column: &str| number(row, column);
    let text = |column: &str| row[column].clone();
    let flag = |column: &str| row[column] == "1";
    ArchitectureFields {
        gguf_arch: text("gguf_arch"),
        layers: number("layers"),
        layer_kinds: text("layer_kinds"),
        hidden: number("hidden"),
        heads: number("heads"),
        kv_heads: number("kv_heads"),
        head_dim: number("head_dim"),
        kv_heads_full: number("kv_heads_full"),
        head_dim_full: number("head_dim_full"),
        k_eq_v_full: flag("k_eq_v_full"),
        ffn: number("ffn"),
        vocab: number("vocab"),
        tied: flag("tied"),
        experts: number("experts"),
        experts_used: number("experts_used"),
        expert_ffn: number("expert_ffn"),
        shared_expert_ffn: number("shared_expert_ffn"),
        first_dense_layers: number("first_dense_layers"),
        moe_every: number("moe_every"),
        sliding_window: number("sliding_window"),
        mla_kv_lora: number("mla_kv_lora"),
        mla_q_lora: number("mla_q_lora"),
        mla_qk_rope: number("mla_qk_rope"),
        mla_qk_nope: number("mla_qk_nope"),
        mla_v_head: number("mla_v_head"),
        ssm_conv: number("ssm_conv"),
        ssm_inner: number("ssm_inner"),
        ssm_state: number("ssm_state"),
        ssm_dt_rank: number("ssm_dt_rank"),
        ssm_groups: number("ssm_groups"),
        qkv_bias: flag("qkv_bias"),
        qk_norm: text("qk_norm"),
        fused_qkv: flag("fused_qkv"),
        fused_gate_up: flag("fused_gate_up"),
        gated_ffn: flag("gated_ffn"),
        max_ctx: number("max_ctx"),
    }
}

/// The measured models by their slugs.
pub fn models() -> BTreeMap<String, Architecture> {
    let rows = rows(MODELS);
    rows.iter().map(|row| (row["id"].clone(), fields(row).build().unwrap())).collect()
}
