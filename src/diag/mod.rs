//! Diagnostics, and their output as text, JSON, annotations and SARIF.

mod finding;
mod formats;
mod human;
mod suggest;

pub use finding::{Diagnostic, Rule, Severity};
pub use formats::{github, json, sarif};
pub use human::{faulty_files, human, report, summary};
pub use suggest::{closest, nearest};
