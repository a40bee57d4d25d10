//! Bytes as the body of a page.
#![no_main]

#[path = "../../tests/fuzzed/markdown.rs"]
mod markdown;

libfuzzer_sys::fuzz_target!(|data: &[u8]| markdown::hold(data));
