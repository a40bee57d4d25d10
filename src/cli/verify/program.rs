//! Words in the source of a program.

use std::collections::HashSet;

use crate::cli::mine::SourceFile;
use crate::cli::mine::literals::Language;
use crate::cli::verify::ClaimKind;

/// Words in the source of a program.
pub(super) struct Program {
    /// Words of letters, digits, `-` and `_`, in all files.
    words: HashSet<String>,
    /// Words between double quotes.
    quoted: HashSet<String>,
    /// Words in files of languages whose libraries derive options from the names of fields and arguments.
    fields: HashSet<String>,
}

impl Program {
    /// Collects the words of source files.
    pub(super) fn new(files: &[SourceFile]) -> Self {
        let mut program = Self { words: HashSet::new(), quoted: HashSet::new(), fields: HashSet::new() };
        let is_separator = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
        for file in files {
            let mut at = 0;
            for part in file.text.split_inclusive(is_separator) {
                let word = part.trim_end_matches(is_separator);
                if word.len() > 1 {
                    if part.ends_with('"') && file.text[..at].ends_with('"') {
                        program.quoted.insert(word.to_string());
                    }
                    if matches!(file.language, Some(Language::Python | Language::Rust)) {
                        program.fields.insert(word.to_string());
                    }
                    program.words.insert(word.to_string());
                }
                at += part.len();
            }
        }
        program
    }

    /// Returns whether the source has an option or variable: by its name, in quotes without hyphens as in Go, or as the
    /// field that an option is derived from, with `no-` for a switch.
    pub(super) fn has(&self, kind: ClaimKind, name: &str) -> bool {
        if self.words.contains(name) {
            return true;
        }
        let Some(long) = name.strip_prefix("--").filter(|_| kind == ClaimKind::Option) else { return false };
        let positive = long.strip_prefix("no-");
        [Some(long), positive].into_iter().flatten().any(|long| {
            self.words.contains(&format!("--{long}"))
                || self.quoted.contains(long)
                || self.fields.contains(&long.replace('-', "_"))
        })
    }
}
