//! One program for all tests that need no private names, one module a subject.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod architecture;
mod bad_logs;
mod bundle;
mod case_file;
mod cases;
mod commands;
mod contributors;
mod edits;
#[cfg(unix)]
mod emit;
mod engines;
mod estimate;
mod estimate_shortcuts;
mod expect;
mod fit_tables;
mod front_matter;
mod golden;
#[cfg(unix)]
mod harm;
#[cfg(unix)]
mod hostile;
mod html;
mod knowledge;
mod map;
mod markdown;
mod measured;
mod mistakes;
mod rules;
mod serve;
mod signature;
mod speed;
mod words;
