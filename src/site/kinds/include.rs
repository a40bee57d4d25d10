//! Data of texts that pages include.

use crate::schema::record;
use crate::site::kinds::common::TITLE;

record! {
    /// Front matter of an included text: a title for its authors.
    #[derive(Debug, Clone)]
    pub struct IncludeData {
        shared TITLE,
    }
}
