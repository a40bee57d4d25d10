//! Hunyuan: Q and K are normalized after rotary positions.

use crate::family::{Family, QueryKeyNorm};

const DENSE: Family = Family {
    name: "hunyuan-dense",
    model_types: &["hunyuan_v1_dense"],
    query_key_norm: QueryKeyNorm::ByHeadAfterRope,
    ..Family::PLAIN
};

pub(super) const FAMILIES: &[Family] =
    &[DENSE, Family { name: "hunyuan-moe", model_types: &["hunyuan_v1_moe"], shared_first: true, ..DENSE }];
