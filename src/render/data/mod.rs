//! The same knowledge as data: `kb.json`, a twin of each page as JSON and of each error as Markdown, `llms.txt`.

mod entries;
mod forms;
mod llms;
mod markdown;

use serde_json::{Value, json};

use crate::facts;
use crate::files::Outputs;
use crate::render::views::Shelf;
use crate::site::kinds::{DeviceData, ErrorData};
use crate::site::{Kind, Page};

pub(super) use forms::forms;

/// Version of the form of the data files; grows when a reader of them would have to change.
const VERSION: u32 = 1;

/// The folder of a kind whose pages have a JSON twin each.
pub(super) fn twin_folder(kind: Kind) -> Option<&'static str> {
    matches!(kind, Kind::Error | Kind::Model | Kind::Hardware).then(|| kind.folder())
}

/// A map of the site for language models.
pub(super) fn map(shelf: &Shelf<'_>) -> Outputs {
    one("llms.txt", llms::map(shelf).into_bytes())
}

/// All error pages in one text.
pub(super) fn whole(shelf: &Shelf<'_>) -> Outputs {
    one("llms-full.txt", llms::whole(shelf).into_bytes())
}

/// All models with what they need.
pub(super) fn models(shelf: &Shelf<'_>) -> Outputs {
    let models = facts::map(&shelf.site().models, |model| Entry::new(&entries::whole_model(shelf, model)));
    let text = collection(shelf, "../schema/models.json", &[("models", &models)]);
    one("data/models.json", text.into_bytes())
}

/// All devices.
pub(super) fn devices(shelf: &Shelf<'_>) -> Outputs {
    let devices: Vec<Entry> = shelf.site().devices.iter().map(device).collect();
    let text = collection(shelf, "../schema/devices.json", &[("hardware", &devices)]);
    one("data/hardware.json", text.into_bytes())
}

/// The whole knowledge base.
pub(super) fn everything(shelf: &Shelf<'_>) -> Outputs {
    let site = shelf.site();
    let errors = facts::map(&site.errors, |error| Entry::new(&entries::error(shelf, error)));
    let models: Vec<Entry> = site.models.iter().map(|model| Entry::new(&entries::model(model))).collect();
    let devices: Vec<Entry> = site.devices.iter().map(device).collect();
    let tools: Vec<Entry> = site.tools.iter().map(|tool| Entry::new(&entries::tool(tool))).collect();
    let guides: Vec<Entry> = site.guides.iter().map(|guide| Entry::new(&entries::guide(guide))).collect();
    let all: [(&str, &[Entry]); 5] = [
        ("errors", &errors),
        ("models", &models),
        ("hardware", &devices),
        ("tools", &tools),
        ("guides", &guides),
    ];
    one("kb.json", collection(shelf, "schema/kb.json", &all).into_bytes())
}

fn one(path: &str, bytes: Vec<u8>) -> Outputs {
    let mut outputs = Outputs::default();
    outputs.add(path, bytes);
    outputs
}

fn device(device: &Page<DeviceData>) -> Entry {
    Entry::new(&entries::device(device))
}

/// The twins of an error as JSON and as Markdown.
pub(super) fn error_twins(shelf: &Shelf<'_>, error: &Page<ErrorData>) -> [(String, Vec<u8>); 2] {
    let slug = &error.head.id.slug;
    let entry = Entry::new(&entries::error(shelf, error));
    [
        (format!("errors/{slug}.json"), entry.twin("error-data").into_bytes()),
        (format!("errors/{slug}.md"), markdown::twin(shelf, error, "../").into_bytes()),
    ]
}

/// The twin as JSON of a model or a device, by its place in the list of its kind.
pub(super) fn twin(shelf: &Shelf<'_>, kind: Kind, at: usize) -> Option<(String, Vec<u8>)> {
    let (head, entry, form) = match kind {
        Kind::Model => {
            let model = &shelf.site().models[at];
            (&model.head, Entry::new(&entries::whole_model(shelf, model)), "model-data")
        }
        Kind::Hardware => {
            let page = &shelf.site().devices[at];
            (&page.head, device(page), "hardware-data")
        }
        _ => return None,
    };
    Some((format!("{}/{}.json", kind.folder(), head.id.slug), entry.twin(form).into_bytes()))
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
