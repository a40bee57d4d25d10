//! Translations of the interface. The English text is the key, so English needs no translation.
//!
//! A text may have placeholders (`{count}`) and tags (`<link>words</link>`), which the caller fills in.

mod calls;
mod part;

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::Serialize;

pub use calls::{Call, calls};
pub use part::{TextPart, parts};

/// Marks a text for translation with [`Translations::tr`] at a later point; tests collect the marked texts.
pub const fn text(english: &'static str) -> &'static str {
    english
}

/// Translations into one language, by English text.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Translations {
    translations: BTreeMap<String, String>,
}

impl Translations {
    /// Creates translations from a map of English texts; a text that is not in the map stays English.
    pub fn new(translations: BTreeMap<String, String>) -> Self {
        Self { translations }
    }

    /// Returns the translation of a text.
    pub fn tr<'t>(&'t self, english: &'t str) -> &'t str {
        self.translations.get(english).map_or(english, String::as_str)
    }

    /// Returns the translation of a text with its placeholders filled; those without a value are kept.
    pub fn fill(&self, english: &str, values: &[(&str, &dyn Display)]) -> String {
        let filled = parts(self.tr(english)).into_iter().map(|part| match part {
            TextPart::Hole(hole) => match values.iter().find(|(name, _)| *name == hole) {
                Some((_, value)) => value.to_string(),
                None => part.source(),
            },
            part => part.source(),
        });
        filled.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_translation_stays_english() {
        let translations = BTreeMap::from([("{n} of {all}".to_string(), "von {all} nur {n}".to_string())]);
        let texts = Translations::new(translations);
        assert_eq!(texts.fill("{n} of {all}", &[("n", &1), ("all", &"{n}")]), "von {n} nur 1");
        assert_eq!(texts.fill("{n} in all", &[("n", &2)]), "2 in all");
        assert_eq!(texts.tr("Copy"), "Copy");
    }
}
