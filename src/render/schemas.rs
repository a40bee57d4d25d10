//! JSON Schemas: for front matter, so that editors complete and check it, and for data files.

use serde_json::Value;

use crate::config::{Alternate, Config};
use crate::files::Outputs;
use crate::pack::Pack;
use crate::render::data::{Form, forms};
use crate::schema::{Field, json_schema};
use crate::site::Kind;
use crate::site::kinds::fields;

/// Makes `schema/<kind>.json` for the front matter of every kind, and one for every type of data file.
pub(super) fn files(config: &Config) -> Outputs {
    let mut outputs = Outputs::default();
    let mut add = |name: &str, title: &str, fields: &[Field]| {
        let path = format!("schema/{name}.json");
        let schema = json_schema(&format!("{}{path}", config.base_url), title, fields);
        outputs.add(path, text(&schema));
    };
    let has = |pack: Option<Pack>| config.declared.has(pack);
    for kind in Kind::ALL.into_iter().filter(|kind| has(kind.pack())) {
        add(kind.name(), &format!("Front matter of {}", kind.with_article()), fields(kind));
    }
    let is_written =
        |form: &Form| has(form.pack) && (!form.is_alternate || config.alternates.contains(&Alternate::Json));
    for form in forms().into_iter().filter(is_written) {
        add(form.name, form.title, &form.fields);
    }
    outputs
}

fn text(schema: &Value) -> String {
    let mut text = serde_json::to_string_pretty(schema).expect("plain data is always JSON");
    text.push('\n');
    text
}
