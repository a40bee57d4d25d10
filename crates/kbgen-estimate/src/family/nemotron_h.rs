//! Nemotron 3, H and Nano 2: a layer is a Mamba 2 state, attention without positions, or feed-forward.

use crate::compute::Gating;
use crate::family::{Family, LayerForm, OutputRows};
use crate::names::Name;

const NEMOTRON_H: Family = Family {
    name: "nemotron_h",
    served_alone_by_ollama: true,
    router_bias: |_| true,
    kv_heads_by_layer: true,
    norms: &[Name::AttentionNorm],
    layer_form: LayerForm::OnePart,
    uses_rope: |_, _| false,
    squared_relu: true,
    gating: Some(Gating::Sigmoid),
    // the file's metadata determines it: a few KiB of 300 MiB, omitted as in the measurements
    normalizes_shares: false,
    output_rows: OutputRows::AfterNorm,
    ..Family::PLAIN
};

pub(super) const FAMILIES: &[Family] = &[NEMOTRON_H, Family { name: "nemotron_h_moe", ..NEMOTRON_H }];
