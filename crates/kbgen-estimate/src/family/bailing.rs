//! Ling and Ring.
//!
//! They normalize and scale shares as the file's metadata say: a few KiB of 300 MiB, left out as in the measurements.

use crate::family::Family;

const LING: Family = Family { name: "bailingmoe", normalizes_shares: false, ..Family::PLAIN };

pub(super) const FAMILIES: &[Family] =
    &[LING, Family { name: "bailingmoe2", fused_qkv: true, router_bias: |_| true, ..LING }];
