//! Collections of pages that a site declares.

use serde::Serialize;

use crate::custom::fields::OwnField;
use crate::files::Spanned;
use crate::schema::record;

record! {
    /// A collection as declared in `site.toml`.
    #[derive(Debug)]
    pub struct CollectionDeclaration {
        /// Title of the list of its entries.
        required title: String,
        /// One sentence below the title.
        optional description: String,
        /// Template of its entries; default: `entry.html`.
        optional template: Option<Spanned<String>>,
    }
}

/// A collection: a folder below `content/`, a template and a list.
#[derive(Debug, Clone, Serialize)]
pub struct Collection {
    /// Name of its folder, and first part of its addresses.
    pub name: Spanned<String>,
    /// Title of the list.
    pub title: String,
    /// One sentence below the title.
    pub description: String,
    /// Template of its entries, if it is not `entry.html`.
    pub template: Option<Spanned<String>>,
    /// Fields of its entries.
    pub fields: Vec<OwnField>,
}

impl Collection {
    /// Returns the address of the list.
    pub fn address(&self) -> String {
        format!("{}/", self.name.value)
    }
}
