//! Values that passed, by the names of their fields.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use crate::files::{Span, Spanned};

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
    List(Vec<Spanned<Value>>),
    /// A mapping with known keys.
    Record(Fields),
    /// A mapping with free keys, in the order written.
    Map(Vec<(Spanned<String>, Spanned<Value>)>),
}

impl Value {
    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The fields, if it is a mapping with known keys.
    pub fn record(&self) -> Option<&Fields> {
        match self {
            Self::Record(fields) => Some(fields),
            _ => None,
        }
    }
}

/// What was right in a mapping. A field that was missing or wrong is absent: that has been reported.
#[derive(Debug, Clone)]
pub struct Fields {
    pub(super) span: Span,
    pub(super) values: BTreeMap<&'static str, Spanned<Value>>,
    pub(super) unread: BTreeSet<&'static str>,
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

    /// The value of a field, if it is there.
    pub fn value(&self, name: &str) -> Option<&Spanned<Value>> {
        self.values.get(name)
    }
}
