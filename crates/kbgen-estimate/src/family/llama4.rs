//! Llama 4: shares of experts multiply what goes into them, every fourth layer has no rotary positions.

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

/// Norms where positions are rotary (not in Maverick, of 128 experts), else a scale that grows with the position.
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
