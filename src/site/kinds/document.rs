//! A page of its own.

use crate::schema::record;
use crate::site::kinds::common::{ALIASES, DRAFT, LAST_READ, TITLE};

record! {
    /// What a page of its own holds besides its head: nothing.
    #[derive(Debug, Clone)]
    pub struct DocumentData {
        shared TITLE,
        shared LAST_READ,
        shared ALIASES,
        shared DRAFT,
    }
}
