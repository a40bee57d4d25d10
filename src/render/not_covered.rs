//! Translates the reasons why something is not covered, which the estimator returns in English.

use crate::i18n::{Translations, text};

/// Reasons that readers can see.
const REASONS: [&str; 6] = [
    text("its hyperparameters are not complete"),
    text("its hyperparameters contradict each other"),
    text("the head width is no multiple of the cache type's block"),
    text("the model has no attention"),
    text("vLLM's cache of a recurrent state is not modeled"),
    text("vLLM's cache of layers that differ in width is not modeled"),
];

/// Returns the translated reason.
pub(super) fn not_covered<'t>(texts: &'t Translations, reason: &'t str) -> &'t str {
    REASONS.iter().find(|known| **known == reason).map_or(reason, |known| texts.tr(known))
}
