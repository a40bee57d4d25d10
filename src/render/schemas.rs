//! JSON Schemas: of the front matter, so that editors complete and check it, and of the data files.

use serde_json::{Value, json};

use crate::config::Config;
use crate::files::Outputs;
use crate::schema::json_schema;
use crate::site::Kind;
use crate::site::kinds::fields;

/// `schema/<kind>.json` for the front matter of every kind, and `schema/kb.json` for `kb.json`.
pub(super) fn files(config: &Config) -> Outputs {
    let mut outputs = Outputs::default();
    for kind in Kind::ALL {
        let name = kind.name();
        let title = format!("Front matter of {}", kind.with_article());
        let schema = json_schema(&format!("{}schema/{name}.json", config.base_url), &title, fields(kind));
        outputs.add(format!("schema/{name}.json"), text(&schema));
    }
    outputs.add("schema/kb.json", text(&knowledge_base(&config.base_url)));
    outputs
}

fn text(schema: &Value) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("plain data is always JSON");
    text.push('\n');
    text
}

/// What `kb.json` holds; a new version of its form gets a new number.
fn knowledge_base(base_url: &str) -> Value {
    let word = json!({"type": "string"});
    let maybe_word = json!({"type": ["string", "null"]});
    let maybe_number = json!({"type": ["number", "null"]});
    let words = json!({"type": "array", "items": word});
    let versions = json!({"type": "object", "additionalProperties": word});
    let signature = object(
        &["extract", "when", "source", "versions", "samples"],
        json!({
            "pattern": word, "all": words, "not": words, "extract": maybe_word, "when": maybe_word,
            "source": word, "versions": versions, "samples": words,
        }),
    );
    let cause = json!({"id": word, "title": word, "tell": word, "when": maybe_word, "case": maybe_word, "solutions": words});
    let solution = json!({"id": word, "title": word, "cost": word});
    let error = json!({
        "slug": word, "title": word, "url": word, "description": word, "category": word, "kind": word,
        "severity": word, "status": word, "retired": maybe_word, "tools": words, "platforms": words,
        "signatures": list(signature), "causes": list(whole(cause)), "solutions": list(whole(solution)),
        "related": words, "verified": maybe_word, "verified_with": versions, "sources": words, "aliases": words,
    });
    let model = json!({
        "slug": word, "title": word, "url": word, "family": word, "hf_id": maybe_word, "licence": maybe_word,
        "released": maybe_word, "parameters": maybe_number, "max_ctx": maybe_number, "sources": words,
    });
    let device = json!({
        "slug": word, "title": word, "url": word, "vendor": word, "class": word,
        "memory_bytes": {"type": "integer"}, "unified": {"type": "boolean"}, "bandwidth_gbps": maybe_number,
        "released": maybe_word, "sources": words,
    });
    let tool = json!({"slug": word, "title": word, "url": word, "homepage": word});
    let guide = json!({"slug": word, "title": word, "url": word, "related": words});
    let mut schema = whole(json!({
        "version": {"type": "integer"}, "generated_for": word, "title": word, "licence": word,
        "errors": list(whole(error)), "models": list(whole(model)), "hardware": list(whole(device)),
        "tools": list(whole(tool)), "guides": list(whole(guide)),
    }));
    let root = schema.as_object_mut().expect("a schema is an object");
    root.insert("$schema".into(), json!("https://json-schema.org/draft/2020-12/schema"));
    root.insert("$id".into(), json!(format!("{base_url}schema/kb.json")));
    root.insert("title".into(), json!("The knowledge base as data"));
    schema
}

/// An object whose properties are all there.
fn whole(properties: Value) -> Value {
    let required: Vec<String> =
        properties.as_object().into_iter().flat_map(|all| all.keys().cloned()).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

fn object(required: &[&str], properties: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

fn list(items: Value) -> Value {
    json!({"type": "array", "items": items})
}
