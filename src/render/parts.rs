//! Data files in parts: a script that would be larger than [`MAX_WHOLE_BYTES`] is written as a head and parts, which
//! `static/js` loads when a text needs them.

use serde::Serialize;

use crate::files::Outputs;
use crate::render::assets::digest;

/// Maximum size of a data file that is written as a whole. Smaller files in parts gain nothing: a message needs a head and
/// several parts.
pub(super) const MAX_WHOLE_BYTES: usize = 5 << 18;

/// Approximate size of a part.
pub(super) const PART_BYTES: usize = 128 << 10;

/// Number of documents of a text index in a part.
pub(super) const PART_DOCUMENTS: usize = 1000;

/// Writes a part below `data/<name>/`, named by its content so that a head never loads a part of another build, and returns its path.
pub(super) fn add_part(outputs: &mut Outputs, name: &str, script: &str) -> String {
    let path = format!("data/{name}/{}.js", digest(script.as_bytes()));
    outputs.add(&path, script);
    path
}

/// Formats the assignment of a value.
pub(super) fn assign(target: &str, value: &impl Serialize) -> String {
    format!("{target}={};", json(value))
}

/// Formats the assignment of the fields of an object to another one.
pub(super) fn extend(target: &str, fields: &impl Serialize) -> String {
    format!("Object.assign({target},{});", json(fields))
}

/// Formats data as JSON.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data is always JSON")
}
