//! Reads sources and parses them to typed pages; every error becomes a finding.
//!
//! 1. [`read`] reads the files of a site from disk, [`read_page`] a single one. No other module reads them.
//!    [`embedded()`] returns those in the program.
//! 2. [`pages()`] splits each page into front matter and body and parses both.

mod carried;
mod disk;
mod embedded;
mod front_matter;
mod leftovers;
mod migrate;
mod names;
mod page_path;
mod pages;
mod rules;
mod split;
mod stamps;
mod theme;
mod yaml_faults;

pub use disk::{INPUTS, own_files, read, read_again, read_content, read_page, read_settings};
pub use embedded::{EMBEDDED_COMMIT, EMBEDDED_DATE, EMBEDDED_HASH, embedded, embedded_settings};
pub use migrate::{MigratedPage, migrate, old_keys};
pub use pages::{Drafts, front_matter_pages, pages, pages_declared, pages_with};
pub use rules::RULES;
pub use stamps::stamps;
