//! SmolLM 3: every fourth layer has no rotary positions.

use crate::family::{Family, three_of_four};

pub(super) const FAMILIES: &[Family] =
    &[Family { name: "smollm3", uses_rope: three_of_four, ..Family::PLAIN }];
