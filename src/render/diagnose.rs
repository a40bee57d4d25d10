//! What the paste box needs, as one script that works from a disk too.

use kbgen_signature::TextIndex;
use serde::Serialize;
use serde_json::json;

use crate::diagnosis;
use crate::engine::Kind;
use crate::files::Outputs;
use crate::render::address::file;
use crate::render::views::{Shelf, asks_for_memory};
use crate::site::kinds::ErrorData;
use crate::site::{Head, Page};

/// All that the box needs beside the signatures. As a tree of JSON values it would be several times as large.
#[derive(Serialize)]
struct Tables<'s> {
    search: TextIndex,
    pairs: [(&'static str, &'static str); diagnosis::SHORTAGE_PAIRS.len()],
    counts: [&'static str; diagnosis::COUNT_NAMES.len()],
    /// Slug, title and id on the hub of each model that the calculator knows.
    models: Vec<(&'s str, &'s str, Option<&'s str>)>,
    /// Slug, title and bytes of memory.
    devices: Vec<(&'s str, &'s str, u64)>,
    quants: Vec<&'s str>,
}

/// What is said of a page, but for its first command, which stands in its body.
#[derive(Serialize)]
struct Entry<'s> {
    title: &'s str,
    href: String,
    description: String,
    causes: serde_json::Map<String, serde_json::Value>,
    /// Whether memory decides, so that the calculator helps.
    fits: bool,
}

/// The file of that script.
const TABLE: &str = "data/diagnose.js";

/// That file.
pub(super) fn table(shelf: &Shelf<'_>) -> Outputs {
    let order = shelf.order;
    let signatures = order.engine.query(Kind::Gathered, "table", || json(order.compiled().index.table()));
    let entries = order.engine.query(Kind::Gathered, "entries", || entries(shelf));
    let tables = json(&Tables {
        search: diagnosis::text_index(order.site, order.sources, order.engine),
        pairs: diagnosis::SHORTAGE_PAIRS,
        counts: diagnosis::COUNT_NAMES,
        models: models(shelf),
        devices: order
            .site
            .devices
            .iter()
            .map(|device| (slug(&device.head), title(&device.head), device.data.memory_bytes()))
            .collect(),
        quants: order.fits.quants.iter().map(String::as_str).collect(),
    });
    let mut text = format!("kbgen.tables={{\"match\":{signatures},");
    text.push_str(inner(&tables));
    text.push_str(",\"pages\":{");
    for (at, (error, entry)) in order.site.errors.iter().zip(&entries).enumerate() {
        let comma = if at > 0 { "," } else { "" };
        let (slug, command) = (json(&error.head.id.slug), json(&first_command(shelf, error)));
        text.push_str(&format!("{comma}{slug}:{{{},\"first_command\":{command}}}", inner(entry)));
    }
    text.push_str("}};\n");
    let mut outputs = Outputs::default();
    outputs.add(TABLE, text);
    outputs
}

/// The models with figures.
fn models<'s>(shelf: &'s Shelf<'_>) -> Vec<(&'s str, &'s str, Option<&'s str>)> {
    let known =
        shelf.site().models.iter().filter(|model| shelf.order.fits.figures(&model.head.id.slug).is_some());
    known.map(|model| (slug(&model.head), title(&model.head), model.data.hf_id.as_deref())).collect()
}

fn slug(head: &Head) -> &str {
    &head.id.slug
}

fn title(head: &Head) -> &str {
    &head.title.value
}

/// An entry for each error.
fn entries(shelf: &Shelf<'_>) -> Vec<String> {
    let extractors = diagnosis::shared_extractors(shelf.site(), shelf.order.sources);
    let entry = |error: &Page<ErrorData>| {
        let causes = error.data.causes.iter().filter(|cause| cause.when.is_some()).map(|cause| {
            let names = diagnosis::relevant_figures(cause, &extractors);
            (cause.id.value.clone(), json!({"title": cause.title.value, "names": names}))
        });
        json(&Entry {
            title: &error.head.title.value,
            href: file(&error.head.id.address()),
            description: shelf.describe(&error.head),
            causes: causes.collect(),
            fits: asks_for_memory(error),
        })
    };
    shelf.site().errors.iter().map(entry).collect()
}

/// What stands between the braces of an object.
fn inner(object: &str) -> &str {
    &object[1..object.len() - 1]
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data is always JSON")
}

/// Languages of code blocks that a reader can type.
const TYPED: [&str; 3] = ["bash", "powershell", "console"];

/// The first line to type that the page gives in its solutions.
fn first_command(shelf: &Shelf<'_>, error: &Page<ErrorData>) -> Option<String> {
    let outline = &error.head.body.outline;
    let is_solution = |id: &str| error.data.solutions.iter().any(|solution| solution.id.value == id);
    let start = outline.headings.iter().find(|heading| is_solution(&heading.id))?.range.end;
    let fence = outline
        .fences
        .iter()
        .find(|fence| fence.range.start > start && TYPED.contains(&fence.language.as_str()))?;
    let body = shelf.order.sources.text(error.head.body.span);
    let line = body[fence.range.clone()].lines().skip(1).map(str::trim).find(|line| {
        !line.is_empty() && !line.starts_with('#') && !line.starts_with("```") && !line.starts_with("~~~")
    })?;
    Some(line.trim_start_matches("$ ").trim_start_matches("PS> ").to_string())
}
