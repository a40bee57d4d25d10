//! LFM2: short convolutions between layers of attention.

use crate::family::{Family, Recurrence};

const DENSE: Family = Family {
    name: "lfm2",
    served_alone_by_ollama: true,
    kv_heads_by_layer: true,
    recurrence: Recurrence::ShortConvolution,
    stream_first: [true, true],
    ..Family::PLAIN
};

pub(super) const FAMILIES: &[Family] = &[DENSE, Family { name: "lfm2moe", router_bias: |_| true, ..DENSE }];
