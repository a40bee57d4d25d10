//! Finds known error messages in a pasted log: patterns, their figures, the index, and a full-text index beside it.
#![doc = include_str!("../README.md")]

mod alike;
mod anchor;
mod effort;
mod expression;
mod extractor;
mod fault;
mod figure;
mod find;
mod grammar;
mod hole;
mod index;
mod normal;
mod pattern;
mod prefix;
mod reading;
mod scan;
mod specificity;
mod stream;
mod table;
mod template;
mod words;
mod words_query;

pub use alike::look_alikes;
pub use effort::STEPS;
pub use expression::Expression;
pub use extractor::{Derived, Extractor, Field, PLACE, Place, VERDICT, Verdict};
pub use fault::Fault;
pub use figure::{Figure, Figures};
pub use index::{Diagnosis, Index, Match};
pub use pattern::Pattern;
pub use specificity::LEAST_BITS;
pub use table::{Cause, Kind, Page, Signature, Table};
pub use template::Template;
pub use words::{Counted, Document, WordCounts, WordIndex};
pub use words_query::{NEAR, NEAR_QUESTION, is_question};
