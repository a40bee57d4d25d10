//! What the fields of a file may be: one definition for the reader, the editor's schema and the manual.
//!
//! 1. a parser (YAML front matter, TOML settings) makes a [`Node`] tree in which everything has its place,
//! 2. [`read()`] holds it against [`Field`] definitions, reports every fault and keeps what is right,
//! 3. typed pages take what they need out of [`Fields`].

mod field;
mod fields;
mod json_schema;
mod node;
mod read;
mod rules;
mod scalar;

pub use field::{Field, Need, Shape};
pub use fields::Fields;
pub use json_schema::json_schema;
pub use node::{Node, NodeKind};
pub use read::read;
pub use rules::{MISSING_KEY, RULES};
pub use scalar::is_slug;
