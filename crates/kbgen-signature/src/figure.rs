//! The figures that a signature reads out of a log, by name and in the order of reading.

use serde::{
    Deserialize, Deserializer, Serialize, Serializer, de::MapAccess, de::Visitor, ser::SerializeMap,
};
use std::fmt;

/// A value that was read: sizes in bytes and other numbers, or a piece of the log.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Figure {
    /// A number; sizes are in bytes.
    Number(f64),
    /// Text as it stands in the log.
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

/// Writes a whole number without a decimal point, as a script would.
pub(crate) fn serialize_number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        serializer.serialize_i64(number as i64)
    } else {
        serializer.serialize_f64(number)
    }
}

/// Figures by name, in the order in which they were read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figures(Vec<(String, Figure)>);

impl Figures {
    /// The figure of this name.
    pub fn get(&self, name: &str) -> Option<&Figure> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, figure)| figure)
    }

    /// Names and figures in the order of reading.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Figure)> {
        self.0.iter().map(|(name, figure)| (name.as_str(), figure))
    }

    /// How many figures were read.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps the figure, unless one of that name was read before.
    pub fn add(&mut self, name: &str, figure: Figure) {
        if self.get(name).is_none() {
            self.0.push((name.to_owned(), figure));
        }
    }

    /// Adds what is missing here.
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
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
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
        deserializer.deserialize_map(Entries)
    }
}
