//! Messages of a program: constant text with values.

use crate::cli::mine::literals::{Language, VALUE};

/// Values that stand in for text when a message is compared with signatures.
const TEXTS: [&str; 6] = ["x", "'x'", "7", "7.00 MiB", "/a/b.gguf", "CUDA0"];
/// Fewest letters of the constant text of a message.
const MIN_LETTERS: usize = 10;
/// Maximum characters of a message; longer ones are usage texts and data.
const MAX_LENGTH: usize = 600;

/// A message: constant text with values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Message(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Constant(String),
    Value(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Value {
    Integer,
    Decimal,
    Text,
}

impl Message {
    /// Returns the messages of a literal, one for each line. Text without several words is no message.
    pub(super) fn all_of(text: &str, language: Language) -> Vec<Self> {
        let lines = text.lines().map(str::trim).filter(|line| line.len() <= MAX_LENGTH);
        lines.map(|line| Self::parse(line, language)).filter(Self::is_message).collect()
    }

    fn parse(line: &str, language: Language) -> Self {
        let mut message = Self(Vec::new());
        let mut rest = line;
        while let Some(next) = rest.chars().next() {
            let (value, length) = match next {
                VALUE => (Some(Value::Text), 1),
                '%' if language != Language::Rust => conversion(&rest[1..]),
                '{' if language != Language::Go => braces(rest),
                '}' if rest.starts_with("}}") && language != Language::Go => (None, 2),
                _ => (None, next.len_utf8()),
            };
            match value {
                Some(value) => message.0.push(Part::Value(value)),
                None => message.push(next),
            }
            rest = &rest[length..];
        }
        message
    }

    fn push(&mut self, next: char) {
        match self.0.last_mut() {
            Some(Part::Constant(text)) => text.push(next),
            _ => self.0.push(Part::Constant(next.to_string())),
        }
    }

    /// Returns the constant parts.
    pub(super) fn constants(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|part| match part {
            Part::Constant(text) => Some(text.as_str()),
            Part::Value(_) => None,
        })
    }

    fn is_message(&self) -> bool {
        let letters: usize =
            self.constants().map(|text| text.chars().filter(|c| c.is_alphabetic()).count()).sum();
        letters >= MIN_LETTERS && self.words().count() > 1
    }

    /// Returns the words of the constant text, in lower case.
    pub(super) fn words(&self) -> impl Iterator<Item = String> {
        self.constants().flat_map(words)
    }

    /// Returns the text with `{}` for each value.
    pub(super) fn display(&self) -> String {
        let text = |part: &Part| match part {
            Part::Constant(text) => text.clone(),
            Part::Value(_) => "{}".to_string(),
        };
        self.0.iter().map(text).collect()
    }

    /// Returns lines that the program may print, with different values in place of texts.
    pub(super) fn samples(&self) -> Vec<String> {
        let with = |filler: &&str| -> String {
            let text = |part: &Part| match part {
                Part::Constant(text) => text.clone(),
                Part::Value(Value::Integer) => "7".to_string(),
                Part::Value(Value::Decimal) => "7.00".to_string(),
                Part::Value(Value::Text) => (*filler).to_string(),
            };
            self.0.iter().map(text).collect()
        };
        match self.0.contains(&Part::Value(Value::Text)) {
            true => TEXTS.iter().map(with).collect(),
            false => vec![with(&"")],
        }
    }
}

/// Returns the words of a text with at least three letters, in lower case.
pub(super) fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphabetic()).filter(|word| word.len() > 2).map(str::to_lowercase)
}

/// Returns the value of a conversion of `printf`, after its `%`, and the length of all of it.
fn conversion(rest: &str) -> (Option<Value>, usize) {
    if rest.starts_with('%') {
        return (None, 2);
    }
    // Python names its values: `%(name)s`.
    let name = if rest.starts_with('(') { rest.find(')').map_or(0, |end| end + 1) } else { 0 };
    let behind = &rest[name..];
    let flags =
        behind.len() - behind.trim_start_matches(|c: char| "-+ #0123456789.*lhzjtL".contains(c)).len();
    // `%q` quotes in Go; in C, a conversion follows this length.
    let conversion = behind[flags..].strip_prefix('q').filter(|rest| rest.starts_with(['d', 'u', 'x']));
    let flags = flags + usize::from(conversion.is_some());
    let value = match behind[flags..].chars().next() {
        Some('d' | 'i' | 'u' | 'x' | 'X' | 'o' | 'p') => Value::Integer,
        Some('f' | 'F' | 'g' | 'G' | 'e' | 'E') => Value::Decimal,
        Some('s' | 'c' | 'v' | 'q' | 'w' | 't' | 'T' | 'r' | 'U') => Value::Text,
        // A percent sign in a text.
        _ => return (None, 1),
    };
    (Some(value), 1 + name + flags + 1)
}

/// Returns the value of a field such as `{}`, `{name}` or `{:.2f}`, and its length.
fn braces(rest: &str) -> (Option<Value>, usize) {
    if rest.starts_with("{{") {
        return (None, 2);
    }
    let Some(end) = rest.find('}') else { return (None, 1) };
    let field = &rest[1..end];
    let is_field = field.chars().all(|c| c.is_ascii_alphanumeric() || "_.:!?#<>^+-[]()".contains(c));
    match is_field && !field.contains("::") {
        true if field.ends_with('f') && field.contains(':') => (Some(Value::Decimal), end + 1),
        true => (Some(Value::Text), end + 1),
        false => (None, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn display(text: &str, language: Language) -> String {
        let all = Message::all_of(text, language);
        all.iter().map(Message::display).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn values_of_each_language_are_recognized() {
        for (language, text, expected) in [
            (
                Language::C,
                "%s: failed to allocate %8.2f MiB (%zu, 100%%)\n",
                "{}: failed to allocate {} MiB ({}, 100%)",
            ),
            (Language::C, "cannot open {}: {{x}} or {:.2f}", "cannot open {}: {x} or {}"),
            (Language::Go, "model %q not found: %w", "model {} not found: {}"),
            (Language::Go, "invalid json {} in request", "invalid json {} in request"),
            (Language::Python, "No module named %(name)r in \u{0}", "No module named {} in {}"),
            (Language::Rust, "cannot read {path:?}: 5 % done", "cannot read {}: 5 % done"),
            (Language::C, "usage: x\nunknown option %s\nok", "unknown option {}"),
        ] {
            assert_eq!(display(text, language), expected, "{text}");
        }
    }

    #[test]
    fn samples_vary_texts_only() {
        let message = |text| Message::all_of(text, Language::C).remove(0);
        assert_eq!(message("layer %d needs %.1f GiB").samples(), ["layer 7 needs 7.00 GiB"]);
        assert_eq!(message("cannot load file %s").samples().len(), TEXTS.len());
    }
}
