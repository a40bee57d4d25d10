//! A page of its own.

use crate::schema::{Field, Fields, Shape};
use crate::site::kinds::common::{ALIASES, DRAFT, TITLE};

/// Front matter of a page of its own.
pub const FIELDS: &[Field] = &[
    TITLE,
    Field::optional("verified", Shape::Date, "The day on which the page was last gone through."),
    ALIASES,
    DRAFT,
];

/// What a page of its own holds besides its head: nothing.
#[derive(Debug, Clone)]
pub struct DocumentData {}

impl DocumentData {
    /// A page of its own has nothing but its head.
    pub fn new(_fields: &Fields) -> Self {
        Self {}
    }
}
