//! A pattern: literal text with typed holes, as a page writes it.

use serde::{Deserialize, Serialize};
use std::ops::Range;

use crate::fault::Fault;
use crate::normal::{GAP_NONE, NormalText};

/// What may stand in a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HoleType {
    /// A number with its unit, kept in bytes. Every unit is a power of 1024, as programs print it: `MB` too.
    Bytes,
    /// A number without its unit that counts MiB, kept in bytes.
    Mib,
    /// A number without its unit that counts GiB, kept in bytes.
    Gib,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// A version: digits, then letters, digits, dots, plus and minus signs.
    Version,
    /// A hexadecimal number, with or without `0x`.
    Hex,
    /// Characters up to white space, quotes, brackets or a comma.
    Word,
    /// Characters up to white space, quotes or a comma.
    Path,
    /// Text in quotes or back quotes; the quotes are not part of the value.
    Quoted,
    /// Up to 120 characters that are not white space.
    Any,
    /// Nothing: the beginning of a line, behind its prefix.
    Start,
    /// Nothing: the end of a line.
    End,
}

impl HoleType {
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

    fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(known, _)| *known == name).map(|(_, hole)| *hole)
    }
}

/// A part of a pattern.
///
/// Literal text is in normal form with one space for each run of white space; a space at either end says
/// that white space stands between the text and the hole beside it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Part {
    Text(String),
    Hole(HoleType, String),
}

/// Literal text with typed holes, `{name:type}` or `{type}`; `{{` and `}}` are braces.
///
/// A run of white space matches any run of white space, line ends included; case does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Pattern {
    pub(crate) parts: Vec<Part>,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// The first mistake in the text, with its byte range: unbalanced braces, an unknown type, a bad or
    /// repeated name, holes without text between them, a regular expression, or too little literal text.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let mut reader = Reader { text, parts: Vec::new(), literal: String::new(), literal_start: 0 };
        let mut at = 0;
        while at < text.len() {
            at = reader.step(at)?;
        }
        reader.close_literal();
        let pattern = Self { parts: reader.parts };
        pattern.require_text(text)?;
        Ok(pattern)
    }

    /// The names of the holes, in the order of the text.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Hole(_, name) if !name.is_empty() => Some(name.as_str()),
            _ => None,
        })
    }

    /// What the pattern looks for, whatever its holes are called.
    pub fn shape(&self) -> String {
        let shown = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.trim().replace('{', "{{"),
            Part::Hole(hole, _) => format!("{{{hole:?}}}"),
        });
        shown.collect::<Vec<_>>().join(" ")
    }

    fn require_text(&self, text: &str) -> Result<(), Fault> {
        let letters = |part: &Part| match part {
            Part::Text(literal) => literal.bytes().filter(|byte| *byte != b' ').count(),
            Part::Hole(..) => 0,
        };
        let whole = 0..text.len();
        if self.parts.iter().map(letters).sum::<usize>() < 4 {
            return Err(Fault::new(
                whole,
                "the pattern has less than four characters of literal text",
                "add the words that the program prints around the hole",
            ));
        }
        match self.parts.iter().find(|part| matches!(part, Part::Text(_))) {
            Some(first) if self.has_any() && letters(first) < 3 => Err(Fault::new(
                whole,
                "the text before the first hole is too short to be searched for",
                "let the pattern begin with at least three characters of literal text",
            )),
            _ => Ok(()),
        }
    }

    fn has_any(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Hole(HoleType::Any, _)))
    }
}

struct Reader<'text> {
    text: &'text str,
    parts: Vec<Part>,
    literal: String,
    literal_start: usize,
}

impl Reader<'_> {
    fn step(&mut self, at: usize) -> Result<usize, Fault> {
        let rest = &self.text[at..];
        if self.literal.is_empty() {
            self.literal_start = at;
        }
        if rest.starts_with("{{") || rest.starts_with("}}") {
            self.literal.push_str(&rest[..1]);
            return Ok(at + 2);
        }
        if rest.starts_with('}') {
            return Err(Fault::new(at..at + 1, "`}` closes no hole", "write `}}` for a brace"));
        }
        if rest.starts_with('{') {
            let Some(length) = rest.find('}') else {
                return Err(Fault::new(
                    at..self.text.len(),
                    "the hole is not closed",
                    "close it with `}`, or write `{{` for a brace",
                ));
            };
            self.hole(at..at + length + 1)?;
            return Ok(at + length + 1);
        }
        for (expression, length) in [(".*", 2), (".+", 2), ("\\d", 2), ("\\s", 2), ("[0-9]", 5)] {
            let repeated =
                expression.starts_with('.') || rest.get(length..).unwrap_or("").starts_with(['+', '*']);
            if rest.starts_with(expression) && repeated {
                return Err(Fault::new(
                    at..at + length,
                    "a pattern is literal text, not a regular expression",
                    "write `{any}`, or a typed hole such as `{int}`, where the text varies",
                ));
            }
        }
        let character = rest.chars().next().expect("the step begins inside the text");
        self.literal.push(character);
        Ok(at + character.len_utf8())
    }

    fn hole(&mut self, range: Range<usize>) -> Result<(), Fault> {
        let inner = &self.text[range.start + 1..range.end - 1];
        let (name, kind) = inner.split_once(':').unwrap_or(("", inner));
        let kind_start = range.end - 1 - kind.len();
        let name_range = range.start + 1..range.start + 1 + name.len();
        let Some(hole) = HoleType::named(kind) else {
            return Err(unknown_type(inner, kind, kind_start..range.end - 1));
        };
        if inner.contains(':') && !is_name(name) {
            return Err(Fault::new(
                name_range,
                format!("`{name}` is not a name"),
                "use lower-case letters, digits and `_`, and begin with a letter",
            ));
        }
        if self
            .parts
            .iter()
            .any(|part| matches!(part, Part::Hole(_, used) if used == name && !name.is_empty()))
        {
            return Err(Fault::new(
                name_range,
                format!("two holes are named `{name}`"),
                "give each hole its own name",
            ));
        }
        self.close_literal();
        match self.parts.last() {
            Some(Part::Hole(..)) => {
                return Err(Fault::new(
                    range,
                    "two holes without text between them",
                    "put the text that stands between them, or use one hole",
                ));
            }
            None if hole == HoleType::Any => {
                return Err(Fault::new(range, "`any` at the beginning matches everything", "leave it out"));
            }
            _ => {}
        }
        if hole == HoleType::Bytes
            && let Some(length) = unit_length(&self.text[range.end..])
        {
            let unit = range.end..range.end + length;
            return Err(Fault::new(
                unit,
                "a hole of type `bytes` takes the unit as well",
                "leave the unit out of the text",
            ));
        }
        self.parts.push(Part::Hole(hole, name.to_owned()));
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
            // Only white space: it says nothing that the next part does not.
            return;
        }
        if literal.ends_with(char::is_whitespace) {
            text.push(' ');
        }
        self.parts.push(Part::Text(text));
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name
            .chars()
            .all(|character| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_')
}

