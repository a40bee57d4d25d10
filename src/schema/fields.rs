//! Values that passed, by the names of their fields.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde_json::json;

use crate::files::{Placed, Span};

/// A value of the shape that its field asks for.
#[derive(Debug, Clone)]
pub enum Value {
    /// Text, slug, address or word of a choice.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Flag(bool),
    /// A day.
    Date(Date),
    /// Items that passed; those that did not are left out.
    List(Vec<Placed<Value>>),
    /// A mapping with known keys.
    Record(Fields),
    /// A mapping with free keys, in the order written.
    Map(Vec<(Placed<String>, Placed<Value>)>),
}

impl Value {
    fn json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Integer(number) => json!(number),
            Self::Number(number) => json!(number),
            Self::Flag(flag) => json!(flag),
            Self::Date(date) => json!(date.to_string()),
            Self::List(items) => items.iter().map(|item| item.value.json()).collect(),
            Self::Record(fields) => fields.json(),
            Self::Map(pairs) => {
                pairs.iter().map(|(key, value)| (key.value.clone(), value.value.json())).collect()
            }
        }
    }
}

/// What was right in a mapping. A field that was missing or wrong is absent: that has been reported.
#[derive(Debug, Clone)]
pub struct Fields {
    pub(super) span: Span,
    pub(super) values: BTreeMap<&'static str, Placed<Value>>,
    pub(super) unread: BTreeSet<&'static str>,
}

macro_rules! getter {
    ($(#[$doc:meta])* $name:ident, $variant:ident, $type:ty) => {
        $(#[$doc])*
        pub fn $name(&self, name: &str) -> Option<Placed<$type>> {
            match self.values.get(name) {
                Some(Placed { value: Value::$variant(value), span }) => {
                    Some(Placed::new(value.clone(), *span))
                }
                _ => None,
            }
        }
    };
}

impl Fields {
    /// The fields of a mapping of which nothing is known.
    pub fn none(span: Span) -> Self {
        Self { span, values: BTreeMap::new(), unread: BTreeSet::new() }
    }

    /// Fields that have a reported fault, at any depth, or are required and missing: their values are not known, or not
    /// in full.
    pub fn unread(&self) -> &BTreeSet<&'static str> {
        &self.unread
    }

    /// Where the mapping stands.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Where the value of a field stands, if it is there.
    pub fn span_of(&self, name: &str) -> Option<Span> {
        self.values.get(name).map(|value| value.span)
    }

    getter!(
        /// Text, a slug, an address or the word of a choice.
        text, Text, String
    );
    getter!(
        /// A whole number.
        integer, Integer, i64
    );
    getter!(
        /// A number.
        number, Number, f64
    );
    getter!(
        /// `true` or `false`.
        flag, Flag, bool
    );
    getter!(
        /// A day.
        date, Date, Date
    );
    getter!(
        /// A mapping.
        record, Record, Fields
    );

    /// The texts of a list, each with its place; empty when it is absent.
    pub fn texts(&self, name: &str) -> Vec<Placed<String>> {
        self.items(name, |value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        })
    }

    /// The numbers of a list; empty when it is absent.
    pub fn numbers(&self, name: &str) -> Vec<Placed<f64>> {
        self.items(name, |value| match value {
            Value::Number(number) => Some(*number),
            _ => None,
        })
    }

    /// The mappings of a list; empty when it is absent.
    pub fn records(&self, name: &str) -> Vec<Self> {
        self.items(name, |value| match value {
            Value::Record(fields) => Some(fields.clone()),
            _ => None,
        })
        .into_iter()
        .map(|placed| placed.value)
        .collect()
    }

    /// Free keys and their texts, in the order written; empty when it is absent.
    pub fn map(&self, name: &str) -> Vec<(Placed<String>, Placed<String>)> {
        let Some(Placed { value: Value::Map(pairs), .. }) = self.values.get(name) else {
            return Vec::new();
        };
        pairs
            .iter()
            .filter_map(|(key, value)| match &value.value {
                Value::Text(text) => Some((key.clone(), Placed::new(text.clone(), value.span))),
                _ => None,
            })
            .collect()
    }

    /// All values under their names, as they were read.
    pub fn json(&self) -> serde_json::Value {
        self.values.iter().map(|(name, value)| ((*name).to_string(), value.value.json())).collect()
    }

    fn items<T>(&self, name: &str, take: impl Fn(&Value) -> Option<T>) -> Vec<Placed<T>> {
        let Some(Placed { value: Value::List(items), .. }) = self.values.get(name) else {
            return Vec::new();
        };
        items.iter().filter_map(|item| take(&item.value).map(|value| Placed::new(value, item.span))).collect()
    }
}
