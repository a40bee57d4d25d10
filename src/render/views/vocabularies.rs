//! Severities, costs and systems with their labels: declared in `site.toml`, or built in.

use crate::custom::{Words, default_word};
use crate::render::views::context::RenderContext;
use crate::site::kinds::{Cost, Platform, Severity};

impl RenderContext<'_> {
    /// Returns the severities of errors, the worst first.
    pub fn severities(&self) -> Words {
        let built_in = [
            (Severity::Fatal.name(), self.tr("Fatal")),
            (Severity::Degraded.name(), self.tr("Degraded")),
            (Severity::None.name(), self.tr("Harmless")),
        ];
        words(&self.inputs.config.declared.vocabularies.severities, &built_in)
    }

    /// Returns the systems of errors.
    pub fn systems(&self) -> Words {
        let built_in = [
            (Platform::Linux.name(), "Linux"),
            (Platform::Windows.name(), "Windows"),
            (Platform::Macos.name(), "macOS"),
            (Platform::Wsl.name(), "WSL"),
            (Platform::Docker.name(), self.tr("Containers")),
        ];
        words(&self.inputs.config.declared.vocabularies.systems, &built_in)
    }

    /// Returns the label of a severity, unless it is the default.
    pub fn severity_mark(&self, severity: &str) -> Option<String> {
        let words = self.severities();
        (severity != default_word(&words, Severity::Fatal.name())).then(|| word_label(&words, severity))
    }

    /// Returns the label of a cost, unless it is the default.
    pub fn cost_mark(&self, cost: &str) -> Option<String> {
        let built_in = [
            (Cost::None.name(), ""),
            (Cost::Speed.name(), self.tr("costs speed")),
            (Cost::Quality.name(), self.tr("costs quality")),
            (Cost::Money.name(), self.tr("costs money")),
        ];
        let words = words(&self.inputs.config.declared.vocabularies.costs, &built_in);
        (cost != default_word(&words, Cost::None.name())).then(|| word_label(&words, cost))
    }
}

fn words(declared: &Words, built_in: &[(&str, &str)]) -> Words {
    if !declared.is_empty() {
        return declared.clone();
    }
    built_in.iter().map(|(word, label)| (word.to_string(), label.to_string())).collect()
}

/// Returns the label of a word.
pub(super) fn word_label(words: &Words, word: &str) -> String {
    words.iter().find(|(known, _)| known == word).map_or(word, |(_, label)| label).to_string()
}
