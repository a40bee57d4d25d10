//! StarCoder 2.

use crate::compute::NormKind;
use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "starcoder2",
    norm_bias: true,
    attention_output_bias: true,
    ffn_bias: true,
    norm: NormKind::Layer,
    ..Family::PLAIN
}];
