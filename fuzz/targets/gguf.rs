//! Bytes as a model file.
#![no_main]

#[path = "../../tests/fuzzed/gguf.rs"]
mod gguf;

libfuzzer_sys::fuzz_target!(|data: &[u8]| gguf::hold(data));
