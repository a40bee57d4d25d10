//! Tests of the crate through its public door, one module for each part.

mod emit;
