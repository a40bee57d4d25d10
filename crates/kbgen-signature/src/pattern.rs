//! The parser of patterns: literal text with typed placeholders.

use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, de};
use std::fmt;
use std::ops::Range;

use crate::grammar::unit_factor;
use crate::normal::{GAP_NONE, NormalText};
use crate::parse_error::ParseError;

/// The type of a placeholder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PlaceholderType {
    /// A number with its unit; the value is in bytes. All units are powers of 1024, `MB` included.
    Bytes,
    /// A number of MiB without the unit; the value is in bytes.
    Mib,
    /// A number of GiB without the unit; the value is in bytes.
    Gib,
    /// An integer.
    Int,
    /// A decimal number.
    Float,
    /// A version: digits, then letters, digits, dots, plus and minus signs.
    Version,
    /// A hexadecimal number, with or without `0x`.
    Hex,
    /// Characters up to white space, quotes, brackets or a comma.
    Word,
    /// Characters up to white space, quotes or a comma.
    Path,
    /// Text in quotes or backquotes; the value is without them.
    Quoted,
    /// Up to 120 characters that are not white space, or 400 within a line. Text before another literal does not contain the
    /// first literal text of the pattern; within the line and with closed brackets and quotes is preferred.
    Any,
    /// The start of a line, after its prefix; has no value.
    Start,
    /// The end of a line; has no value.
    End,
}

impl PlaceholderType {
    const ALL: [(&'static str, Self); 13] = [
        ("bytes", Self::Bytes),
        ("mib", Self::Mib),
        ("gib", Self::Gib),
        ("int", Self::Int),
        ("float", Self::Float),
        ("version", Self::Version),
        ("hex", Self::Hex),
        ("word", Self::Word),
        ("path", Self::Path),
        ("quoted", Self::Quoted),
        ("any", Self::Any),
        ("start", Self::Start),
        ("end", Self::End),
    ];

    fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, placeholder)| *placeholder)
    }
}

/// Literal text or a placeholder with its name, which may be empty.
///
/// Literal text is in normal form with one space for each run of white space; a space at either end means white space
/// between the text and the adjacent placeholder.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(untagged)]
pub(crate) enum PatternPart {
    Text(String),
    Placeholder(PlaceholderType, String),
}

impl PatternPart {
    /// Returns literal text; `None` for a placeholder.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Placeholder(..) => None,
        }
    }
}

/// As the derived implementation, which would copy each part before it reads it.
impl<'de> Deserialize<'de> for PatternPart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PartVisitor;

        impl<'de> Visitor<'de> for PartVisitor {
            type Value = PatternPart;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text, or a type and a name")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<PatternPart, E> {
                Ok(PatternPart::Text(text.to_owned()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<PatternPart, A::Error> {
                let kind = parts.next_element()?.ok_or_else(|| de::Error::invalid_length(0, &self))?;
                let name = parts.next_element()?.ok_or_else(|| de::Error::invalid_length(1, &self))?;
                Ok(PatternPart::Placeholder(kind, name))
            }
        }

        deserializer.deserialize_any(PartVisitor)
    }
}

/// Literal text with typed placeholders, `{name:type}` or `{type}`; `{{` and `}}` are braces.
///
/// White space matches any white space, line ends included. Matching ignores case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern {
    pub(crate) parts: Vec<PatternPart>,
}

