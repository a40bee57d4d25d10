//! Fields that several kinds share, and what a page rests on.

use serde::{Deserialize, Serialize};

use crate::files::Placed;
use crate::schema::{Field, Fields, Shape};

pub(super) const TITLE: Field =
    Field::required("title", Shape::Text, "Title of the page; in quotes if it holds a colon and a space.");
pub(super) const DRAFT: Field = Field::optional(
    "draft",
    Shape::Flag,
    "`true` keeps the page out of the site unless `--drafts` is given.",
);
pub(super) const ALIASES: Field = Field::optional(
    "aliases",
    Shape::list(&Shape::Text),
    "Old addresses that lead here, such as `/errors/old-name/`.",
);
pub(super) const ALSO_KNOWN_AS: Field = Field::optional(
    "also_known_as",
    Shape::list(&Shape::Text),
    "Other names that people and programs use and that follow from neither title nor slug, such as `DGX Spark`.",
);
pub(super) const RELATED: Field = Field::optional(
    "related",
    Shape::list(&Shape::Slug),
    "Slugs of error pages that belong to this one; they list it in return.",
);
pub(super) const VERIFIED: Field = Field::required(
    "verified",
    Shape::Date,
    "The day on which everything on the page was last held against its sources.",
);
pub(super) const VERIFIED_WITH: Field = Field::optional(
    "verified_with",
    Shape::Map(&Shape::Text),
    "Versions it was verified with: `{ollama: \"0.5.4\"}`.",
);
pub(super) const WEB_SOURCES: Field =
    Field::required("sources", Shape::some(&Shape::Url), "Addresses of what the page rests on.");
pub(super) const SOURCES: Field = Field::optional(
    "sources",
    Shape::list(&Shape::Text),
    "What the page rests on: addresses, or the name of a publication.",
);

/// What a page rests on.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// Versions it was verified with: name, version.
    pub verified_with: Vec<(String, String)>,
    /// Addresses or names of publications.
    pub sources: Vec<Placed<String>>,
}

impl Evidence {
    pub(super) fn new(fields: &Fields) -> Self {
        Self { verified_with: plain(fields.map("verified_with")), sources: fields.texts("sources") }
    }
}

/// Names with their values, without places.
pub(super) fn plain(pairs: Vec<(Placed<String>, Placed<String>)>) -> Vec<(String, String)> {
    pairs.into_iter().map(|(key, value)| (key.value, value.value)).collect()
}
