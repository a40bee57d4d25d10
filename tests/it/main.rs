//! One program for all tests that need no private names, one module a subject.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod architecture;
mod bad_logs;
mod case_file;
mod cases;
mod commands;
mod data_schema;
#[cfg(unix)]
mod emit;
mod estimate;
mod expect;
mod front_matter;
mod golden;
mod html;
mod knowledge;
mod markdown;
mod mistakes;
mod rules;
mod serve;
mod signature;
mod words;
