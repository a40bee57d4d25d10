//! A term of the glossary.

use crate::schema::record;
use crate::site::kinds::common::{DRAFT, Evidence, SOURCES, TITLE};

record! {
    /// What a glossary entry holds besides its head.
    #[derive(Debug, Clone)]
    pub struct TermData {
        shared TITLE,
        /// Other names of the same thing.
        optional also: Vec<String>,
        shared SOURCES,
        shared DRAFT,
        /// What it rests on.
        apart evidence: Evidence = Evidence::of,
    }
}
