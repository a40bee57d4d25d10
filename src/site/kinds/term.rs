//! A term of the glossary.

use crate::schema::{Field, Fields, Shape};
use crate::site::kinds::common::{DRAFT, Evidence, SOURCES, TITLE};

/// Front matter of a glossary entry.
pub const FIELDS: &[Field] = &[
    TITLE,
    Field::optional("also", Shape::list(&Shape::Text), "Other names of the same thing."),
    SOURCES,
    DRAFT,
];

/// What a glossary entry holds besides its head.
#[derive(Debug, Clone)]
pub struct TermData {
    /// Other names of the same thing.
    pub also: Vec<String>,
    /// What it rests on.
    pub evidence: Evidence,
}

impl TermData {
    /// What the fields of a glossary entry say.
    pub fn new(fields: &Fields) -> Self {
        Self {
            also: fields.texts("also").into_iter().map(|placed| placed.value).collect(),
            evidence: Evidence::new(fields),
        }
    }
}
