//! Models from GGUF files: the weights as they are in the file, the architecture from its metadata and its tensors' shapes.

mod fields;
mod header;
mod model;
mod shape;

#[cfg(test)]
mod tests;

pub use fields::architecture_fields;
pub use header::{FileTensor, Header};
pub use model::{FileError, ModelFile};
pub use shape::{shape_key, shape_names};
