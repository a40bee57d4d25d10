//! Memory estimates for language models: weights, KV cache and compute buffers that agree with llama.cpp's
//! own figures.
//!
//! A model is an [`Architecture`](architecture::Architecture), a run is [`Settings`](settings::Settings), and
//! [`estimate`](estimator::estimate) returns the need of each device.
#![doc = include_str!("../README.md")]

// Lets unit tests share a module with the integration tests.
#[cfg(test)]
extern crate self as kbgen_estimate;

pub mod architecture;
pub mod backend;
pub mod build;
pub mod bytes;
mod cache;
pub mod checkpoint;
mod compute;
pub mod estimator;
pub mod family;
pub mod field;
mod field_checks;
pub mod fields;
pub mod gguf;
pub mod header_error;
pub mod huggingface;
pub mod local;
mod names;
pub mod offload;
pub mod parameters;
pub mod placement;
pub mod plan;
pub mod planner;
pub mod quantization;
mod recipe;
pub mod segments;
pub mod settings;
pub mod sglang;
mod size_checks;
pub mod speed;
mod tensors;
pub mod transformers;
pub mod vllm;
pub mod weights;
