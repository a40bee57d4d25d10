//! How to do something that several errors need.

use crate::files::Spanned;
use crate::schema::{Integer, List, Slug, record};
use crate::site::kinds::common::{
    ALIASES, DRAFT, Evidence, RELATED, TITLE, VERIFIED, VERIFIED_WITH, WEB_SOURCES,
};

record! {
    /// What a guide holds besides its head.
    #[derive(Debug, Clone)]
    pub struct GuideData {
        shared TITLE,
        /// Place in lists; smaller comes first.
        optional order: i64 as Integer<0, 9999> = 9999,
        /// Slugs of the tools it speaks of.
        optional tools: Vec<Spanned<String>> as List<Slug>,
        shared related: Vec<Spanned<String>> = RELATED,
        shared VERIFIED,
        shared VERIFIED_WITH,
        shared WEB_SOURCES,
        shared ALIASES,
        shared DRAFT,
        /// What the page rests on.
        apart evidence: Evidence = Evidence::of,
    }
}
