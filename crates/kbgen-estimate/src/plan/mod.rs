//! Decides whether a model runs on a machine, and finds changes that make it run.
//!
//! Used by the terminal, pages, data files, figures in prose, and the tables of the pages' scripts.

mod bands;
mod devices;
pub mod partial;
pub mod remedies;
pub mod search;
mod verdict;

pub use verdict::Verdict;
