//! Phi 2, 3, 4 and Phi MoE.

use crate::architecture::RopeFactors;
use crate::compute::NormKind;
use crate::family::{Family, LayerForm, scale_query};
use crate::names::Name;

/// Family whose norms, attention and output have biases.
const BIASED: Family = Family {
    norm_bias: true,
    attention_output_bias: true,
    output_bias: true,
    after_rope: Some(scale_query),
    ..Family::PLAIN
};

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "phi2",
        norms: &[Name::AttentionNorm],
        norm: NormKind::Layer,
        ffn_bias: true,
        layer_form: LayerForm::Parallel { parts_first: true },
        ..BIASED
    },
    Family {
        name: "phi3",
        // LongRoPE
        rope_factors: |fields| {
            if fields.max_ctx > 32_768 {
                RopeFactors::LongAndShort(fields.half_head().min(48))
            } else {
                RopeFactors::None
            }
        },
        stream_first: [false, true],
        after_rope: Some(scale_query),
        ..Family::PLAIN
    },
    Family {
        name: "phimoe",
        rope_factors: |fields| RopeFactors::LongAndShort(fields.half_head()),
        stream_first: [false, true],
        ..BIASED
    },
];
