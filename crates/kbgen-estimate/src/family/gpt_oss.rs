//! gpt-oss.

use crate::compute::Gating;
use crate::family::{Family, OutputRows};

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "gpt-oss",
    full_attention_every: 2,
    mxfp4_checkpoint: true,
    attention_output_bias: true,
    attention_sinks: |_| true,
    expert_bias: true,
    gating: Some(Gating::SoftmaxOfChosen),
    normalizes_shares: false,
    output_rows: OutputRows::BeforeNorm,
    ..Family::PLAIN
}];
