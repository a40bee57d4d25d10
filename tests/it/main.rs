//! Integration tests in one binary, one module per subject.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod agreement;
mod architecture;
#[cfg(unix)]
mod attacks;
mod bad_logs;
mod bundle;
mod cache;
mod case_file;
mod cases;
mod commands;
mod common_words;
mod contributors;
#[cfg(unix)]
mod crowds;
mod draw;
mod edits;
#[cfg(unix)]
mod emit;
mod estimate_shortcuts;
mod expect;
mod fetched;
mod fit_tables;
mod front_matter;
mod fuzzed;
mod gguf_files;
mod golden;
#[cfg(unix)]
mod harm;
#[cfg(unix)]
mod hostile;
mod hostile_patterns;
mod html;
#[cfg(unix)]
mod imports;
mod kills;
mod knowledge;
mod large_sites;
mod markdown;
#[path = "../../crates/kbgen-estimate/tests/it/rows.rs"]
mod measured;
mod methodology;
mod mistakes;
mod names;
mod outcomes;
mod own_site;
mod plans;
mod readings;
mod rules;
mod serve;
#[cfg(unix)]
mod served;
#[cfg(unix)]
mod session;
mod signature;
mod speeds;
mod style;
mod tables;
mod texts;
mod titles;
mod untrusted_text;
mod visible;
mod words;
