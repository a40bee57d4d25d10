//! Data of entries of declared collections.

use crate::custom::OwnValues;
use crate::schema::{Fields, record};
use crate::site::kinds::common::{
    ALIASES, DRAFT, Evidence, LAST_VERIFIED, PUBLISH_ON, SOURCES, TITLE, VERIFIED_WITH,
};

record! {
    /// Front matter of an entry, without its declared fields.
    #[derive(Debug, Clone)]
    pub struct EntryData {
        shared TITLE,
        shared LAST_VERIFIED,
        shared VERIFIED_WITH,
        shared SOURCES,
        shared ALIASES,
        shared DRAFT,
        shared PUBLISH_ON,
        /// Values of declared fields.
        apart own: Vec<OwnValues> = |_: &Fields| Vec::new(),
        /// Evidence for the page.
        apart evidence: Evidence = Evidence::of,
    }
}
