//! A program that prints errors.

use crate::schema::{Url, record};
use crate::site::kinds::common::{ALIASES, DRAFT, Evidence, TITLE, VERIFIED, VERIFIED_WITH, WEB_SOURCES};

record! {
    /// What a tool page holds besides its head.
    #[derive(Debug, Clone)]
    pub struct ToolData {
        shared TITLE,
        /// Where the tool lives.
        required homepage: String as Url,
        /// Where its source lives.
        optional repository: Option<String> as Url,
        shared VERIFIED,
        shared VERIFIED_WITH,
        shared WEB_SOURCES,
        shared ALIASES,
        shared DRAFT,
        /// What the page rests on.
        apart evidence: Evidence = Evidence::of,
    }
}
