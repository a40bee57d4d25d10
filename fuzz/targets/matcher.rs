//! Bytes as patterns and a log.
#![no_main]

#[path = "../../tests/fuzzed/matcher.rs"]
mod matcher;
#[path = "../../tests/fuzzed/place.rs"]
mod place;

libfuzzer_sys::fuzz_target!(|data: &[u8]| matcher::hold(data));
