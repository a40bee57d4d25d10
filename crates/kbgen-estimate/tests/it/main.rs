//! Estimates against measured figures, and properties that they must have.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

mod checkpoints;
mod estimate;
mod hyperparameters;
mod loads;
mod measured;
mod rows;
mod speed;
mod vllm;
