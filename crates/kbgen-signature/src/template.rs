//! A text with values in braces: `over-by-{asked - window}`.

use crate::expression::Expression;
use crate::fault::Fault;
use crate::figure::Figures;

/// A text with values in braces.
#[derive(Debug, Clone, PartialEq)]
pub struct Template {
    /// Each value with the text before it.
    values: Vec<(String, Expression)>,
    /// The text behind the last.
    end: String,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// The first mistake, with its byte range: a brace without its partner, or what stands between two is no value.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let mut values = Vec::new();
        let mut at = 0;
        while let Some(open) = text[at..].find('{').map(|found| at + found) {
            let Some(close) = text[open..].find('}').map(|found| open + found) else {
                return Err(Fault::new(open..text.len(), "the brace is not closed", "close it with `}`"));
            };
            let value = Expression::parse_value(&text[open + 1..close]).map_err(|fault| Fault {
                range: open + 1 + fault.range.start..open + 1 + fault.range.end,
                ..fault
            })?;
            values.push((text[at..open].to_owned(), value));
            at = close + 1;
        }
        Ok(Self { values, end: text[at..].to_owned() })
    }

    /// The names of the figures that the values use.
    pub fn names(&self) -> Vec<&str> {
        self.values.iter().flat_map(|(_, value)| value.names()).collect()
    }

    /// The text with its values, unless a figure is not known.
    pub fn fill(&self, figures: &Figures) -> Option<String> {
        let mut text = String::new();
        for (before, value) in &self.values {
            text.push_str(before);
            text.push_str(&value.number(figures)?.to_string());
        }
        Some(text + &self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::Figure;

    #[test]
    fn values_stand_in_their_places() {
        let mut figures = Figures::default();
        figures.add("asked", Figure::Number(2285.0));
        figures.add("version", Figure::Number(11040.0));
        for (text, expected) in [
            ("plain", Some("plain")),
            ("over-by-{asked - 2048}", Some("over-by-237")),
            ("cuda-{version // 1000}.{(version - version // 1000 * 1000) // 10}", Some("cuda-11.4")),
            ("{asked / 2} of {asked}!", Some("1142.5 of 2285!")),
            ("over-by-{asked - window}", None),
        ] {
            let filled = Template::parse(text).expect(text).fill(&figures);
            assert_eq!(filled.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_mistake_is_shown_where_it_stands() {
        for (text, at) in [("a {b", "{b"), ("a {b >} c", ""), ("a {b > 1} c", "b > 1")] {
            assert_eq!(&text[Template::parse(text).expect_err(text).range], at, "{text}");
        }
    }
}
