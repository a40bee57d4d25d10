//! dots.llm1.

use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "dots1",
    router_bias: |_| true,
    // as the file's metadata say: a few KiB of 300 MiB, left out as in the measurements
    normalizes_shares: false,
    ..Family::PLAIN
}];
