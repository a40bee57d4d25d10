//! Granite: embedding, residuals and logits are scaled.

use crate::family::Family;

const GRANITE: Family = Family {
    name: "granite",
    scales_embedding: true,
    scales_residual: true,
    logit_steps: 1,
    ..Family::PLAIN
};

pub(super) const FAMILIES: &[Family] = &[
    GRANITE,
    Family { name: "granitemoe", ..GRANITE },
    Family { name: "granitehybrid", model_types: &["granitemoehybrid"], kv_heads_by_layer: true, ..GRANITE },
];
