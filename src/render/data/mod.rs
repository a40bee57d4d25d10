//! The knowledge base as data: `kb.json`, each page as JSON, each error as Markdown, and `llms.txt`.

mod entries;
mod forms;
mod llms;
mod markdown;

use serde_json::{Value, json};

use crate::config::{Alternate, Config};
use crate::facts;
use crate::files::Outputs;
use crate::render::views::RenderContext;
use crate::site::kinds::{DeviceData, ErrorData};
use crate::site::{Head, Kind, Page, PageId};

pub(super) use forms::{Form, forms};

/// Version of the data format; increased when readers have to change.
const VERSION: u32 = 1;

/// Returns the path of a page in another format, if it is written.
pub(super) fn alternate_path(config: &Config, id: &PageId, format: Alternate) -> Option<String> {
    let exists = match format {
        Alternate::Json => matches!(id.kind, Kind::Error | Kind::Model | Kind::Hardware),
        Alternate::Markdown => id.kind == Kind::Error,
    };
    let is_written = exists && config.alternates.contains(&format);
    is_written.then(|| format!("{}/{}.{}", id.kind.folder(), id.slug, format.name()))
}

/// Makes a map of the site for language models.
pub(super) fn map(cx: &RenderContext<'_>) -> Outputs {
    one("llms.txt", llms::map(cx).into_bytes())
}

/// Makes one text with all error pages.
pub(super) fn whole(cx: &RenderContext<'_>) -> Outputs {
    one("llms-full.txt", llms::whole(cx).into_bytes())
}

/// Makes the data of all models with their memory figures.
pub(super) fn models(cx: &RenderContext<'_>) -> Outputs {
    let models = facts::map(&cx.site().models, |model| JsonEntry::new(&entries::whole_model(cx, model)));
    let text = collection(cx, "../schema/models.json", &[("models", &models)]);
    one("data/models.json", text.into_bytes())
}

/// Makes the data of all devices.
pub(super) fn devices(cx: &RenderContext<'_>) -> Outputs {
    let devices: Vec<JsonEntry> = cx.site().devices.iter().map(device).collect();
    let text = collection(cx, "../schema/devices.json", &[("hardware", &devices)]);
    one("data/hardware.json", text.into_bytes())
}

/// Makes the data of the whole knowledge base.
pub(super) fn everything(cx: &RenderContext<'_>) -> Outputs {
    let site = cx.site();
    let errors = facts::map(&site.errors, |error| JsonEntry::new(&entries::error(cx, error)));
    let models: Vec<JsonEntry> =
        site.models.iter().map(|model| JsonEntry::new(&entries::model(model))).collect();
    let devices: Vec<JsonEntry> = site.devices.iter().map(device).collect();
    let tools: Vec<JsonEntry> = site.tools.iter().map(|tool| JsonEntry::new(&entries::tool(tool))).collect();
    let guides: Vec<JsonEntry> =
        site.guides.iter().map(|guide| JsonEntry::new(&entries::guide(guide))).collect();
    let entries = facts::map(&site.entries, |entry| JsonEntry::new(&entries::entry(cx, entry)));
    let mut all: Vec<(&str, &[JsonEntry])> = vec![
        ("errors", &errors),
        ("models", &models),
        ("hardware", &devices),
        ("tools", &tools),
        ("guides", &guides),
    ];
    if !site.collections().is_empty() {
        all.push(("entries", &entries));
    }
    one("kb.json", collection(cx, "schema/kb.json", &all).into_bytes())
}

fn one(path: &str, bytes: Vec<u8>) -> Outputs {
    let mut outputs = Outputs::default();
    outputs.add(path, bytes);
    outputs
}

fn device(device: &Page<DeviceData>) -> JsonEntry {
    JsonEntry::new(&entries::device(device))
}

/// Makes the JSON and Markdown alternates of an error.
pub(super) fn error_alternates(cx: &RenderContext<'_>, error: &Page<ErrorData>) -> Vec<(String, Vec<u8>)> {
    let path = |format| alternate_path(cx.inputs.config, &error.head.id, format);
    let json = path(Alternate::Json).map(|path| {
        let entry = JsonEntry::new(&entries::error(cx, error));
        (path, entry.alternate("error-data").into_bytes())
    });
    let markdown =
        path(Alternate::Markdown).map(|path| (path, markdown::alternate(cx, error, "../").into_bytes()));
    json.into_iter().chain(markdown).collect()
}

/// Makes the JSON alternate of a model or device, by its index in the list of its kind.
pub(super) fn alternate(cx: &RenderContext<'_>, kind: Kind, at: usize) -> Option<(String, Vec<u8>)> {
    let path = |head: &Head| alternate_path(cx.inputs.config, &head.id, Alternate::Json);
    let (path, entry, form) = match kind {
        Kind::Model => {
            let model = &cx.site().models[at];
            (path(&model.head)?, JsonEntry::new(&entries::whole_model(cx, model)), "model-data")
        }
        Kind::Hardware => {
            let page = &cx.site().devices[at];
            (path(&page.head)?, device(page), "hardware-data")
        }
        _ => return None,
    };
    Some((path, entry.alternate(form).into_bytes()))
}

/// An entry as JSON text. It is used in several files, and a tree would use several times as much memory.
struct JsonEntry(String);

impl JsonEntry {
    fn new(entry: &Value) -> Self {
        Self(entry.to_string())
    }

    /// Returns the file of one page: its entry with the schema, one folder up, as the first field.
    fn alternate(&self, form: &str) -> String {
        let file = json!({"$schema": format!("../schema/{form}.json"), "version": VERSION});
        let (_, fields) = self.0.split_at(1);
        format!("{},{fields}\n", open_object(&file))
    }
}

/// Returns a JSON object without its closing brace.
fn open_object(object: &Value) -> String {
    let mut text = object.to_string();
    text.pop();
    text
}

/// Makes a file with a header and lists of entries.
fn collection(cx: &RenderContext<'_>, schema: &str, lists: &[(&str, &[JsonEntry])]) -> String {
    let config = cx.inputs.config;
    let file = json!({
        "$schema": schema,
        "version": VERSION,
        "generated_for": config.base_url,
        "title": config.title,
        "licence": config.license,
    });
    // Appends to a single text: with thousands of pages every copy matters.
    let mut text = open_object(&file);
    for (name, entries) in lists {
        text.push_str(&format!(",\"{name}\":["));
        for (at, JsonEntry(entry)) in entries.iter().enumerate() {
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
