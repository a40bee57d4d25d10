//! Templates: text with expressions in braces, such as `over-by-{asked - window}`.

use serde::{Deserialize, Serialize};

use crate::expression::Expression;
use crate::figure::Figures;
use crate::parse_error::ParseError;

/// Text with expressions in braces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Template {
    /// Each expression with the text before it.
    values: Vec<(String, Expression)>,
    /// Text after the last expression.
    end: String,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// The first mistake, with its byte range: an unclosed brace, or an invalid expression.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let mut values = Vec::new();
        let mut at = 0;
        while let Some(open) = text[at..].find('{').map(|found| at + found) {
            let Some(close) = text[open..].find('}').map(|found| open + found) else {
                return Err(ParseError::new(open..text.len(), "unclosed brace", "close it with `}`"));
            };
            let value = Expression::parse_value(&text[open + 1..close]).map_err(|error| ParseError {
                range: open + 1 + error.range.start..open + 1 + error.range.end,
                ..error
            })?;
            values.push((text[at..open].to_owned(), value));
            at = close + 1;
        }
        Ok(Self { values, end: text[at..].to_owned() })
    }

    /// Returns the names of the figures in the expressions.
    pub fn names(&self) -> Vec<&str> {
        self.values.iter().flat_map(|(_, value)| value.names()).collect()
    }

    /// Fills in the values; `None` if a figure is missing. Removes a colon, a comma and an opening bracket from the end of
    /// the sentence, where a message continues on the next line.
    pub fn fill(&self, figures: &Figures) -> Option<String> {
        let mut text = String::new();
        for (before, value) in &self.values {
            text.push_str(before);
            text.push_str(&value.text(figures)?);
        }
        text.push_str(&self.end);
        let stop = if text.ends_with('.') { "." } else { "" };
        let sentence = text.strip_suffix('.').unwrap_or(&text);
        Some(sentence.trim_end_matches([' ', ':', ',', '(', '[', '{']).to_owned() + stop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;

    #[test]
    fn fills_in_values() {
        let mut figures = Figures::default();
        figures.add("asked", Figure::Number(2285.0));
        figures.add("version", Figure::Number(11040.0));
        figures.add("reason", Figure::Text("cannot load: [".into()));
        for (text, expected) in [
            ("plain", Some("plain")),
            ("over-by-{asked - 2048}", Some("over-by-237")),
            ("cuda-{version // 1000}.{(version - version // 1000 * 1000) // 10}", Some("cuda-11.4")),
            ("{asked / 2} of {asked}!", Some("1142.5 of 2285!")),
            ("over-by-{asked - window}", None),
            ("It failed: {reason}.", Some("It failed: cannot load.")),
        ] {
            let filled = Template::parse(text).expect(text).fill(&figures);
            assert_eq!(filled.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn errors_point_to_the_mistake() {
        for (text, at) in [("a {b", "{b"), ("a {b >} c", ""), ("a {b > 1} c", "b > 1")] {
            assert_eq!(&text[Template::parse(text).expect_err(text).range], at, "{text}");
        }
    }
}
