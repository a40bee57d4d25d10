//! ERNIE 4.5.

use crate::compute::Gating;
use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[
    Family { name: "ernie4_5", ..Family::PLAIN },
    Family { name: "ernie4_5-moe", router_bias: |_| true, gating: Some(Gating::Softmax), ..Family::PLAIN },
];
