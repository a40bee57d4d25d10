//! Pages of kbgen's own: calculator, diagnosis, search, changes, the page for what is not there, redirects.

use std::collections::BTreeMap;

use jiff::civil::Date;
use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::seen;
use crate::render::views::Leaf;
use crate::render::views::common::Ref;
use crate::render::views::shelf::{Plate, Shelf, with_frame};
use crate::site::{Head, Kind, PageId};
use crate::texts::text;

#[derive(Serialize)]
struct CalculatorView<'s> {
    fit: &'s serde_json::Value,
    models: Vec<Named>,
    devices: Vec<Named>,
    /// By the part of the memory that is too large, or the program that says so.
    errors: BTreeMap<&'static str, Ref>,
    methodology_href: Option<String>,
}

#[derive(Serialize)]
struct Named {
    id: String,
    title: String,
    family: String,
}

#[derive(Serialize)]
struct Day {
    date: String,
    pages: Vec<Change>,
}

#[derive(Serialize)]
struct Change {
    title: String,
    href: String,
    kind: String,
    what: Option<String>,
}

#[derive(Serialize)]
struct TargetView {
    href: String,
    canonical: String,
    title: String,
}

fn leaf(
    shelf: &Shelf<'_>,
    plate: Plate<'_>,
    template: &'static str,
    name: &'static str,
    view: Value,
) -> Leaf {
    let address = plate.address.to_string();
    Leaf { view: with_frame(shelf.frame(plate, (None, None)), name, view), template, address }
}

/// The errors that a reader meets when a model does not fit: of llama.cpp by the part that is too large, of the others
/// by the program.
const WHEN_IT_DOES_NOT_FIT: [(&str, &str); 7] = [
    ("weights", "llamacpp-cuda-buffer-alloc-failed"),
    ("cache", "llamacpp-kv-cache-alloc-failed"),
    ("compute", "llamacpp-compute-buffer-failed"),
    ("ollama", "ollama-cuda-oom-runner"),
    ("vllm-memory", "vllm-free-memory-less-than-utilization"),
    ("vllm-blocks", "vllm-no-cache-blocks"),
    ("vllm-length", "vllm-max-seq-len-exceeds-kv-cache"),
];

pub(super) fn calculator(shelf: &Shelf<'_>) -> Leaf {
    let address = "will-it-run/";
    let root = root(address);
    let error = |(place, slug): &(&'static str, &str)| {
        Some((*place, shelf.reference(&root, &PageId::new(Kind::Error, *slug))?))
    };
    let named = |head: &Head, family: &str| Named {
        id: head.id.slug.clone(),
        title: head.title.value.clone(),
        family: family.to_string(),
    };
    let view = CalculatorView {
        fit: shelf.fit_index,
        models: shelf.site().models.iter().map(|model| named(&model.head, &model.data.family)).collect(),
        devices: shelf
            .site()
            .devices
            .iter()
            .map(|device| named(&device.head, device.data.vendor.name()))
            .collect(),
        errors: WHEN_IT_DOES_NOT_FIT.iter().filter_map(error).collect(),
        methodology_href: shelf
            .head(&PageId::new(Kind::Document, "methodology"))
            .map(|head| href(&root, &head.id.address())),
    };
    let description = shelf.say(
        "Choose a model, a quantization, a context and a card: what it needs, part by part, whether it fits, and what \
         would.",
    );
    let plate = Plate::listing(address, "calculator", shelf.say("Will it run?"), description);
    leaf(shelf, plate, "calculator.html", "calculator", seen(view))
}

pub(super) fn diagnose(shelf: &Shelf<'_>) -> Leaf {
    let description = shelf.say(
        "Paste an error or a whole log: the pages that know it, the figures in it, and what they say. Nothing leaves \
         your browser.",
    );
    let plate = Plate::listing("diagnose/", "diagnose", shelf.say("Diagnose a log"), description);
    leaf(shelf, plate, "diagnose.html", "diagnose", Value::from(()))
}

pub(super) fn search(shelf: &Shelf<'_>) -> Leaf {
    let description = shelf.say(
        "Errors, models, cards and machines, guides and terms, by their names or by a few words. A pasted log goes to \
         diagnosis.",
    );
    let plate = Plate::listing("search/", "search", shelf.say("Search"), description);
    leaf(shelf, plate, "search.html", "search", Value::from(()))
}

pub(super) fn changes(shelf: &Shelf<'_>) -> Leaf {
    let root = root("changes/");
    let mut days: BTreeMap<Date, Vec<Change>> = BTreeMap::new();
    for head in shelf.site().heads() {
        if let Some((day, change)) = shelf.updated(head) {
            days.entry(day).or_default().push(Change {
                title: head.title.value.clone(),
                href: href(&root, &head.id.address()),
                kind: shelf.say(kind_name(head.id.kind)).into(),
                what: change.map(str::to_string),
            });
        }
    }
    let days: Vec<Day> =
        days.into_iter().rev().map(|(date, pages)| Day { date: date.to_string(), pages }).collect();
    let description =
        shelf.say("Pages by the day on which they were last written, verified or changed, the latest first.");
    let plate = Plate::listing("changes/", "changes", shelf.say("What changed"), description);
    leaf(shelf, plate, "changes.html", "changes", seen(days))
}

/// What a page is, in one word.
fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Error => text("error"),
        Kind::Category => text("category"),
        Kind::Tool => text("tool"),
        Kind::Guide => text("guide"),
        Kind::Model => text("model"),
        Kind::Hardware => text("hardware"),
        Kind::Quant => text("quant"),
        Kind::Term => text("term"),
        Kind::Extractor => text("extractor"),
        Kind::Reading => text("reading"),
        Kind::Document => text("page"),
    }
}

pub(super) fn not_found(shelf: &Shelf<'_>) -> Leaf {
    let (title, description) = (shelf.say("No such page"), shelf.say("This address leads to no page."));
    let mut plate = Plate::listing("404.html", "not-found", title, description);
    plate.noindex = true;
    leaf(shelf, plate, "not-found.html", "not_found", Value::from(()))
}

/// A page at each old address, for hosts that know no redirects.
pub(super) fn redirects(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let aliases = shelf.site().heads().flat_map(|head| head.aliases.iter().map(move |alias| (head, alias)));
    aliases.map(|(head, alias)| redirect(shelf, head, &alias.value)).collect()
}

fn redirect(shelf: &Shelf<'_>, head: &Head, alias: &str) -> Leaf {
    let address = format!("{}/", alias.trim_matches('/'));
    let target = head.id.address();
    let view = TargetView {
        href: href(&root(&address), &target),
        canonical: format!("{}{target}", shelf.order.config.base_url),
        title: head.title.value.clone(),
    };
    let title = shelf.fill("Moved: {page}", &[("page", &head.title.value)]);
    let mut plate = Plate::listing(&address, "redirect", &title, shelf.say("This page has moved."));
    plate.noindex = true;
    leaf(shelf, plate, "redirect.html", "target", seen(view))
}
