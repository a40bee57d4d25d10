//! Generated pages: calculator, diagnosis, search, changes, not found, redirects.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use jiff::civil::Date;
use minijinja::value::Value;
use serde::Serialize;

use crate::i18n::text;
use crate::render::address::{href, root};
use crate::render::templates::view_value;
use crate::render::views::TemplatePage;
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::site::{Head, Kind, PageId};

#[derive(Serialize)]
struct CalculatorView<'s> {
    fit: &'s serde_json::Value,
    models: Vec<Choice>,
    devices: Vec<Choice>,
    /// Related errors, by the part of the memory that is too large or by the program.
    errors: BTreeMap<&'static str, Value>,
    methodology_href: Option<String>,
}

#[derive(Serialize)]
struct Choice {
    id: String,
    title: String,
    family: String,
}

#[derive(Serialize)]
struct Day {
    date: String,
    pages: Vec<ChangedPage>,
}

#[derive(Serialize)]
struct ChangedPage {
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

fn build_page(
    cx: &RenderContext<'_>,
    meta: PageMeta<'_>,
    template: &'static str,
    name: &'static str,
    view: Value,
) -> TemplatePage {
    let address = meta.address.to_string();
    let template = template.into();
    TemplatePage { view: with_layout(cx.layout(meta), name, view), template, address }
}

/// Errors of a model that does not fit: for llama.cpp by the part that is too large, for others by program.
const WHEN_IT_DOES_NOT_FIT: [(&str, &str); 8] = [
    ("weights", "llamacpp-cuda-buffer-alloc-failed"),
    ("cache", "llamacpp-kv-cache-alloc-failed"),
    ("compute", "llamacpp-compute-buffer-failed"),
    ("metal", "metal-command-buffer-oom"),
    ("ollama", "ollama-cuda-oom-runner"),
    ("vllm-memory", "vllm-free-memory-less-than-utilization"),
    ("vllm-blocks", "vllm-no-cache-blocks"),
    ("vllm-length", "vllm-max-seq-len-exceeds-kv-cache"),
];

pub(super) fn calculator(cx: &RenderContext<'_>) -> TemplatePage {
    let address = "will-it-run/";
    let root = root(address);
    let error = |(place, slug): &(&'static str, &str)| {
        Some((*place, cx.reference(&root, &PageId::new(Kind::Error, *slug))?))
    };
    let choice = |head: &Head, family: &str| Choice {
        id: head.id.slug.clone(),
        title: head.title.value.clone(),
        family: family.to_string(),
    };
    let view = CalculatorView {
        fit: cx.fit_index,
        models: cx.site().models.iter().map(|model| choice(&model.head, &model.data.family)).collect(),
        devices: cx
            .site()
            .devices
            .iter()
            .map(|device| choice(&device.head, device.data.vendor.name()))
            .collect(),
        errors: WHEN_IT_DOES_NOT_FIT.iter().filter_map(error).collect(),
        methodology_href: cx
            .head(&PageId::new(Kind::Document, "methodology"))
            .map(|head| href(&root, &head.id.address())),
    };
    let description = cx.tr(
        "Select a model, a quantization, a context and a GPU to see how much memory it needs, whether it fits, and what would fit.",
    );
    let meta = PageMeta::listing(address, "calculator", cx.tr("Will it run?"), description);
    build_page(cx, meta, "calculator.html", "calculator", view_value(view))
}

pub(super) fn diagnose(cx: &RenderContext<'_>) -> TemplatePage {
    let description = cx.tr(
        "Paste an error or a whole log to find the pages that match it and what its figures mean. Nothing leaves your browser.",
    );
    let meta = PageMeta::listing("diagnose/", "diagnose", cx.tr("Diagnose a log"), description);
    build_page(cx, meta, "diagnose.html", "diagnose", Value::from(()))
}

pub(super) fn search(cx: &RenderContext<'_>) -> TemplatePage {
    let description = cx.tr("Search all pages by name or keywords. Pasted logs are diagnosed.");
    let meta = PageMeta::listing("search/", "search", cx.tr("Search"), description);
    build_page(cx, meta, "search.html", "search", Value::from(()))
}

/// Maximum number of pages in the list of recent changes.
const MAX_CHANGES: usize = 1000;

pub(super) fn changes(cx: &RenderContext<'_>) -> TemplatePage {
    let root = root("changes/");
    let updated = |head| cx.updated(head).map(|(day, change)| (day, head, change));
    let mut updates: Vec<(Date, &Head, Option<&str>)> = cx.site().heads().filter_map(updated).collect();
    updates.sort_by_key(|(day, ..)| Reverse(*day));
    let mut days: BTreeMap<Date, Vec<ChangedPage>> = BTreeMap::new();
    for (day, head, change) in updates.into_iter().take(MAX_CHANGES) {
        days.entry(day).or_default().push(ChangedPage {
            title: head.title.value.clone(),
            href: href(&root, &head.id.address()),
            kind: cx.tr(kind_name(head.id.kind)).into(),
            what: change.map(str::to_string),
        });
    }
    let days: Vec<Day> =
        days.into_iter().rev().map(|(date, pages)| Day { date: date.to_string(), pages }).collect();
    let description = cx.tr("Pages by date of their last change or verification, newest first.");
    let meta = PageMeta::listing("changes/", "changes", cx.tr("Recent changes"), description);
    build_page(cx, meta, "changes.html", "changes", view_value(days))
}

/// Returns the English name of a kind, in lower case.
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
        Kind::Entry => text("entry"),
        Kind::Include => text("included text"),
    }
}

pub(super) fn not_found(cx: &RenderContext<'_>) -> TemplatePage {
    let (title, description) = (cx.tr("Page not found"), cx.tr("There is no page at this address."));
    let mut meta = PageMeta::listing("404.html", "not-found", title, description);
    meta.noindex = true;
    build_page(cx, meta, "not-found.html", "not_found", Value::from(()))
}

/// Makes a page at each old address, for hosts without redirects.
pub(super) fn redirects(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let aliases = cx.site().heads().flat_map(|head| head.aliases.iter().map(move |alias| (head, alias)));
    aliases.map(|(head, alias)| redirect(cx, head, &alias.value)).collect()
}

fn redirect(cx: &RenderContext<'_>, head: &Head, alias: &str) -> TemplatePage {
    let address = format!("{}/", alias.trim_matches('/'));
    let target = head.id.address();
    let view = TargetView {
        href: href(&root(&address), &target),
        canonical: format!("{}{target}", cx.inputs.config.base_url),
        title: head.title.value.clone(),
    };
    let title = cx.fill("Moved: {page}", &[("page", &head.title.value)]);
    let mut meta = PageMeta::listing(&address, "redirect", &title, cx.tr("This page has moved."));
    meta.noindex = true;
    build_page(cx, meta, "redirect.html", "target", view_value(view))
}
