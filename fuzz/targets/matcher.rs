//! Fuzz target: patterns and a log.
#![no_main]

#[expect(dead_code, reason = "only the test hands cases to the page's script")]
#[path = "../../tests/fuzzed/matcher.rs"]
mod matcher;
#[path = "../../tests/fuzzed/place.rs"]
mod place;

libfuzzer_sys::fuzz_target!(|data: &[u8]| matcher::hold(data));
