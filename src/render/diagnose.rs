//! Data for diagnosis in the browser, as a script that also loads from disk.

use kbgen_signature::TextIndex;
use serde::Serialize;
use serde_json::json;

use crate::diagnosis;
use crate::engine::Kind;
use crate::files::Outputs;
use crate::render::address::file;
use crate::render::views::{RenderContext, asks_for_memory};
use crate::site::kinds::ErrorData;
use crate::site::{Head, Page};

/// Data in addition to the signatures. A tree of JSON values would use several times as much memory.
#[derive(Serialize)]
struct Tables<'s> {
    search: TextIndex,
    pairs: [(&'static str, &'static str); diagnosis::SHORTAGE_PAIRS.len()],
    counts: [&'static str; diagnosis::COUNT_NAMES.len()],
    /// Slug, title and Hugging Face id of each model in the calculator.
    models: Vec<(&'s str, &'s str, Option<&'s str>)>,
    /// Slug, title and bytes of memory.
    devices: Vec<(&'s str, &'s str, u64)>,
    quants: Vec<&'s str>,
}

/// Data of a page except for its first command, which is read from its body.
#[derive(Serialize)]
struct PageEntry<'s> {
    title: &'s str,
    href: String,
    description: String,
    causes: serde_json::Map<String, serde_json::Value>,
    /// Whether the error depends on memory, so that the calculator can help.
    fits: bool,
}

/// Path of the script.
const TABLE: &str = "data/diagnose.js";

/// Makes the script.
pub(super) fn table(cx: &RenderContext<'_>) -> Outputs {
    let inputs = cx.inputs;
    let signatures = inputs.engine.query(Kind::Gathered, "table", || json(inputs.compiled().index.table()));
    let entries = inputs.engine.query(Kind::Gathered, "entries", || entries(cx));
    let tables = json(&Tables {
        search: diagnosis::text_index(inputs.site, inputs.sources, inputs.engine),
        pairs: diagnosis::SHORTAGE_PAIRS,
        counts: diagnosis::COUNT_NAMES,
        models: models(cx),
        devices: inputs
            .site
            .devices
            .iter()
            .map(|device| (slug(&device.head), title(&device.head), device.data.memory_bytes()))
            .collect(),
        quants: inputs.fits.quants.iter().map(String::as_str).collect(),
    });
    let mut text = format!("kbgen.tables={{\"match\":{signatures},");
    text.push_str(without_braces(&tables));
    text.push_str(",\"pages\":{");
    for (at, (error, entry)) in inputs.site.errors.iter().zip(&entries).enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let (slug, command) = (json(&error.head.id.slug), json(&first_command(cx, error)));
        text.push_str(&format!("{comma}{slug}:{{{},\"first_command\":{command}}}", without_braces(entry)));
    }
    text.push_str("}};\n");
    let mut outputs = Outputs::default();
    outputs.add(TABLE, text);
    outputs
}

/// Returns the models with figures.
fn models<'s>(cx: &'s RenderContext<'_>) -> Vec<(&'s str, &'s str, Option<&'s str>)> {
    let known = cx.site().models.iter().filter(|model| cx.inputs.fits.figures(&model.head.id.slug).is_some());
    known.map(|model| (slug(&model.head), title(&model.head), model.data.hf_id.as_deref())).collect()
}

fn slug(head: &Head) -> &str {
    &head.id.slug
}

fn title(head: &Head) -> &str {
    &head.title.value
}

/// Returns the entries of all errors as JSON.
fn entries(cx: &RenderContext<'_>) -> Vec<String> {
    let extractors = diagnosis::shared_extractors(cx.site(), cx.inputs.sources);
    let entry = |error: &Page<ErrorData>| {
        let causes = error.data.causes.iter().filter(|cause| cause.when.is_some()).map(|cause| {
            let names = diagnosis::relevant_figures(cause, &extractors);
            (cause.id.value.clone(), json!({"title": cause.title.value, "names": names}))
        });
        json(&PageEntry {
            title: &error.head.title.value,
            href: file(&error.head.id.address()),
            description: cx.describe(&error.head),
            causes: causes.collect(),
            fits: asks_for_memory(error),
        })
    };
    cx.site().errors.iter().map(entry).collect()
}

/// Returns the text between the braces of an object.
fn without_braces(object: &str) -> &str {
    &object[1..object.len() - 1]
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data is always JSON")
}

/// Languages of code blocks with commands.
const TYPED: [&str; 3] = ["bash", "powershell", "console"];

/// Returns the first command in the solutions of a page.
fn first_command(cx: &RenderContext<'_>, error: &Page<ErrorData>) -> Option<String> {
    let outline = &error.head.body.outline;
    let is_solution = |id: &str| error.data.solutions.iter().any(|solution| solution.id.value == id);
    let start = outline.headings.iter().find(|heading| is_solution(&heading.id))?.range.end;
    let fence = outline
        .fences
        .iter()
        .find(|fence| fence.range.start > start && TYPED.contains(&fence.language.as_str()))?;
    let body = cx.inputs.sources.text(error.head.body.span);
    let line = body[fence.range.clone()].lines().skip(1).map(str::trim).find(|line| {
        !line.is_empty() && !line.starts_with('#') && !line.starts_with("```") && !line.starts_with("~~~")
    })?;
    Some(line.trim_start_matches("$ ").trim_start_matches("PS> ").to_string())
}
