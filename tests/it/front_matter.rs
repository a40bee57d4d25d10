//! `docs/front-matter.md` has every key with the sentence of its definition, and no other key.

use std::collections::BTreeSet;
use std::fs;

use kbgen::load;
use kbgen::pipeline;
use serde_json::Value;

use crate::expect::{order, repository};

/// The keys of a published schema and of all schemas within it, as the first and last cell of a row of the manual.
fn keys(schema: &Value, rows: &mut BTreeSet<(String, String)>) {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
        let key =
            if required.contains(&name.as_str()) { format!("**`{name}`**") } else { format!("`{name}`") };
        let meaning = inner["description"].as_str().expect("every field is explained");
        rows.insert((key, meaning.to_string()));
        keys(inner, rows);
        keys(&inner["items"], rows);
    }
}

#[test]
fn the_manual_has_every_key_and_no_other() {
    let (sources, faults) = load::read(&repository("tests/golden/site")).expect("the site can be read");
    let built = pipeline::build(&sources, faults, &order()).expect("the address is left as it is");
    let mut defined = BTreeSet::new();
    for (path, bytes) in built.outputs.expect("the site has no fault").iter() {
        if path.starts_with("schema/") {
            let schema: Value = serde_json::from_slice(bytes).expect("a schema is JSON");
            // The others are of the data files, which nobody writes by hand.
            if schema["title"].as_str().is_some_and(|title| title.starts_with("Front matter of")) {
                keys(&schema, &mut defined);
            }
        }
    }
    let manual = fs::read_to_string(repository("docs/front-matter.md")).expect("the manual is there");
    let cells = |row: &str| -> Vec<String> {
        row.trim_matches('|').split(" | ").map(|cell| cell.trim().to_string()).collect()
    };
    let tables = manual.split("\n\n").filter(|part| part.starts_with("| key | value | meaning |"));
    let told: BTreeSet<(String, String)> = tables
        .flat_map(|table| table.lines().skip(2))
        .map(cells)
        .map(|cells| (cells[0].clone(), cells[cells.len() - 1].clone()))
        .collect();
    let missing: Vec<_> = defined.difference(&told).collect();
    let strange: Vec<_> = told.difference(&defined).collect();
    assert!(
        missing.is_empty() && strange.is_empty(),
        "not in the manual: {missing:#?}\nonly there: {strange:#?}"
    );
}