impl Pattern {
    /// Parses a pattern.
    ///
    /// # Errors
    /// The first mistake in the text, with its byte range: unbalanced braces, an unknown type, a bad or
    /// repeated name, placeholders without text between them, a regular expression, or too little literal text.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut parser = PatternParser { text, parts: Vec::new(), literal: String::new(), literal_start: 0 };
        let mut at = 0;
        while at < text.len() {
            at = parser.parse_next(at)?;
        }
        parser.close_literal();
        let pattern = Self { parts: parser.parts };
        pattern.check_literal_text(text)?;
        Ok(pattern)
    }

    /// Iterates over the names of the placeholders, in text order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            PatternPart::Placeholder(_, name) if !name.is_empty() => Some(name.as_str()),
            _ => None,
        })
    }

    /// Returns a key that is equal for patterns that differ only in the names of their placeholders.
    pub fn shape(&self) -> String {
        let shown = self.parts.iter().map(|part| match part {
            PatternPart::Text(text) => text.trim().replace('{', "{{"),
            PatternPart::Placeholder(placeholder, _) => format!("{{{placeholder:?}}}"),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    /// Returns the pattern without its backticks, which are lost where a message was copied from formatted text; `None` if it
    /// has none, or if a text between placeholders would have no letter or digit.
    pub(crate) fn without_backticks(&self) -> Option<Self> {
        let mut has_backticks = false;
        let parts = self.parts.iter().map(|part| match part {
            PatternPart::Text(text) if text.contains('`') => {
                has_backticks = true;
                let text = text.replace('`', "");
                text.contains(char::is_alphanumeric).then_some(PatternPart::Text(text))
            }
            part => Some(part.clone()),
        });
        let parts = parts.collect::<Option<Vec<_>>>()?;
        has_backticks.then_some(Self { parts })
    }

    fn check_literal_text(&self, text: &str) -> Result<(), ParseError> {
        let letters = |part: &PatternPart| match part {
            PatternPart::Text(literal) => literal.bytes().filter(|byte| *byte != b' ').count(),
            PatternPart::Placeholder(..) => 0,
        };
        let whole = 0..text.len();
        if self.parts.iter().map(letters).sum::<usize>() < 4 {
            return Err(ParseError::new(
                whole,
                "fewer than four characters of literal text",
                "add the literal text around the placeholder",
            ));
        }
        match self.parts.iter().find(|part| matches!(part, PatternPart::Text(_))) {
            Some(first) if self.has_any() && letters(first) < 3 => Err(ParseError::new(
                whole,
                "literal text before the first placeholder is too short",
                "start the pattern with at least three characters of literal text",
            )),
            _ => Ok(()),
        }
    }

    fn has_any(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, PatternPart::Placeholder(PlaceholderType::Any, _)))
    }
}

struct PatternParser<'text> {
    text: &'text str,
    parts: Vec<PatternPart>,
    literal: String,
    literal_start: usize,
}

/// Regular expressions that no pattern contains; a class of characters only before `+` or `*`.
const EXPRESSIONS: [&str; 5] = [".*", ".+", "\\d", "\\s", "[0-9]"];

