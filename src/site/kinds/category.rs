//! A group of errors.

use crate::schema::{Integer, record};
use crate::site::kinds::common::TITLE;

record! {
    /// What the `_index.md` of a category holds besides its head.
    #[derive(Debug, Clone)]
    pub struct CategoryData {
        shared TITLE,
        /// Place in lists; smaller comes first.
        optional order: i64 as Integer<0, 9999> = 9999,
    }
}
