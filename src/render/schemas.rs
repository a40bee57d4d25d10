//! JSON Schemas: for front matter, so that editors complete and check it, and for data files.

use serde_json::{Value, json};

use crate::config::{Alternate, Config};
use crate::custom::{Declarations, OwnField, with_definitions};
use crate::files::Outputs;
use crate::render::data::{Form, forms};
use crate::schema::{FieldOf, json_schema};
use crate::site::Kind;
use crate::site::kinds::{fields, with_vocabularies};

/// Properties of errors in the schemas of data files.
const ERRORS: [&str; 2] = ["/properties", "/properties/errors/items/properties"];

/// Fields of entries in the schema of `kb.json`. They differ by collection.
const ENTRY_FIELDS: &str = "/properties/entries/items/properties/fields";

/// Makes `schema/<kind>.json` for the front matter of every kind, `schema/entry-<collection>.json` for that of every
/// collection, and one for every type of data file.
pub(super) fn files(config: &Config) -> Outputs {
    let mut outputs = Outputs::default();
    let schema = |name: &str, title: &str, fields: &[FieldOf<'_>], own: &[OwnField]| {
        let id = format!("{}schema/{name}.json", config.base_url);
        with_definitions(own, |own| json_schema(&id, title, &[fields, own].concat()))
    };
    let mut add = |name: &str, schema: &Value| outputs.add(format!("schema/{name}.json"), text(schema));
    let declared = &config.declared;
    for kind in Kind::ALL.into_iter().filter(|kind| declared.has(kind.pack())) {
        let title = format!("Front matter of {}", kind.with_article());
        let schema = match kind {
            Kind::Error => with_vocabularies(&declared.vocabularies, |fields| {
                schema(kind.name(), &title, fields, &declared.error_fields)
            }),
            kind => schema(kind.name(), &title, fields(kind), &[]),
        };
        add(kind.name(), &schema);
    }
    for collection in &declared.collections {
        let name = format!("entry-{}", collection.name.value);
        let title = format!("Front matter of an entry of {}", collection.title);
        add(&name, &schema(&name, &title, fields(Kind::Entry), &collection.fields));
    }
    let replacements = replacements(declared);
    let is_written = |form: &Form| {
        declared.has(form.pack) && (!form.is_alternate || config.alternates.contains(&Alternate::Json))
    };
    for form in forms().into_iter().filter(is_written) {
        let mut schema = schema(form.name, form.title, &form.fields, &[]);
        for (at, replacement) in &replacements {
            for errors in ERRORS {
                if let Some(shape) = schema.pointer_mut(&format!("{errors}{at}")) {
                    let description = shape["description"].take();
                    *shape = replacement.clone();
                    if !description.is_null() {
                        shape["description"] = description;
                    }
                }
            }
        }
        if let Some(fields) = schema.pointer_mut(ENTRY_FIELDS) {
            // Each collection has fields of its own.
            *fields = json!({
                "type": "object",
                "description": fields["description"],
                "additionalProperties": true,
            });
        }
        add(form.name, &schema);
    }
    outputs
}

/// Returns the schemas of declared fields and vocabularies, by their place in the properties of an error.
fn replacements(declared: &Declarations) -> Vec<(&'static str, Value)> {
    let mut own = with_definitions(&declared.error_fields, |own| json_schema("", "", own));
    let error = with_vocabularies(&declared.vocabularies, |fields| json_schema("", "", fields));
    for part in ["$schema", "$id", "title"] {
        own.as_object_mut().expect("a schema is an object").remove(part);
    }
    let written = |at: &str| error["properties"].pointer(at).cloned();
    let words =
        ["/severity", "/platforms/items", "/solutions/items/properties/cost"].map(|at| (at, written(at)));
    let words = words.into_iter().filter_map(|(at, schema)| Some((at, schema?)));
    words.chain([("/fields", own)]).collect()
}

fn text(schema: &Value) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("plain data is always JSON");
    text.push('\n');
    text
}
