//! Arcee's AFM.

use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[Family { name: "arcee", squared_relu: true, ..Family::PLAIN }];
