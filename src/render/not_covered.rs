//! Translates the reasons why something is not covered, which the estimator returns in English.

use crate::i18n::{Translations, text};

/// Reasons that readers can see.
const REASONS: [&str; 6] = [
    text("its hyperparameters are not complete"),
    text("its hyperparameters contradict each other"),
    text("the head size is not a multiple of the block size of the cache type"),
    text("the model has no attention"),
    text("the vLLM cache of recurrent states is not modeled"),
    text("the vLLM cache of layers with different widths is not modeled"),
];

/// Returns the translated reason.
pub(super) fn not_covered<'t>(texts: &'t Translations, reason: &'t str) -> &'t str {
    REASONS.iter().find(|known| **known == reason).map_or(reason, |known| texts.tr(known))
}
