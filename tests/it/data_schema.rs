//! `kb.json` is what its published JSON Schema says.

use std::fs;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

/// Where a value is not what a schema of types, properties, required names and items says.
fn faults(value: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("the schema has a type `{other}`"),
    };
    let fits = match &schema["type"] {
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).any(is),
        _ => panic!("the schema says no type at {at}"),
    };
    if !fits {
        found.push(format!("{at} is {value}, not {}", schema["type"]));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.get(name).is_none() {
            found.push(format!("{at} has no `{name}`"));
        }
    }
    for (name, inner) in value.as_object().into_iter().flatten() {
        match (schema["properties"].get(name), schema.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema)) => faults(inner, schema, &format!("{at}.{name}"), found),
            (None, None) => found.push(format!("{at}.{name} is not in the schema")),
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        faults(item, &schema["items"], &format!("{at}[{index}]"), found);
    }
}

#[test]
fn the_data_file_is_what_its_schema_says() {
    let folder = TempDir::new().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_kbgen"))
            .current_dir(folder.path())
            .args(arguments)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["init", "kb"]);
    run(&["--root", "kb", "build", "--date", "2026-11-20", "-o", "out"]);
    let read = |path: &str| -> Value {
        serde_json::from_str(&fs::read_to_string(folder.path().join("out").join(path)).unwrap()).unwrap()
    };
    let mut found = Vec::new();
    faults(&read("kb.json"), &read("schema/kb.json"), "kb.json", &mut found);
    assert_eq!(found, Vec::<String>::new());
}
