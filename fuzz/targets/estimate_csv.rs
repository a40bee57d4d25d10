//! Fuzz target: CSV batches.
#![no_main]

#[path = "../../tests/fuzzed/estimate_csv.rs"]
mod estimate_csv;
#[path = "../../tests/fuzzed/place.rs"]
mod place;

libfuzzer_sys::fuzz_target!(|data: &[u8]| estimate_csv::hold(data));
