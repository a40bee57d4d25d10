//! Seed-OSS.

use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[Family { name: "seed_oss", ..Family::PLAIN }];
