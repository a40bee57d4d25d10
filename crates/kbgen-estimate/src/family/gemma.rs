//! Gemma 1 to 3.

use crate::family::{Family, scale_query};
use crate::names::Name;

const GEMMA: Family =
    Family { name: "gemma", scales_embedding: true, after_rope: Some(scale_query), ..Family::PLAIN };

pub(super) const GEMMA3: Family = Family {
    name: "gemma3",
    full_attention_every: 6,
    norms: &[Name::AttentionNorm, Name::AttentionPostNorm, Name::FfnNorm, Name::FfnPostNorm],
    ..GEMMA
};

pub(super) const FAMILIES: &[Family] = &[
    GEMMA,
    Family { name: "gemma2", full_attention_every: 2, caps_scores: true, logit_steps: 3, ..GEMMA3 },
    GEMMA3,
    Family { name: "gemma-embedding", is_encoder: true, ..GEMMA3 },
];
