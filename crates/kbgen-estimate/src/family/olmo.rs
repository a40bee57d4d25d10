//! OLMo 2 and OLMoE: Q and K are normalized over all heads.

use crate::family::{Family, QueryKeyNorm};
use crate::names::Name;

const WHOLE_NORMS: Family = Family { query_key_norm: QueryKeyNorm::Whole, ..Family::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    Family {
        name: "olmo2",
        full_attention_every: 4,
        norms: &[Name::AttentionPostNorm, Name::FfnPostNorm],
        ..WHOLE_NORMS
    },
    Family { name: "olmoe", normalizes_shares: false, ..WHOLE_NORMS },
];
