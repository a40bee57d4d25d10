//! The test program: one module a feature.

mod estimate;
