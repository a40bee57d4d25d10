//! How to do something that several errors need.

use crate::files::Placed;
use crate::schema::{Field, Fields, Shape};
use crate::site::kinds::common::{
    ALIASES, DRAFT, Evidence, RELATED, TITLE, VERIFIED, VERIFIED_WITH, WEB_SOURCES,
};

/// Front matter of a guide.
pub const FIELDS: &[Field] = &[
    TITLE,
    Field::optional("order", Shape::Integer { min: 0, max: 9999 }, "Place in lists; smaller comes first."),
    Field::optional("tools", Shape::list(&Shape::Slug), "Slugs of the tools it speaks of."),
    RELATED,
    VERIFIED,
    VERIFIED_WITH,
    WEB_SOURCES,
    ALIASES,
    DRAFT,
];

/// What a guide holds besides its head.
#[derive(Debug, Clone)]
pub struct GuideData {
    /// Place in lists.
    pub order: i64,
    /// Slugs of tools.
    pub tools: Vec<Placed<String>>,
    /// Slugs of errors.
    pub related: Vec<Placed<String>>,
    /// What the page rests on.
    pub evidence: Evidence,
}

impl GuideData {
    /// What the fields of a guide say.
    pub fn new(fields: &Fields) -> Self {
        Self {
            order: fields.integer("order").map_or(9999, |placed| placed.value),
            tools: fields.texts("tools"),
            related: fields.texts("related"),
            evidence: Evidence::new(fields),
        }
    }
}
