//! EXAONE 3.5 and 4.

use crate::architecture::LayerKind;
use crate::family::{Family, factors_of_half_a_head};
use crate::names::Name;

const EXAONE: Family = Family { name: "exaone", rope_factors: factors_of_half_a_head, ..Family::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    EXAONE,
    Family {
        name: "exaone4",
        full_attention_every: 4,
        norms: &[Name::AttentionPostNorm, Name::FfnPostNorm],
        uses_rope: |model, layer| {
            model.layers[layer as usize].kind == LayerKind::Sliding || !model.has(LayerKind::Sliding)
        },
        ..EXAONE
    },
];
