//! Data of standalone pages.

use crate::schema::record;
use crate::site::kinds::common::{ALIASES, DRAFT, LAST_READ, PUBLISH_ON, TITLE};

record! {
    /// Front matter of a standalone page: no fields of its own.
    #[derive(Debug, Clone)]
    pub struct DocumentData {
        shared TITLE,
        shared LAST_READ,
        shared ALIASES,
        shared DRAFT,
        shared PUBLISH_ON,
    }
}
