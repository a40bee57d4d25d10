//! Ling and Ring.
//!
//! llama.cpp normalizes and scales shares if the file's metadata says so. This changes a few KiB of 300 MiB
//! and is omitted, as in the measurements.

use crate::family::Family;

const LING: Family = Family { name: "bailingmoe", normalizes_shares: false, ..Family::PLAIN };

pub(super) const FAMILIES: &[Family] =
    &[LING, Family { name: "bailingmoe2", fused_qkv: true, router_bias: |_| true, ..LING }];
