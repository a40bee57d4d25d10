//! Translates the reasons why something is not covered, which the estimator returns in English.

use crate::i18n::{Translations, text};

/// Reasons that readers can see.
const REASONS: [&str; 11] = [
    text("its hyperparameters are not complete"),
    text("its hyperparameters contradict each other"),
    text("the head size is not a multiple of the block size of the cache type"),
    text("the model has no attention"),
    text("encoders are modeled for llama.cpp only"),
    text("the vLLM cache of three kinds of layers is not modeled"),
    text("the vLLM cache of layers with different widths is not modeled"),
    text("too few measurements of this class of devices"),
    text("measurements of Intel Arc differ up to tenfold between backends and builds"),
    text("no measurements of models with experts on this class of devices"),
    text("no measurements with a part in RAM on this class of devices"),
];

/// Returns the translated reason.
pub(super) fn not_covered<'t>(texts: &'t Translations, reason: &'t str) -> &'t str {
    REASONS.iter().find(|known| **known == reason).map_or(reason, |known| texts.tr(known))
}
