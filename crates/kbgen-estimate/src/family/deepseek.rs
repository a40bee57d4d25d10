//! DeepSeek V2 and V3, and models with the same architecture: Kimi K2, GLM 4.7 Flash.

use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "deepseek2",
    model_types: &["deepseek_v2", "deepseek_v3", "glm4_moe_lite", "kimi_k2"],
    // The page does not say; it follows from the generation: V2 (its vocabulary is 102400) has none.
    router_bias: |fields| fields.vocab != 102_400,
    // It normalizes and scales as the file's metadata say: a few KiB of 300 MiB, left out as in the measurements.
    normalizes_shares: false,
    ..Family::PLAIN
}];
