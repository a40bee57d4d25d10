//! Words of a site for severities and costs of errors and for systems.

use serde::Serialize;

use crate::custom::BAD_DECLARATION;
use crate::diag::Diagnostic;
use crate::files::Spanned;
use crate::schema::{TextMap, is_slug, record};

/// Words with their labels, as written.
type WrittenWords = Vec<(Spanned<String>, Spanned<String>)>;

/// Words with their labels.
pub type Words = Vec<(String, String)>;

record! {
    /// Vocabularies as declared in `site.toml`.
    #[derive(Debug)]
    pub struct VocabulariesDeclaration {
        /// Severities of errors with their labels, the worst first.
        optional severities: WrittenWords as TextMap,
        /// Costs of solutions with their labels.
        optional costs: WrittenWords as TextMap,
        /// Systems of errors with their labels.
        optional systems: WrittenWords as TextMap,
    }
}

/// Declared vocabularies; empty ones are built in.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Vocabularies {
    /// Severities of errors, the worst first.
    pub severities: Words,
    /// Costs of solutions.
    pub costs: Words,
    /// Systems of errors.
    pub systems: Words,
}

impl Vocabularies {
    /// Checks the declared words.
    pub(super) fn new(written: VocabulariesDeclaration, found: &mut Vec<Diagnostic>) -> Self {
        let mut checked = |words: WrittenWords| {
            let (words, faults): (Vec<_>, Vec<_>) =
                words.into_iter().partition(|(word, _)| is_slug(&word.value));
            found.extend(faults.into_iter().map(|(word, _)| {
                let message = format!("`{}` is not a word", word.value);
                Diagnostic::error(&BAD_DECLARATION, word.span, message)
                    .help("use lowercase letters, digits and hyphens: `word = \"Label\"`")
            }));
            words.into_iter().map(|(word, label)| (word.value, label.value)).collect()
        };
        Self {
            severities: checked(written.severities),
            costs: checked(written.costs),
            systems: checked(written.systems),
        }
    }
}

/// Returns the default of a vocabulary: the built-in one if the vocabulary has it, otherwise its first word.
pub fn default_word<'w>(vocabulary: &'w Words, built_in: &'w str) -> &'w str {
    match vocabulary.first() {
        Some((first, _)) if vocabulary.iter().all(|(known, _)| known != built_in) => first,
        _ => built_in,
    }
}
