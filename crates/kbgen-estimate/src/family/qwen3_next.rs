//! Qwen3-Next and Qwen 3.5: gated delta nets, and attention whose Q projection also computes a gate of the
//! result.

use crate::compute::{Builder, Extent, NormKind, Projections, TensorId, shape};
use crate::family::{Family, OutputRows, Recurrence, SharedGate};
use crate::names::Name;

const QWEN3_NEXT: Family = Family {
    name: "qwen3next",
    served_alone_by_ollama: true,
    query_gate: true,
    shared_gate: SharedGate::After,
    recurrence: Recurrence::DeltaNet { joint: true },
    attention: Some(attention),
    output_rows: OutputRows::AfterNorm,
    ..Family::PLAIN
};

const QWEN35: Family =
    Family { name: "qwen35", recurrence: Recurrence::DeltaNet { joint: false }, positions: 4, ..QWEN3_NEXT };

pub(super) const FAMILIES: &[Family] = &[QWEN3_NEXT, QWEN35, Family { name: "qwen35moe", ..QWEN35 }];

fn attention(builder: &mut Builder<'_>, layer: u64, x: TensorId) -> TensorId {
    let (heads, kv_heads, head_dim) = builder.head_counts(layer);
    let [heads, kv_heads, head_dim] = [heads, kv_heads, head_dim].map(Extent::from);
    let tokens = builder.tokens;
    let flat = builder.flat_projections(layer, x);
    let step = 4 * 2 * head_dim;
    let strides = [step, step * heads, step * heads * tokens];
    let query = builder.graph.view(flat.query, shape([head_dim, heads, tokens]), strides);
    let query = builder.norm(query, NormKind::Rms, layer, Name::QNorm);
    let key = builder.graph.reshape(flat.key, shape([head_dim, kv_heads, tokens]));
    let key = builder.norm(key, NormKind::Rms, layer, Name::KNorm);
    let gate = builder.graph.view(flat.query, shape([head_dim, heads, tokens]), strides);
    let gate = builder.graph.packed(gate, shape([head_dim * heads, tokens]));
    let value = builder.graph.reshape(flat.value, shape([head_dim, kv_heads, tokens]));
    let query = builder.rope(layer, query);
    let key = builder.rope(layer, key);
    let out = builder.attention(layer, Projections { query, key, value });
    let opened = builder.graph.in_place(&[gate]);
    let gated = builder.graph.in_place(&[out, opened]);
    builder.linear(layer, Name::AttentionOutput, None, gated)
}
