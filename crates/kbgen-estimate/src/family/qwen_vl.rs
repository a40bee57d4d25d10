//! Language models of Qwen2-VL, Qwen2.5-VL and Qwen3-VL: four position numbers per token.

use crate::family::Family;

/// The results of three layers of the vision tower are added to the first layers (`deepstack_visual_indexes`
/// of every Qwen3-VL).
const QWEN3_VL: Family = Family { name: "qwen3vl", positions: 4, stacked_embeddings: 3, ..Family::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    Family { name: "qwen2vl", model_types: &["qwen2_vl", "qwen2_5_vl"], positions: 4, ..Family::PLAIN },
    Family { model_types: &["qwen3_vl"], ..QWEN3_VL },
    Family { name: "qwen3vlmoe", model_types: &["qwen3_vl_moe"], ..QWEN3_VL },
];
