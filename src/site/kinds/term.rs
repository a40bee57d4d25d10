//! Data of glossary entries.

use crate::schema::record;
use crate::site::kinds::common::{DRAFT, Evidence, PUBLISH_ON, SOURCES, TITLE};

record! {
    /// Front matter of a glossary entry.
    #[derive(Debug, Clone)]
    pub struct TermData {
        shared TITLE,
        /// Synonyms.
        optional also: Vec<String>,
        shared SOURCES,
        shared DRAFT,
        shared PUBLISH_ON,
        /// Evidence for the entry.
        apart evidence: Evidence = Evidence::of,
    }
}
