//! What the paste box needs, as one script that works from a disk too.

use serde_json::json;

use crate::files::Outputs;
use crate::render::address::file;
use crate::render::views::Shelf;

/// `data/diagnose.js`.
pub(super) fn table(shelf: &Shelf<'_>) -> Outputs {
    let pages: serde_json::Map<String, serde_json::Value> = shelf
        .site()
        .errors
        .iter()
        .map(|error| {
            let entry = json!({
                "title": error.head.title.value,
                "href": file(&error.head.id.address()),
                "description": shelf.describe(&error.head),
            });
            (error.head.id.slug.clone(), entry)
        })
        .collect();
    let tables = json!({"pages": pages});
    let mut outputs = Outputs::default();
    let text = serde_json::to_string(&tables).expect("plain data is always JSON");
    outputs.add("data/diagnose.js", format!("window.kbgenTables={text};\n"));
    outputs
}
