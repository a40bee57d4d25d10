//! The same knowledge as data: `kb.json`, a twin of each page as JSON and of each error as Markdown, `llms.txt`.

mod entries;
mod forms;
mod llms;
mod markdown;

use serde_json::{Value, json};

use crate::facts;
use crate::files::Outputs;
use crate::render::views::RenderContext;
use crate::site::kinds::{DeviceData, ErrorData};
use crate::site::{Kind, Page};

pub(super) use forms::forms;

/// Version of the form of the data files; grows when a reader of them would have to change.
const VERSION: u32 = 1;

/// The folder of a kind whose pages have a JSON twin each.
pub(super) fn alternate_folder(kind: Kind) -> Option<&'static str> {
    matches!(kind, Kind::Error | Kind::Model | Kind::Hardware).then(|| kind.folder())
}

/// A map of the site for language models.
pub(super) fn map(cx: &RenderContext<'_>) -> Outputs {
    one("llms.txt", llms::map(cx).into_bytes())
}

/// All error pages in one text.
pub(super) fn whole(cx: &RenderContext<'_>) -> Outputs {
    one("llms-full.txt", llms::whole(cx).into_bytes())
}

/// All models with what they need.
pub(super) fn models(cx: &RenderContext<'_>) -> Outputs {
    let models = facts::map(&cx.site().models, |model| JsonEntry::new(&entries::whole_model(cx, model)));
    let text = collection(cx, "../schema/models.json", &[("models", &models)]);
    one("data/models.json", text.into_bytes())
}

/// All devices.
pub(super) fn devices(cx: &RenderContext<'_>) -> Outputs {
    let devices: Vec<JsonEntry> = cx.site().devices.iter().map(device).collect();
    let text = collection(cx, "../schema/devices.json", &[("hardware", &devices)]);
    one("data/hardware.json", text.into_bytes())
}

/// The whole knowledge base.
pub(super) fn everything(cx: &RenderContext<'_>) -> Outputs {
    let site = cx.site();
    let errors = facts::map(&site.errors, |error| JsonEntry::new(&entries::error(cx, error)));
    let models: Vec<JsonEntry> =
        site.models.iter().map(|model| JsonEntry::new(&entries::model(model))).collect();
    let devices: Vec<JsonEntry> = site.devices.iter().map(device).collect();
    let tools: Vec<JsonEntry> = site.tools.iter().map(|tool| JsonEntry::new(&entries::tool(tool))).collect();
    let guides: Vec<JsonEntry> =
        site.guides.iter().map(|guide| JsonEntry::new(&entries::guide(guide))).collect();
    let all: [(&str, &[JsonEntry]); 5] = [
        ("errors", &errors),
        ("models", &models),
        ("hardware", &devices),
        ("tools", &tools),
        ("guides", &guides),
    ];
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

/// The twins of an error as JSON and as Markdown.
pub(super) fn error_alternates(cx: &RenderContext<'_>, error: &Page<ErrorData>) -> [(String, Vec<u8>); 2] {
    let slug = &error.head.id.slug;
    let entry = JsonEntry::new(&entries::error(cx, error));
    [
        (format!("errors/{slug}.json"), entry.alternate("error-data").into_bytes()),
        (format!("errors/{slug}.md"), markdown::alternate(cx, error, "../").into_bytes()),
    ]
}

/// The twin as JSON of a model or a device, by its place in the list of its kind.
pub(super) fn alternate(cx: &RenderContext<'_>, kind: Kind, at: usize) -> Option<(String, Vec<u8>)> {
    let (head, entry, form) = match kind {
        Kind::Model => {
            let model = &cx.site().models[at];
            (&model.head, JsonEntry::new(&entries::whole_model(cx, model)), "model-data")
        }
        Kind::Hardware => {
            let page = &cx.site().devices[at];
            (&page.head, device(page), "hardware-data")
        }
        _ => return None,
    };
    Some((format!("{}/{}.json", kind.folder(), head.id.slug), entry.alternate(form).into_bytes()))
}

/// An entry as the text of a JSON object: it stands in several files, and as a tree it is several times as large.
struct JsonEntry(String);

impl JsonEntry {
    fn new(entry: &Value) -> Self {
        Self(entry.to_string())
    }

    /// The file of one page: its entry, and above it the schema, which lies one folder up.
    fn alternate(&self, form: &str) -> String {
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
fn collection(cx: &RenderContext<'_>, schema: &str, lists: &[(&str, &[JsonEntry])]) -> String {
    let config = cx.inputs.config;
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
