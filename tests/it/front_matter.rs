//! Generates the tables of `docs/front-matter.md` from the field definitions.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use kbgen::load;
use kbgen::pipeline;
use serde_json::Value;

use crate::expect::{all_well, files, options, repository, same};

/// Sections of the manual, each with the name of its schema.
const SECTIONS: [(&str, &str); 12] = [
    ("Error", "error"),
    ("Extractor", "extractor"),
    ("Reading", "reading"),
    ("Category", "category"),
    ("Guide", "guide"),
    ("Tool", "tool"),
    ("Model", "model"),
    ("Hardware", "hardware"),
    ("Quantization", "quant"),
    ("Glossary term", "term"),
    ("Other page", "page"),
    ("Included text", "include"),
];

/// Returns the published schemas by name.
fn schemas() -> BTreeMap<String, Value> {
    let (sources, faults) = load::read(&repository("tests/golden/site")).expect("the site can be read");
    let built = pipeline::build(&sources, faults, &options()).expect("the base URL is valid");
    let outputs = built.outputs.expect("the site has no fault");
    let schemas = outputs.iter().filter_map(|(path, bytes)| {
        let name = path.strip_prefix("schema/")?.strip_suffix(".json")?;
        Some((name.to_string(), serde_json::from_slice(bytes).expect("a schema is JSON")))
    });
    schemas.collect()
}

/// Formats the rows of a mapping.
fn table(schema: &Value) -> String {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let rows = schema["properties"].as_object().into_iter().flatten().map(|(name, field)| {
        let mark = if required.contains(&name.as_str()) { "**" } else { "" };
        let meaning = field["description"].as_str().expect("every field is explained");
        format!("| {mark}`{name}`{mark} | {} | {meaning} |\n", value(field))
    });
    format!("| key | value | meaning |\n| --- | --- | --- |\n{}", rows.collect::<String>())
}

/// Describes the values of a field.
fn value(field: &Value) -> String {
    if let Some(words) = field["oneOf"].as_array() {
        let words: Vec<String> =
            words.iter().map(|word| format!("`{}`", word["const"].as_str().unwrap())).collect();
        return words.join(", ");
    }
    let (min, max) = (&field["minimum"], &field["maximum"]);
    match field["type"].as_str().expect("a field has a type") {
        "string" if field["format"] == "date" => "date".into(),
        "string" if field["format"] == "uri" => "URL".into(),
        "string" if field["pattern"].is_string() => "slug".into(),
        "string" => "string".into(),
        "integer" => format!("integer, {min} to {max}"),
        "number" => "number above 0".into(),
        "boolean" => "`true` or `false`".into(),
        "array" => {
            let items = match value(&field["items"]).as_str() {
                "number above 0" => "numbers".to_string(),
                "mapping (below)" => "mappings (below)".into(),
                words if words.starts_with('`') => words.into(),
                other => format!("{other}s"),
            };
            let least = if field["minItems"] == 1 { ", at least one" } else { "" };
            format!("list of {items}{least}")
        }
        "object" if field["properties"].is_object() => "mapping (below)".into(),
        "object" => "mapping".into(),
        other => panic!("no word for `{other}`"),
    }
}

/// Returns the manual with its tables regenerated. All mappings have a section.
fn written(manual: &str, schemas: &BTreeMap<String, Value>) -> String {
    let mut text = String::new();
    let mut page = &Value::Null;
    let mut mapping = page;
    let mut sections = Vec::new();
    let mut in_table = false;
    for line in manual.lines() {
        let inner = ["### Each of `", "### Its `"].into_iter().find_map(|start| line.strip_prefix(start));
        let section = line.strip_prefix("## ");
        if let Some((_, name)) = SECTIONS.iter().find(|(heading, _)| section == Some(*heading)) {
            (page, mapping) = (&schemas[*name], &schemas[*name]);
            sections.push((*name, None));
        } else if let Some(name) = inner.and_then(|rest| rest.strip_suffix('`')) {
            let field = &page["properties"][name];
            mapping = if field["items"].is_object() { &field["items"] } else { field };
            let kind = sections.last().expect("it is within a kind").0;
            sections.push((kind, Some(name.to_string())));
        }
        if line == "| key | value | meaning |" {
            text += &table(mapping);
            in_table = true;
        }
        in_table &= line.starts_with('|');
        if !in_table {
            text += line;
            text.push('\n');
        }
    }
    for (_, kind) in SECTIONS {
        let fields = schemas[kind]["properties"].as_object().into_iter().flatten();
        let mappings = fields.filter(|(_, field)| value(field).contains("(below)"));
        let needed = [None].into_iter().chain(mappings.map(|(name, _)| Some(name.clone())));
        for section in needed.map(|name| (kind, name)) {
            assert!(sections.contains(&section), "the manual has no section for {section:?}");
        }
    }
    text
}

#[test]
fn the_tables_of_the_manual_are_those_of_the_fields() {
    let path = repository("docs/front-matter.md");
    let manual = fs::read_to_string(&path).expect("the manual is there");
    all_well(same(&path, &written(&manual, &schemas())).into_iter().collect());
}

/// Returns every key of a schema, including nested ones.
fn keys(schema: &Value, found: &mut BTreeSet<String>) {
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        found.insert(name.clone());
        keys(field, found);
        keys(&field["items"], found);
    }
}

#[test]
fn a_key_is_named_by_its_declaration_alone() {
    let schemas = schemas();
    let mut names = BTreeSet::new();
    SECTIONS.iter().for_each(|(_, kind)| keys(&schemas[*kind], &mut names));
    assert!(names.len() > 80, "{names:?}");
    let sources =
        [("src/site/kinds", ".rs"), ("src/load", ".rs"), ("crates/kbgen-estimate/src", "fields.rs")];
    for path in sources.into_iter().flat_map(|(folder, end)| files(folder, end)) {
        // Keys shared by several kinds are defined there.
        if path.ends_with("kinds/common.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a source file can be read");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        // Allowed values may have the same name.
        let is_key = |at: usize| !code[..at].ends_with("= ");
        let has = |name: &&String| code.match_indices(&format!("\"{name}\"")).any(|(at, _)| is_key(at));
        let named = names.iter().find(has);
        assert!(named.is_none(), "{} has the key {named:?} in a string", path.display());
    }
}
