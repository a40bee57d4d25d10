//! From a pasted log to the page: patterns, their figures, the index, and the words beside it.

mod expression;
mod fault;
mod figure;
mod find;
mod grammar;
mod hole;
mod normal;
mod pattern;
mod prefix;

pub use expression::Expression;
pub use fault::Fault;
pub use figure::{Figure, Figures};
pub use pattern::{HoleType, Pattern};
