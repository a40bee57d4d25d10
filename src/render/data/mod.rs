//! The same knowledge as data: `kb.json`, a twin of each page as JSON and of each error as Markdown, `llms.txt`.

mod entries;
mod forms;
mod llms;
mod markdown;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::files::Sink;
use crate::render::views::{Keys, Shelf};
use crate::site::kinds::{DeviceData, ErrorData, ModelData};
use crate::site::{Kind, Page, Site};

pub(super) use forms::forms;

/// Version of the form of the data files; grows when a reader of them would have to change.
const VERSION: u32 = 1;

/// The folder of a kind whose pages have a JSON twin each.
pub(super) fn twin_folder(kind: Kind) -> Option<&'static str> {
    matches!(kind, Kind::Error | Kind::Model | Kind::Hardware).then(|| kind.folder())
}

/// All data files.
///
/// The twins of an error are made of no more than its page.
pub(super) fn files(shelf: &Shelf<'_>, keys: &Keys, sink: &dyn Sink) {
    let site = shelf.site();
    let give = |path: &str, text: String| sink.take(path.to_string(), text.into_bytes());
    // The largest text goes before the entries are there.
    sink.take("llms.txt".to_string(), llms::map(shelf).into_bytes());
    whole(shelf, sink);
    let twins = |error: &Page<ErrorData>| error_twins(shelf, error, keys, sink);
    let errors: Vec<Entry> = site.errors.par_iter().map(twins).collect();
    let models: Vec<Entry> = site.models.par_iter().map(|model| model_twin(shelf, model, sink)).collect();
    let devices: Vec<Entry> = site.devices.iter().map(|device| device_twin(device, sink)).collect();
    give("data/models.json", collection(shelf, "../schema/models.json", &[("models", &models)]));
    give("data/hardware.json", collection(shelf, "../schema/devices.json", &[("hardware", &devices)]));
    let plain: Vec<Entry> = site.models.iter().map(|model| Entry::new(&entries::model(model))).collect();
    let tools: Vec<Entry> = site.tools.iter().map(|tool| Entry::new(&entries::tool(tool))).collect();
    let guides: Vec<Entry> = site.guides.iter().map(|guide| Entry::new(&entries::guide(guide))).collect();
    let all: [(&str, &[Entry]); 5] = [
        ("errors", &errors),
        ("models", &plain),
        ("hardware", &devices),
        ("tools", &tools),
        ("guides", &guides),
    ];
    give("kb.json", collection(shelf, "schema/kb.json", &all));
}

/// The file that holds all error pages.
pub(super) const WHOLE: &str = "llms-full.txt";

/// That file.
pub(super) fn whole(shelf: &Shelf<'_>, sink: &dyn Sink) {
    sink.take(WHOLE.to_string(), llms::whole(shelf).into_bytes());
}

/// The twins of a few pages.
pub(super) fn twins(shelf: &Shelf<'_>, few: &Site, keys: &Keys, sink: &dyn Sink) {
    few.errors.iter().for_each(|error| drop(error_twins(shelf, error, keys, sink)));
    few.models.iter().for_each(|model| drop(model_twin(shelf, model, sink)));
    few.devices.iter().for_each(|device| drop(device_twin(device, sink)));
}

fn error_twins(shelf: &Shelf<'_>, error: &Page<ErrorData>, keys: &Keys, sink: &dyn Sink) -> Entry {
    let slug = &error.head.id.slug;
    let entry = Entry::new(&entries::error(shelf, error));
    let give = |path: String, make: &dyn Fn() -> Vec<u8>| {
        sink.take_made(path, &keys[slug], Box::new(|| Some(make())));
    };
    give(format!("errors/{slug}.json"), &|| entry.twin("error-data").into_bytes());
    give(format!("errors/{slug}.md"), &|| markdown::twin(shelf, error, "../").into_bytes());
    entry
}

fn model_twin(shelf: &Shelf<'_>, model: &Page<ModelData>, sink: &dyn Sink) -> Entry {
    let entry = Entry::new(&entries::whole_model(shelf, model));
    sink.take(format!("models/{}.json", model.head.id.slug), entry.twin("model-data").into_bytes());
    entry
}

fn device_twin(device: &Page<DeviceData>, sink: &dyn Sink) -> Entry {
    let entry = Entry::new(&entries::device(device));
    sink.take(format!("hardware/{}.json", device.head.id.slug), entry.twin("hardware-data").into_bytes());
    entry
}

/// An entry as the text of a JSON object: it stands in several files, and as a tree it is several times as large.
struct Entry(String);

impl Entry {
    fn new(entry: &Value) -> Self {
        Self(entry.to_string())
    }

    /// The file of one page: its entry, and above it the schema, which lies one folder up.
    fn twin(&self, form: &str) -> String {
        let file = json!({"$schema": format!("../schema/{form}.json"), "version": VERSION});
        let (_, fields) = self.0.split_at(1);
        format!("{},{fields}\n", open_object(&file))
    }
}

/// A JSON object as text without the brace that closes it.
fn open_object(object: &Value) -> String {
    let mut text = object.to_string();
    text.pop();
    text
}

/// A file of many entries: what it is, then lists of them.
fn collection(shelf: &Shelf<'_>, schema: &str, lists: &[(&str, &[Entry])]) -> String {
    let config = shelf.order.config;
    let file = json!({
        "$schema": schema,
        "version": VERSION,
        "generated_for": config.base_url,
        "title": config.title,
        "licence": config.licence,
    });
    // In one text from the beginning: with thousands of pages every copy counts.
    let mut text = open_object(&file);
    for (name, entries) in lists {
        text.push_str(&format!(",\"{name}\":["));
        for (at, Entry(entry)) in entries.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            text.push_str(entry);
        }
        text.push(']');
    }
    text.push_str("}\n");
    text
}
