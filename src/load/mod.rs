//! Sources become typed pages, and every fault in them a finding.
//!
//! 1. [`read`] takes the files of a site from the disk, [`read_page`] one of them: the only place that reads it,
//! 2. [`pages()`] splits each page into front matter and body and makes it typed.

mod carried;
mod disk;
mod front_matter;
mod leftovers;
mod migrate;
mod names;
mod pages;
mod rules;
mod split;
mod theme;
mod yaml_faults;

pub use disk::{own_files, read, read_again, read_content, read_page};
pub use migrate::{MigratedPage, migrate, old_keys};
pub use pages::{Drafts, pages, pages_with};
pub use rules::RULES;
