//! Data of categories, the groups of errors.

use crate::schema::{Integer, record};
use crate::site::kinds::common::TITLE;

record! {
    /// Front matter of a category's `_index.md`.
    #[derive(Debug, Clone)]
    pub struct CategoryData {
        shared TITLE,
        /// Position in lists; smaller numbers come first.
        optional order: i64 as Integer<0, 9999> = 9999,
    }
}
