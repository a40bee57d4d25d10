//! JSON Schemas of the front matter, so that editors complete and check it.

use crate::config::Config;
use crate::files::Outputs;
use crate::schema::json_schema;
use crate::site::Kind;
use crate::site::kinds::fields;

/// `schema/<kind>.json` for every kind.
pub(super) fn files(config: &Config) -> Outputs {
    let mut outputs = Outputs::default();
    for kind in Kind::ALL {
        let name = kind.name();
        let title = format!("Front matter of {}", kind.owner());
        let schema = json_schema(&format!("{}schema/{name}.json", config.base_url), &title, fields(kind));
        let mut text = serde_json::to_string_pretty(&schema).expect("plain data is always JSON");
        text.push('\n');
        outputs.add(format!("schema/{name}.json"), text);
    }
    outputs
}