impl PatternParser<'_> {
    fn parse_next(&mut self, at: usize) -> Result<usize, ParseError> {
        let rest = &self.text[at..];
        if self.literal.is_empty() {
            self.literal_start = at;
        }
        if rest.starts_with("{{") || rest.starts_with("}}") {
            self.literal.push_str(&rest[..1]);
            return Ok(at + 2);
        }
        if rest.starts_with('}') {
            return Err(ParseError::new(at..at + 1, "unmatched `}`", "write `}}` for a literal brace"));
        }
        if let Some(inner) = rest.strip_prefix('{') {
            let end = inner.find(['{', '}']).map_or(rest.len(), |end| end + 1);
            let Some(length) = Some(end).filter(|end| rest[*end..].starts_with('}')) else {
                return Err(ParseError::new(
                    at..at + rest[..end].trim_end().len(),
                    "unclosed placeholder",
                    "close it with `}`, or write `{{` for a literal brace",
                ));
            };
            self.placeholder(at..at + length + 1)?;
            return Ok(at + length + 1);
        }
        for expression in EXPRESSIONS {
            let after = rest.strip_prefix(expression);
            if after.is_some_and(|after| expression.starts_with('.') || after.starts_with(['+', '*'])) {
                return Err(ParseError::new(
                    at..at + expression.len(),
                    "regular expression in a pattern",
                    "write `{any}` or a typed placeholder such as `{int}` for variable text",
                ));
            }
        }
        let first = rest.chars().next().expect("the position is inside the text").len_utf8();
        let special = |c| "{}".contains(c) || EXPRESSIONS.iter().any(|text| text.starts_with(c));
        let length = rest[first..].find(special).map_or(rest.len(), |special| first + special);
        self.literal.push_str(&rest[..length]);
        Ok(at + length)
    }

    fn placeholder(&mut self, range: Range<usize>) -> Result<(), ParseError> {
        let inner = &self.text[range.start + 1..range.end - 1];
        let (name, kind) = inner.split_once(':').unwrap_or(("", inner));
        let kind_start = range.end - 1 - kind.len();
        let name_range = range.start + 1..range.start + 1 + name.len();
        let Some(placeholder) = PlaceholderType::from_name(kind) else {
            return Err(unknown_type(inner, kind, kind_start..range.end - 1));
        };
        if inner.contains(':') && !is_name(name) {
            return Err(ParseError::new(
                name_range,
                format!("invalid placeholder name `{name}`"),
                "use lowercase letters, digits and `_`, and start with a letter",
            ));
        }
        if self
            .parts
            .iter()
            .any(|part| matches!(part, PatternPart::Placeholder(_, used) if used == name && !name.is_empty()))
        {
            return Err(ParseError::new(
                name_range,
                format!("duplicate placeholder name `{name}`"),
                "use a unique name for each placeholder",
            ));
        }
        self.close_literal();
        match self.parts.last() {
            // `{start}` limits where the placeholder may begin.
            Some(PatternPart::Placeholder(PlaceholderType::Start, _))
                if self.parts.len() == 1 && placeholder != PlaceholderType::Any => {}
            Some(PatternPart::Placeholder(..)) => {
                return Err(ParseError::new(
                    range,
                    "adjacent placeholders without text between them",
                    "add the text between them, or use one placeholder",
                ));
            }
            None if placeholder == PlaceholderType::Any => {
                return Err(ParseError::new(range, "`any` at the start matches everything", "remove it"));
            }
            _ => {}
        }
        if placeholder == PlaceholderType::Bytes
            && let Some(length) = unit_length(&self.text[range.end..])
        {
            let unit = range.end..range.end + length;
            return Err(ParseError::new(
                unit,
                "a placeholder of type `bytes` includes the unit",
                "remove the unit from the text",
            ));
        }
        self.parts.push(PatternPart::Placeholder(placeholder, name.to_owned()));
        Ok(())
    }

    fn close_literal(&mut self) {
        let literal = std::mem::take(&mut self.literal);
        let normal = NormalText::of_fragment(&literal);
        if normal.len() == 0 && !literal.contains(char::is_whitespace) {
            return;
        }
        let first = self.parts.is_empty();
        let mut text = String::new();
        for (at, byte) in normal.bytes.iter().enumerate() {
            if normal.gaps[at] != GAP_NONE && !(first && at == 0) {
                text.push(' ');
            }
            text.push(char::from(*byte));
        }
        if text.is_empty() {
            // White space alone adds nothing to the adjacent part.
            return;
        }
        if literal.ends_with(char::is_whitespace) {
            text.push(' ');
        }
        self.parts.push(PatternPart::Text(text));
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_')
}

