//! Checkpoints of Hugging Face: the weights from the headers of safetensors files, hyperparameters from `config.json`.

mod config;
mod safetensors;

pub use config::{ConfigError, model_fields};
pub use safetensors::{Checkpoint, Index, StoredTensor, read_header, read_index};
