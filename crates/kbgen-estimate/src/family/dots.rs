//! dots.llm1.

use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "dots1",
    router_bias: |_| true,
    // the file's metadata determines it: a few KiB of 300 MiB, omitted as in the measurements
    normalizes_shares: false,
    ..Family::PLAIN
}];
