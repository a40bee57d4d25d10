//! Diagnosis of logs with the signatures of a site.
//!
//! 1. [`CompiledSignatures::new`] parses the patterns and conditions of the error pages and collects their errors,
//! 2. `CompiledSignatures::index` is the index that the matcher and `static/js/match.js` share,
//! 3. [`rank_pages`] converts matches to pages for output and adds similar pages,
//! 4. [`read_log`] says what the log says if no page names the cause.
//!
//! Step 3 needs only a [`DiagnosisDb`] and the [`text_index`]: plain data that can be cached.

mod compiled;
mod db;
mod diagnosed_page;
mod extractors;
mod log_reading;
mod readings;
mod search;
mod signature_parser;

pub use compiled::{CompiledSignatures, LazySignatures, finds, specificity};
pub use db::DiagnosisDb;
pub use diagnosed_page::{
    COUNT_NAMES, DiagnosedPage, Evidence, SHORTAGE_PAIRS, describe_match, figure_label, format_figure,
    relevant_figures,
};
pub use extractors::shared_extractors;
/// Minimum bits of a signature that asserts an error.
pub use kbgen_signature::MIN_ASSERTING_BITS;
pub use log_reading::{LogReading, read_log};
pub use search::{DiagnosisInput, documents, rank_pages, slug_of_address, text_index};
pub use signature_parser::SignatureError;
