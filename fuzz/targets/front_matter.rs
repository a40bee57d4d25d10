//! Fuzz target: error pages.
#![no_main]

#[path = "../../tests/fuzzed/front_matter.rs"]
mod front_matter;
#[path = "../../tests/fuzzed/place.rs"]
mod place;
#[path = "../../tests/fuzzed/site.rs"]
mod site;

libfuzzer_sys::fuzz_target!(|data: &[u8]| front_matter::hold(data));
