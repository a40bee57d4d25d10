//! MiniMax M2.

use crate::family::{Family, QueryKeyNorm};

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "minimax-m2",
    router_bias: |_| true,
    query_key_norm: QueryKeyNorm::Whole,
    ..Family::PLAIN
}];
