//! The site's signatures as an index, and what it says of a log.
//!
//! 1. [`Compiled::new`] reads every pattern and condition of the error pages, and keeps what is wrong with them,
//! 2. `Compiled::index` is the index that the matcher and the page's script share,
//! 3. [`answer()`] puts a match into words; [`answers()`] adds pages that are only near.
//!
//! Both need no more than a [`Book`] and the [`words()`], plain data that can be kept for the next log.

mod answer;
mod book;
mod compiled;
mod extractors;
mod near;
mod parser;

pub use answer::{Answer, COUNTS, Evidence, PAIRS, answer, show_figure, told};
pub use book::Book;
pub use compiled::{Compiled, Signatures, finds, specificity};
pub use extractors::shared;
/// The fewest bits of a signature that asserts an error.
pub use kbgen_signature::LEAST_BITS;
pub use near::{Asked, answers, documents, words};
pub use parser::PartFault;
