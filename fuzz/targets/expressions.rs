//! Fuzz target: conditions, values and estimator calls.
#![no_main]

#[path = "../../tests/fuzzed/expressions.rs"]
mod expressions;
#[path = "../../tests/fuzzed/place.rs"]
mod place;
#[path = "../../tests/fuzzed/site.rs"]
mod site;

libfuzzer_sys::fuzz_target!(|data: &[u8]| expressions::hold(data));
