//! From a pasted log to the page: patterns, their figures, the index, and the words beside it.

mod fault;
mod normal;
mod pattern;
mod prefix;

pub use fault::Fault;
pub use pattern::{HoleType, Pattern};