fn unknown_type(inner: &str, kind: &str, range: Range<usize>) -> Fault {
    let known: Vec<&str> = HoleType::ALL.iter().map(|(name, _)| *name).collect();
    let near = |name: &&&str| strsim::damerau_levenshtein(name, kind) <= 2;
    let swapped = inner.split_once(':').is_some_and(|(name, _)| HoleType::named(name).is_some());
    let help = match known.iter().find(near) {
        _ if swapped => "the name stands first: `{name:type}`".to_owned(),
        Some(name) => format!("did you mean `{name}`?"),
        None if !inner.contains(':') && is_name(inner) => {
            format!("write `{{{inner}:any}}` or another type ({}); `{{{{` is a brace", known.join(", "))
        }
        None => format!("the types are {}; `{{{{` is a brace", known.join(", ")),
    };
    Fault::new(range, format!("`{kind}` is not a type"), help)
}

/// The length of white space and a unit at the beginning of this text.
fn unit_length(text: &str) -> Option<usize> {
    const UNITS: [&str; 15] =
        ["bytes", "byte", "kib", "mib", "gib", "tib", "kb", "mb", "gb", "tb", "k", "m", "g", "b", "t"];
    let blank = text.len() - text.trim_start().len();
    let word = text[blank..]
        .find(|character: char| !character.is_ascii_alphanumeric())
        .unwrap_or(text.len() - blank);
    let unit = text[blank..blank + word].to_ascii_lowercase();
    UNITS.contains(&unit.as_str()).then_some(blank + word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (String, String, String) {
        let fault = Pattern::parse(text).expect_err(text);
        (text[fault.range].to_owned(), fault.message, fault.help)
    }

    #[test]
    fn parts_are_in_normal_form() {
        let pattern = Pattern::parse("Tried to  allocate {requested:bytes}. GPU\n{int} “has”")
            .expect("it is well formed");
        assert_eq!(
            pattern.parts,
            [
                Part::Text("tried to allocate ".into()),
                Part::Hole(HoleType::Bytes, "requested".into()),
                Part::Text(". gpu ".into()),
                Part::Hole(HoleType::Int, String::new()),
                Part::Text(" \"has\"".into()),
            ]
        );
        assert_eq!(pattern.names().collect::<Vec<_>>(), ["requested"]);
    }

    #[test]
    fn doubled_braces_are_braces() {
        let pattern = Pattern::parse("Args {{ model: {word} }}").expect("it is well formed");
        assert_eq!(pattern.parts[0], Part::Text("args { model: ".into()));
        assert_eq!(pattern.parts[2], Part::Text(" }".into()));
    }

    #[test]
    fn a_mistake_is_shown_where_it_stands() {
        assert_eq!(fault("size {requested:byte} free").0, "byte");
        assert_eq!(fault("size {requested:byte} free").2, "did you mean `bytes`?");
        assert_eq!(fault("size {bytes:requested} free").2, "the name stands first: `{name:type}`");
        assert_eq!(fault("some text {x").0, "{x");
        assert_eq!(fault("some text x}").0, "}");
        assert_eq!(fault("size {Free:int} of").0, "Free");
        assert_eq!(fault("size {a:int} of {a:int}").0, "a");
        assert_eq!(fault("size {a:int}{b:int}").0, "{b:int}");
        assert_eq!(fault("size {a:bytes} MiB on device").0, " MiB");
        assert_eq!(fault("Model .* is not supported").0, ".*");
        assert_eq!(fault("{any} is not supported").0, "{any}");
        assert_eq!(fault("({n:int})").1, "the pattern has less than four characters of literal text");
        assert_eq!(
            fault("a {any} is not supported").1,
            "the text before the first hole is too short to be searched for"
        );
        assert_eq!(fault("é {größe:byte}").0, "byte");
    }
}
