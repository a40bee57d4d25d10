//! Apertus.

use crate::family::{Family, factors_of_half_a_head};

pub(super) const FAMILIES: &[Family] =
    &[Family { name: "apertus", rope_factors: factors_of_half_a_head, ..Family::PLAIN }];
