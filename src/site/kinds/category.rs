//! A group of errors.

use crate::schema::{Field, Fields, Shape};
use crate::site::kinds::common::TITLE;

/// Front matter of a category's `_index.md`.
pub const FIELDS: &[Field] = &[
    TITLE,
    Field::optional("order", Shape::Integer { min: 0, max: 9999 }, "Place in lists; smaller comes first."),
];

/// What a category holds besides its head.
#[derive(Debug, Clone)]
pub struct CategoryData {
    /// Place in lists.
    pub order: i64,
}

impl CategoryData {
    /// What the fields of an `_index.md` say.
    pub fn new(fields: &Fields) -> Self {
        Self { order: fields.integer("order").map_or(9999, |placed| placed.value) }
    }
}
