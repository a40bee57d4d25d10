//! JSON Schemas: for front matter, so that editors complete and check it, and for data files.

use serde_json::{Value, json};

use crate::config::{Alternate, Config};
use crate::custom::{OwnField, with_definitions};
use crate::files::Outputs;
use crate::render::data::{Form, forms};
use crate::schema::{Field, json_schema};
use crate::site::Kind;
use crate::site::kinds::fields;

/// Fields of errors in the schemas of data files.
const ERROR_FIELDS: [&str; 2] = ["/properties/fields", "/properties/errors/items/properties/fields"];

/// Fields of entries in the schema of `kb.json`. They differ by collection.
const ENTRY_FIELDS: &str = "/properties/entries/items/properties/fields";

/// Makes `schema/<kind>.json` for the front matter of every kind, `schema/entry-<collection>.json` for that of every
/// collection, and one for every type of data file.
pub(super) fn files(config: &Config) -> Outputs {
    let mut outputs = Outputs::default();
    let schema = |name: &str, title: &str, fields: &[Field], own: &[OwnField]| {
        let id = format!("{}schema/{name}.json", config.base_url);
        with_definitions(own, |own| json_schema(&id, title, &[fields, own].concat()))
    };
    let mut add = |name: &str, schema: &Value| outputs.add(format!("schema/{name}.json"), text(schema));
    let declared = &config.declared;
    for kind in Kind::ALL.into_iter().filter(|kind| declared.has(kind.pack())) {
        let own = if kind == Kind::Error { declared.error_fields.as_slice() } else { &[] };
        let title = format!("Front matter of {}", kind.with_article());
        add(kind.name(), &schema(kind.name(), &title, fields(kind), own));
    }
    for collection in &declared.collections {
        let name = format!("entry-{}", collection.name.value);
        let title = format!("Front matter of an entry of {}", collection.title);
        add(&name, &schema(&name, &title, fields(Kind::Entry), &collection.fields));
    }
    let is_written = |form: &Form| {
        declared.has(form.pack) && (!form.is_alternate || config.alternates.contains(&Alternate::Json))
    };
    for form in forms().into_iter().filter(is_written) {
        let mut schema = schema(form.name, form.title, &form.fields, &[]);
        let own = with_definitions(&declared.error_fields, |own| json_schema("", "", own));
        for (part, member) in [("properties", &own["properties"]), ("required", &own["required"])] {
            for fields in ERROR_FIELDS {
                if let Some(fields) = schema.pointer_mut(fields) {
                    fields[part] = member.clone();
                }
            }
        }
        if let Some(fields) = schema.pointer_mut(ENTRY_FIELDS) {
            *fields = json!({"type": "object", "description": fields["description"]});
        }
        add(form.name, &schema);
    }
    outputs
}

fn text(schema: &Value) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("plain data is always JSON");
    text.push('\n');
    text
}
