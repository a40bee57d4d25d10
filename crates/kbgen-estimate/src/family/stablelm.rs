//! StableLM 2.

use crate::compute::NormKind;
use crate::family::Family;

pub(super) const FAMILIES: &[Family] =
    &[Family { name: "stablelm", norm_bias: true, norm: NormKind::Layer, ..Family::PLAIN }];
