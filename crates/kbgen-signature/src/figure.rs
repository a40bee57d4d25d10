//! The values that a signature extracts from a log.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de::MapAccess, de::Visitor, ser::SerializeMap,
};
use std::fmt;

use crate::log_line::joined_line;

/// An extracted value.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Figure {
    /// A number; sizes are in bytes.
    Number(f64),
    /// Text of the log.
    Text(String),
}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serialize_number(*number, serializer),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

/// Writes an integer without a decimal point, as JavaScript does.
pub(crate) fn serialize_number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        serializer.serialize_i64(number as i64)
    } else {
        serializer.serialize_f64(number)
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

/// Figures by name, in the order of extraction.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures(Vec<(String, Figure)>);

impl Figures {
    /// Returns the figure with a name.
    pub fn get(&self, name: &str) -> Option<&Figure> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, figure)| figure)
    }

    /// Iterates over names and figures, in the order of extraction.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Figure)> {
        self.0.iter().map(|(name, figure)| (name.as_str(), figure))
    }

    /// Returns the number of figures.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are no figures.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a figure unless there is one with that name.
    pub fn add(&mut self, name: &str, figure: Figure) {
        if self.get(name).is_none() {
            self.0.push((name.to_owned(), figure));
        }
    }

    /// Removes the marks that Python prints below code, `^^^^` and `~~^~~`, from texts, and another line of a log that was
    /// joined to one.
    pub(crate) fn clean(mut self) -> Self {
        let is_mark = |word: &str| !word.is_empty() && word.chars().all(|c| c == '^' || c == '~');
        for (_, figure) in &mut self.0 {
            let Figure::Text(text) = figure else { continue };
            let words: Vec<&str> = text.split(' ').collect();
            let end = joined_line(&words).unwrap_or(words.len());
            if end < words.len() || words.iter().any(|word| is_mark(word)) {
                let kept = words[..end].iter().filter(|word| !is_mark(word));
                *text = kept.copied().collect::<Vec<_>>().join(" ");
            }
        }
        self
    }

    /// Adds the figures whose names are missing.
    pub fn extend(&mut self, others: &Self) {
        for (name, figure) in &others.0 {
            self.add(name, figure.clone());
        }
    }
}

impl Serialize for Figures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, figure) in &self.0 {
            map.serialize_entry(name, figure)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Figures {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FiguresVisitor;
        impl<'de> Visitor<'de> for FiguresVisitor {
            type Value = Figures;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a map of figures")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Figures, A::Error> {
                let mut figures = Figures::default();
                while let Some((name, figure)) = map.next_entry::<String, Figure>()? {
                    figures.add(&name, figure);
                }
                Ok(figures)
            }
        }
        deserializer.deserialize_map(FiguresVisitor)
    }
}
