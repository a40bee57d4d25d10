//! What is wrong, where, and what to do about it; as text, JSON, annotations or SARIF.

mod finding;
mod formats;
mod human;
mod suggest;

pub use finding::{Diagnostic, Rule, Severity};
pub use formats::{github, json, sarif};
pub use human::{human, report, summary};
pub use suggest::{closest, nearest};
