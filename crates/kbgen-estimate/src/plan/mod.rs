//! Whether a model runs on a machine, and with what changes it does.
//!
//! Everything that says so asks this module: the terminal, pages, data files, figures in prose, and the tables from
//! which the pages' scripts answer.

pub mod partial;
pub mod remedies;
pub mod search;
mod verdict;

pub use verdict::Verdict;
