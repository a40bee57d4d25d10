//! Field definitions of files, used by the reader, the schemas for editors and the manual.
//!
//! 1. a parser (YAML front matter, TOML settings) creates a [`Node`] tree with spans,
//! 2. [`read()`] validates it against [`Field`] definitions and reports all errors,
//! 3. a [`Record`], declared with `record!`, reads its members from [`Fields`].

mod field;
mod fields;
mod json_schema;
mod node;
mod read;
mod record;
mod rules;
mod scalar;
mod word_enum;

pub use field::{Field, FieldOf, Need, Shape, ShapeOf};
pub use fields::{Fields, Value};
pub use json_schema::json_schema;
pub use node::{Node, NodeKind, Syntax};
pub use read::read;
pub(crate) use record::record;
pub use record::{
    Day, Flag, Form, Integer, List, MapOf, Number, Plain, Read, Record, Shared, Slug, Text, TextMap, Url,
    made,
};
pub use rules::{MISSING_KEY, RULES};
pub use scalar::{is_slug, title_of};
pub(crate) use word_enum::words;
