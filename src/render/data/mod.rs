//! The same knowledge as data: `kb.json`, a twin of each page as JSON and of each error as Markdown, `llms.txt`.

mod entries;
mod forms;
mod llms;
mod markdown;

use serde_json::{Value, json};

use crate::files::Outputs;
use crate::render::views::Shelf;
use crate::site::Kind;

pub(super) use forms::forms;

/// Version of the form of the data files; grows when a reader of them would have to change.
const VERSION: u32 = 1;

/// The folder of a kind whose pages have a JSON twin each.
pub(super) fn twin_folder(kind: Kind) -> Option<&'static str> {
    matches!(kind, Kind::Error | Kind::Model | Kind::Hardware).then(|| kind.folder())
}

/// All data files.
pub(super) fn files(shelf: &Shelf<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    let site = shelf.site();
    let entries = Entries::new(shelf);
    entries.twins(shelf, &mut outputs);
    let Entries { models, devices } = entries;
    outputs.add("data/models.json", collection(shelf, "../schema/models.json", [("models", models)]));
    outputs.add(
        "data/hardware.json",
        collection(shelf, "../schema/devices.json", [("hardware", devices.clone())]),
    );
    let all = [
        ("errors", site.errors.iter().map(|error| entries::error(shelf, error)).collect()),
        ("models", site.models.iter().map(entries::model).collect()),
        ("hardware", devices),
        ("tools", site.tools.iter().map(entries::tool).collect()),
        ("guides", site.guides.iter().map(entries::guide).collect()),
    ];
    outputs.add("kb.json", collection(shelf, "schema/kb.json", all));
    outputs.add("llms.txt", llms::map(shelf));
    outputs.add("llms-full.txt", llms::whole(shelf));
    outputs
}

/// The twins of the pages that are wanted, and of no other.
pub(super) fn twins(shelf: &Shelf<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    Entries::new(shelf).twins(shelf, &mut outputs);
    outputs
}

/// What the wanted pages of models and devices are as data: it stands in their twins and in one file of all.
struct Entries {
    models: Vec<Value>,
    devices: Vec<Value>,
}

impl Entries {
    fn new(shelf: &Shelf<'_>) -> Self {
        let site = shelf.site();
        let models = site.models.iter().filter(|model| shelf.wants(&model.head));
        let devices = site.devices.iter().filter(|device| shelf.wants(&device.head));
        Self {
            models: models.map(|model| entries::whole_model(shelf, model)).collect(),
            devices: devices.map(entries::device).collect(),
        }
    }

    /// Adds the twins of all wanted pages.
    fn twins(&self, shelf: &Shelf<'_>, outputs: &mut Outputs) {
        for error in shelf.site().errors.iter().filter(|error| shelf.wants(&error.head)) {
            let slug = &error.head.id.slug;
            let entry = entries::error(shelf, error);
            outputs.add(format!("errors/{slug}.json"), twin("error-data", entry));
            outputs.add(format!("errors/{slug}.md"), markdown::twin(shelf, error, "../"));
        }
        for (kind, form, entries) in
            [(Kind::Model, "model-data", &self.models), (Kind::Hardware, "hardware-data", &self.devices)]
        {
            for entry in entries {
                let slug = entry["slug"].as_str().expect("an entry has a slug");
                outputs.add(format!("{}/{slug}.json", kind.folder()), twin(form, entry.clone()));
            }
        }
    }
}

/// The file of one page: its entry, and above it the schema, which lies one folder up.
fn twin(form: &str, entry: Value) -> String {
    let mut file = json!({"$schema": format!("../schema/{form}.json"), "version": VERSION});
    append(&mut file, entry);
    text(&file)
}

/// A file of many entries: what it is, then lists of them.
fn collection<const N: usize>(
    shelf: &Shelf<'_>,
    schema: &str,
    lists: [(&'static str, Vec<Value>); N],
) -> String {
    let config = shelf.order.config;
    let mut file = json!({
        "$schema": schema,
        "version": VERSION,
        "generated_for": config.base_url,
        "title": config.title,
        "licence": config.licence,
    });
    append(&mut file, lists.into_iter().map(|(name, list)| (name.to_string(), Value::from(list))).collect());
    text(&file)
}

/// The fields of one object behind those of another.
fn append(object: &mut Value, more: Value) {
    let (Some(object), Value::Object(more)) = (object.as_object_mut(), more) else { return };
    object.extend(more);
}

fn text(value: &Value) -> String {
    let mut text = serde_json::to_string(value).expect("plain data is always JSON");
    text.push('\n');
    text
}
