//! Why something is not covered, in the language of the site: the estimate gives its reasons in English.

use crate::texts::{Texts, text};

/// Reasons that readers meet.
const REASONS: [&str; 6] = [
    text("its hyperparameters are not complete"),
    text("its hyperparameters contradict each other"),
    text("the head size is not a multiple of the block size of the cache type"),
    text("the model has no attention"),
    text("the vLLM cache of recurrent states is not modeled"),
    text("the vLLM cache of layers with different widths is not modeled"),
];

/// A reason as a page gives it.
pub(super) fn not_covered<'t>(texts: &'t Texts, reason: &'t str) -> &'t str {
    REASONS.iter().find(|known| **known == reason).map_or(reason, |known| texts.say(known))
}
