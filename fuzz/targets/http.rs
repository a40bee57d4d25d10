//! Fuzz target: HTTP requests.
#![no_main]

#[path = "../../tests/fuzzed/http.rs"]
mod http;

libfuzzer_sys::fuzz_target!(|data: &[u8]| http::hold(data));