fn unknown_type(inner: &str, kind: &str, range: Range<usize>) -> ParseError {
    let known: Vec<&str> = PlaceholderType::ALL.iter().map(|(name, _)| *name).collect();
    // A word alone is more often a name than a misspelled type.
    let is_name_only = !inner.contains(':') && is_name(inner);
    let most = if is_name_only { 1 } else { 2 };
    let near = |name: &&&str| strsim::damerau_levenshtein(name, kind) <= most;
    let swapped = inner.split_once(':').is_some_and(|(name, _)| PlaceholderType::from_name(name).is_some());
    let help = match known.iter().find(near) {
        _ if swapped => "write the name first: `{name:type}`".to_owned(),
        Some(name) => format!("did you mean `{name}`?"),
        None if is_name_only => {
            let help = format!(
                "write `{{{inner}:int}}` or another type ({}); `{{{{` is a literal brace",
                known.join(", ")
            );
            return ParseError::new(range, format!("placeholder `{inner}` has no type"), help);
        }
        None => format!("use one of {}; `{{{{` is a literal brace", known.join(", ")),
    };
    ParseError::new(range, format!("unknown placeholder type `{kind}`"), help)
}

/// Returns the length of leading white space and a unit.
fn unit_length(text: &str) -> Option<usize> {
    let blank = text.len() - text.trim_start().len();
    let word = text[blank..]
        .find(|character: char| !character.is_ascii_alphanumeric())
        .unwrap_or(text.len() - blank);
    unit_factor(&text[blank..blank + word]).map(|_| blank + word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> (String, String, String) {
        let error = Pattern::parse(text).expect_err(text);
        (text[error.range].to_owned(), error.message, error.help)
    }

    #[test]
    fn normalizes_literal_text() {
        let pattern = Pattern::parse("Tried to  allocate {requested:bytes}. GPU\n{int} “has”")
            .expect("it is well formed");
        assert_eq!(
            pattern.parts,
            [
                PatternPart::Text("tried to allocate ".into()),
                PatternPart::Placeholder(PlaceholderType::Bytes, "requested".into()),
                PatternPart::Text(". gpu ".into()),
                PatternPart::Placeholder(PlaceholderType::Int, String::new()),
                PatternPart::Text(" \"has\"".into()),
            ]
        );
        assert_eq!(pattern.names().collect::<Vec<_>>(), ["requested"]);
    }

    #[test]
    fn doubled_braces_are_literal_braces() {
        let pattern = Pattern::parse("Args {{ model: {word} }}").expect("it is well formed");
        assert_eq!(pattern.parts[0], PatternPart::Text("args { model: ".into()));
        assert_eq!(pattern.parts[2], PatternPart::Text(" }".into()));
    }

    #[test]
    fn errors_point_to_the_mistake() {
        assert_eq!(error("size {requested:byte} free").0, "byte");
        assert_eq!(error("size {requested:byte} free").2, "did you mean `bytes`?");
        assert_eq!(error("size {bytes:requested} free").2, "write the name first: `{name:type}`");
        assert_eq!(error("some text {x").0, "{x");
        let unclosed = error("stage {stage:int failed with {free:bytes}");
        assert_eq!(
            (unclosed.0.as_str(), unclosed.1.as_str()),
            ("{stage:int failed with", "unclosed placeholder")
        );
        let untyped = error("stage {stage} failed");
        assert_eq!((untyped.0.as_str(), untyped.1.as_str()), ("stage", "placeholder `stage` has no type"));
        assert!(untyped.2.starts_with("write `{stage:int}`"), "{}", untyped.2);
        assert_eq!(error("size {byte} free").2, "did you mean `bytes`?");
        assert_eq!(error("some text x}").0, "}");
        assert_eq!(error("size {Free:int} of").0, "Free");
        assert_eq!(error("size {a:int} of {a:int}").0, "a");
        assert_eq!(error("size {a:int}{b:int}").0, "{b:int}");
        assert_eq!(error("size {a:bytes} MiB on device").0, " MiB");
        assert_eq!(error("Model .* is not supported").0, ".*");
        assert_eq!(error("{any} is not supported").0, "{any}");
        assert_eq!(error("({n:int})").1, "fewer than four characters of literal text");
        assert_eq!(
            error("a {any} is not supported").1,
            "literal text before the first placeholder is too short"
        );
        assert_eq!(error("é {größe:byte}").0, "byte");
    }
}
