//! Tests of the crate through its public door, one module for each part.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod emit;
mod serve;
