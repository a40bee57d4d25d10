//! The knowledge base as data: `kb.json`, each page as JSON, each error as Markdown, and `llms.txt`.

mod entries;
mod forms;
mod json_entry;
mod llms;
mod markdown;

use serde::Serialize;
use serde_json::{Value, json};

use crate::config::{Alternate, Config};
use crate::facts;
use crate::files::{Outputs, Sink};
use crate::render::parts::json;
use crate::render::views::RenderContext;
use crate::site::kinds::ErrorData;
use crate::site::{Head, Kind, Page, PageId};

pub(super) use forms::{Form, forms};

/// Version of the data format; increased when readers have to change.
const VERSION: u32 = 1;

/// Number of entries that are formatted before they are added to a file.
const CHUNK_SIZE: usize = 256;

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
    single_file("llms.txt", llms::map(cx).into_bytes())
}

/// Makes one text with all error pages.
pub(super) fn whole(cx: &RenderContext<'_>, sink: &dyn Sink) -> Outputs {
    const PATH: &str = "llms-full.txt";
    llms::whole(cx, |text| sink.append(PATH, &text.into_bytes()));
    single_file(PATH, Vec::new())
}

/// Makes the data of all models with their memory figures.
pub(super) fn models(cx: &RenderContext<'_>) -> Outputs {
    let mut file = Collection::new(cx, "../schema/models.json");
    file.add("models", &cx.site().models, |model| json(&entries::whole_model(cx, model)));
    single_file("data/models.json", file.finish())
}

/// Makes the data of all devices.
pub(super) fn devices(cx: &RenderContext<'_>) -> Outputs {
    let mut file = Collection::new(cx, "../schema/devices.json");
    file.add("hardware", &cx.site().devices, |device| json(&entries::device(device)));
    single_file("data/hardware.json", file.finish())
}

/// Makes the data of the whole knowledge base.
pub(super) fn everything(cx: &RenderContext<'_>, sink: &dyn Sink) -> Outputs {
    const PATH: &str = "kb.json";
    let site = cx.site();
    let mut file = Collection { stream: Some((sink, PATH)), ..Collection::new(cx, "schema/kb.json") };
    file.add("errors", &site.errors, |error| json(&entries::error(cx, error)));
    file.add("models", &site.models, |model| json(&entries::model(model)));
    file.add("hardware", &site.devices, |device| json(&entries::device(device)));
    file.add("tools", &site.tools, |tool| json(&entries::tool(tool)));
    file.add("guides", &site.guides, |guide| json(&entries::guide(guide)));
    if !site.collections().is_empty() {
        file.add("entries", &site.entries, |entry| json(&entries::entry(cx, entry)));
    }
    single_file(PATH, file.finish())
}

fn single_file(path: &str, bytes: Vec<u8>) -> Outputs {
    let mut outputs = Outputs::default();
    outputs.add(path, bytes);
    outputs
}

/// Makes the JSON and Markdown alternates of an error.
pub(super) fn error_alternates(cx: &RenderContext<'_>, error: &Page<ErrorData>) -> Vec<(String, Vec<u8>)> {
    let path = |format| alternate_path(cx.inputs.config, &error.head.id, format);
    let json =
        path(Alternate::Json).map(|path| (path, json_alternate(&entries::error(cx, error), "error-data")));
    let markdown =
        path(Alternate::Markdown).map(|path| (path, markdown::alternate(cx, error, "../").into_bytes()));
    json.into_iter().chain(markdown).collect()
}

/// Makes the JSON alternate of a model or device, by its index in the list of its kind.
pub(super) fn alternate(cx: &RenderContext<'_>, kind: Kind, at: usize) -> Option<(String, Vec<u8>)> {
    let path = |head: &Head| alternate_path(cx.inputs.config, &head.id, Alternate::Json);
    match kind {
        Kind::Model => {
            let model = &cx.site().models[at];
            Some((path(&model.head)?, json_alternate(&entries::whole_model(cx, model), "model-data")))
        }
        Kind::Hardware => {
            let device = &cx.site().devices[at];
            Some((path(&device.head)?, json_alternate(&entries::device(device), "hardware-data")))
        }
        _ => None,
    }
}

/// Makes the file of one page: its entry with the schema, one folder up, as the first field.
fn json_alternate(entry: &impl Serialize, form: &str) -> Vec<u8> {
    let entry = json(entry);
    let file = json!({"$schema": format!("../schema/{form}.json"), "version": VERSION});
    format!("{},{}\n", open_object(&file), &entry[1..]).into_bytes()
}

/// Returns a JSON object without its closing brace.
fn open_object(object: &Value) -> String {
    let mut text = object.to_string();
    text.pop();
    text
}

/// A file with a header and lists of entries.
struct Collection<'s> {
    /// Text that is not sent yet.
    text: String,
    /// Where a large file is sent in parts, and its path.
    stream: Option<(&'s dyn Sink, &'s str)>,
}

impl Collection<'_> {
    fn new(cx: &RenderContext<'_>, schema: &str) -> Self {
        let config = cx.inputs.config;
        let file = json!({
            "$schema": schema,
            "version": VERSION,
            "generated_for": config.base_url,
            "title": config.title,
            "licence": config.license,
        });
        Self { text: open_object(&file), stream: None }
    }

    /// Adds a list; `entry` formats an item as JSON.
    fn add<T: Sync>(&mut self, name: &str, items: &[T], entry: impl Fn(&T) -> String + Send + Sync) {
        self.text.push_str(&format!(",\"{name}\":["));
        // In chunks, to avoid a second copy of the whole text.
        for (chunk, items) in items.chunks(CHUNK_SIZE).enumerate() {
            for (at, entry) in facts::map(items, &entry).into_iter().enumerate() {
                if chunk + at > 0 {
                    self.text.push(',');
                }
                self.text.push_str(&entry);
            }
            if let Some((sink, path)) = self.stream {
                sink.append(path, std::mem::take(&mut self.text).as_bytes());
            }
        }
        self.text.push(']');
    }

    fn finish(mut self) -> Vec<u8> {
        self.text.push_str("}\n");
        self.text.into_bytes()
    }
}
