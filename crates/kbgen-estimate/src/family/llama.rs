//! Llama 1 to 3, and the many models with the same structure: Mistral, Yi, SmolLM 2.

use crate::architecture::RopeFactors;
use crate::family::Family;

pub(super) const FAMILIES: &[Family] = &[Family {
    name: "llama",
    model_types: &["mistral", "mixtral"],
    // Llama 3.1 and later
    rope_factors: |fields| {
        if fields.vocab == 128_256 && fields.max_ctx >= 131_072 {
            RopeFactors::One(fields.half_head())
        } else {
            RopeFactors::None
        }
    },
    is_70b: |model| model.grouped_query_ratio() > 1,
    ..Family::PLAIN
}];
