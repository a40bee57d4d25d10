//! A program that prints errors.

use crate::schema::{Field, Fields, Shape};
use crate::site::kinds::common::{ALIASES, DRAFT, Evidence, TITLE, VERIFIED, VERIFIED_WITH, WEB_SOURCES};

/// Front matter of a tool page.
pub const FIELDS: &[Field] = &[
    TITLE,
    Field::required("homepage", Shape::Url, "Where the tool lives."),
    Field::optional("repository", Shape::Url, "Where its source lives."),
    VERIFIED,
    VERIFIED_WITH,
    WEB_SOURCES,
    ALIASES,
    DRAFT,
];

/// What a tool page holds besides its head.
#[derive(Debug, Clone)]
pub struct ToolData {
    /// Where the tool lives.
    pub homepage: String,
    /// Where its source lives.
    pub repository: Option<String>,
    /// What the page rests on.
    pub evidence: Evidence,
}

impl ToolData {
    /// What the fields of a tool page say.
    pub fn new(fields: &Fields) -> Self {
        Self {
            homepage: fields.text("homepage").map(|placed| placed.value).unwrap_or_default(),
            repository: fields.text("repository").map(|placed| placed.value),
            evidence: Evidence::new(fields),
        }
    }
}
