//! DeepSeek V2 and V3, and models with the same architecture: Kimi K2, GLM 4.7 Flash. DeepSeek V3.2 and GLM 5 add an
//! indexer (`src/models/deepseek32.cpp`, `src/models/glm-dsa.cpp`).

use crate::family::Family;

const LATENT: Family = Family {
    name: "deepseek2",
    model_types: &["deepseek_v2", "deepseek_v3", "glm4_moe_lite", "kimi_k2"],
    // Model pages do not contain it; V2, recognized by its vocabulary of 102400, has none.
    router_bias: |fields| fields.vocab != 102_400,
    // The file's metadata determines normalization and scaling: a few KiB of 300 MiB, omitted as in the
    // measurements.
    normalizes_shares: false,
    ..Family::PLAIN
};

const SPARSE: Family = Family { router_bias: |_| true, scales_shares: true, ..Family::PLAIN };

pub(super) const FAMILIES: &[Family] = &[
    LATENT,
    Family { name: "deepseek32", model_types: &["deepseek_v32"], ..SPARSE },
    Family { name: "glm-dsa", model_types: &["glm_moe_dsa"], ..SPARSE },
];
