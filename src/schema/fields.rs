//! Valid values by field name.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use crate::files::{Span, Spanned};

/// Value with the shape of its field.
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
    /// Valid items. Invalid items are left out.
    List(Vec<Spanned<Value>>),
    /// A mapping with known keys.
    Record(Fields),
    /// A mapping with free keys, in the order written.
    Map(Vec<(Spanned<String>, Spanned<Value>)>),
}

impl Value {
    /// Returns the text, if the value is a text.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the fields, if the value is a mapping with known keys.
    pub fn record(&self) -> Option<&Fields> {
        match self {
            Self::Record(fields) => Some(fields),
            _ => None,
        }
    }
}

/// Valid fields of a mapping. Missing and invalid fields are absent and have been reported.
#[derive(Debug, Clone)]
pub struct Fields {
    pub(super) span: Span,
    pub(super) values: BTreeMap<String, Spanned<Value>>,
    pub(super) unread: BTreeSet<String>,
}

impl Fields {
    /// Creates the fields of an unreadable mapping.
    pub fn none(span: Span) -> Self {
        Self { span, values: BTreeMap::new(), unread: BTreeSet::new() }
    }

    /// Returns the fields with a reported error at any depth, and missing required fields. Their values are unknown or
    /// incomplete.
    pub fn unread(&self) -> &BTreeSet<String> {
        &self.unread
    }

    /// Returns the span of the mapping.
    pub fn span(&self) -> Span {
        self.span
    }

    /// Returns the span of a field's value, if present.
    pub fn span_of(&self, name: &str) -> Option<Span> {
        self.values.get(name).map(|value| value.span)
    }

    /// Returns the value of a field, if present.
    pub fn value(&self, name: &str) -> Option<&Spanned<Value>> {
        self.values.get(name)
    }
}
