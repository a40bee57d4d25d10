//! Llama 4: routing weights multiply the input of the experts, and every fourth layer has no rotary
//! positions.

use crate::compute::{Builder, Gating, NormKind, Projections, TensorId};
use crate::family::{Family, factors_of_half_a_head, three_of_four};

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "llama4",
    full_attention_every: 4,
    rope_factors: factors_of_half_a_head,
    query_scale: true,
    uses_rope: three_of_four,
    after_rope: Some(norms),
    gating: Some(Gating::Sigmoid),
    normalizes_shares: false,
    shares_before: true,
    ..Family::PLAIN
}];

/// Normalizes Q and K in layers with rotary positions (not in Maverick, which has 128 experts); in other
/// layers, scales Q by position.
fn norms(builder: &mut Builder<'_>, layer: u64, parts: &mut Projections) {
    let maverick = builder.model.experts.is_some_and(|experts| experts.count == 128);
    if !three_of_four(builder.model, layer) {
        let sources: Vec<TensorId> = [parts.query].into_iter().chain(builder.query_scale).collect();
        parts.query = builder.graph.in_place(&sources);
    } else if !maverick {
        parts.query = builder.bare_norm(parts.query, NormKind::Rms);
        parts.key = builder.bare_norm(parts.key, NormKind::Rms);
    }
}
