//! Hunyuan: Q and K are normed after rotary positions.

use crate::family::{Family, QueryKeyNorm};

const DENSE: Family =
    Family { name: "hunyuan-dense", query_key_norm: QueryKeyNorm::ByHeadAfterRope, ..Family::PLAIN };

pub(super) const FAMILIES: &[Family] = &[DENSE, Family { name: "hunyuan-moe", shared_first: true, ..DENSE }];
