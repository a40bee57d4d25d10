//! Sources become typed pages, and every fault in them a finding.
//!
//! 1. [`read`] takes the files of a site from the disk: the only place that reads it,
//! 2. [`pages()`] splits each page into front matter and body and makes it typed.

mod carried;
mod compact;
mod disk;
mod front_matter;
mod names;
mod pages;
mod rules;
mod split;
mod theme;
mod yaml_faults;

pub use disk::read;
pub use pages::{Drafts, pages};
pub use rules::RULES;
