//! Fuzz target: page bodies.
#![no_main]

#[path = "../../tests/fuzzed/markdown.rs"]
mod markdown;

libfuzzer_sys::fuzz_target!(|data: &[u8]| markdown::hold(data));
