//! Model pages.

use kbgen_estimate::plan::Verdict;
use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::badges::{sentence, width_of};
use crate::render::reasons::not_covered;
use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::chart::{Chart, chart};
use crate::render::views::common::{CellView, Fact, Ref, SourceView, TocLine, context, parameters, sources};
use crate::render::views::model_facts::facts;
use crate::render::views::partial::partial;
use crate::render::views::shelf::{Plate, Shelf, neighbours, with_frame};
use crate::render::views::usual::{CONTEXTS, UsualRun, cards, runs_on, usual_quant, usual_run};
use crate::site::kinds::ModelData;
use crate::site::{
    CACHE_TYPES, DEFAULT_CTX, DEFAULT_QUANT, DeviceMemory, Figures, Head, ModelFit, Page, Run, format_count,
    gib,
};

#[derive(Serialize)]
struct ModelView {
    title: String,
    family: String,
    hf_id: Option<String>,
    hf_href: Option<String>,
    licence: Option<String>,
    released: Option<String>,
    parameters: Option<String>,
    parameters_note: Option<String>,
    note: Option<String>,
    body_html: Value,
    facts: Vec<Fact>,
    covered: bool,
    reason: Option<String>,
    contexts: Vec<ContextView>,
    memory: Vec<MemoryView>,
    breakdown: Option<Breakdown>,
    chart: Option<Chart>,
    badge: Option<BadgeView>,
    devices: Vec<DeviceRow>,
    device_quants: Vec<String>,
    table_context: String,
    calculator_href: String,
    choose_href: String,
    sources: Vec<SourceView>,
    backlinks: Vec<Ref>,
}

#[derive(Serialize)]
struct ContextView {
    label: String,
    tokens: u64,
}

/// Totals by quantization and context, with one type of cache.
#[derive(Serialize)]
struct MemoryView {
    kv_type: &'static str,
    rows: Vec<MemoryRow>,
}

#[derive(Serialize)]
struct MemoryRow {
    quant: String,
    quant_href: String,
    file: String,
    cells: Vec<String>,
}

#[derive(Serialize)]
struct Breakdown {
    quant: String,
    context: String,
    weights: String,
    kv: String,
    compute: String,
    total: String,
    parts: Vec<PartView>,
}

#[derive(Serialize)]
struct BadgeView {
    src: String,
    width: usize,
    says: String,
    markdown: String,
}

#[derive(Serialize)]
struct PartView {
    name: &'static str,
    label: String,
    text: String,
    share: f64,
}

#[derive(Serialize)]
struct DeviceRow {
    title: String,
    href: String,
    memory: String,
    quant_cells: Vec<CellView>,
}

/// Quantizations of verdicts in tables.
pub(super) const TABLE_QUANTS: [&str; 3] = [DEFAULT_QUANT, "Q8_0", "F16"];

/// Those of [`TABLE_QUANTS`] that the site has pages for.
pub(super) fn table_quants(shelf: &Shelf<'_>) -> Vec<String> {
    let known = TABLE_QUANTS.iter().filter(|name| shelf.order.fits.quant(name).is_some());
    known.map(|name| (*name).to_string()).collect()
}

/// Quantizations of a model's verdicts: those of [`TABLE_QUANTS`] that it comes in, else the usual one.
fn quants_of(shelf: &Shelf<'_>, model: &ModelData, figures: &Figures) -> Vec<usize> {
    let has = |quant: &usize| figures.quants[*quant].is_some();
    let quants: Vec<usize> =
        TABLE_QUANTS.iter().filter_map(|name| shelf.order.fits.quant(name)).filter(has).collect();
    match quants.is_empty() {
        true => usual_quant(shelf.order, model, figures).into_iter().collect(),
        false => quants,
    }
}

/// All models, the smallest first; those whose parameters nobody published come last.
pub(in crate::render) fn by_parameters<'s>(shelf: &Shelf<'s>) -> Vec<&'s Page<ModelData>> {
    let mut models: Vec<_> = shelf.site().models.iter().collect();
    models.sort_by_key(|model| {
        (
            model.data.parameters.as_ref().map_or(u64::MAX, |count| count.value),
            model.head.title.value.to_lowercase(),
        )
    });
    models
}

pub(super) fn leaf(shelf: &Shelf<'_>, at: usize) -> Leaf {
    let models = &shelf.site().models;
    let model = &models[at];
    let heads: Vec<&Head> = models.iter().map(|model| &model.head).collect();
    let address = model.head.id.address();
    let view = view(shelf, model, &root(&address));
    let plate = Plate {
        address: &address,
        kind: "model",
        title: &model.head.title.value,
        description: describe(shelf, &view),
        trail: vec![(shelf.say("Models").into(), "models/")],
        head: Some(&model.head),
        toc: contents(shelf, &view),
        noindex: false,
    };
    let frame = shelf.frame(plate, neighbours(&heads, at));
    Leaf { view: with_frame(frame, "model", seen(&view)), template: "model.html", address }
}

fn describe(shelf: &Shelf<'_>, view: &ModelView) -> String {
    match &view.breakdown {
        Some(typical) => shelf.fill(
            "{model} needs {total} on the GPU at {quant} and a context of {context}: weights {weights}, KV cache {cache}, compute buffer {compute}.",
            &[
                ("model", &view.title),
                ("total", &typical.total),
                ("quant", &typical.quant),
                ("context", &typical.context),
                ("weights", &typical.weights),
                ("cache", &typical.kv),
                ("compute", &typical.compute),
            ],
        ),
        None => shelf.fill(
            "{model}: hyperparameters and sources. Its memory is not covered yet.",
            &[("model", &view.title)],
        ),
    }
}

fn contents(shelf: &Shelf<'_>, view: &ModelView) -> Vec<TocLine> {
    let line = |id: &str, title: &str| TocLine { level: 2, id: id.into(), title: title.into() };
    let mut toc = Vec::new();
    if view.breakdown.is_some() {
        toc.push(line("typical", shelf.say("What a typical run holds")));
        toc.push(line("memory", shelf.say("Memory by quantization and context")));
    }
    if !view.devices.is_empty() {
        toc.push(line("devices", shelf.say("Which cards run it")));
    }
    if !view.backlinks.is_empty() {
        toc.push(line("backlinks", shelf.say("Pages that point here")));
    }
    toc
}

fn view(shelf: &Shelf<'_>, model: &Page<ModelData>, root: &str) -> ModelView {
    let data = &model.data;
    let slug = &model.head.id.slug;
    let fit = shelf.order.fits.models.get(slug);
    let reason = match fit {
        Some(ModelFit::NotCovered(reason)) => Some(not_covered(shelf.texts(), reason).to_string()),
        None => Some(shelf.say("no figures were computed").into()),
        Some(ModelFit::Covered(_)) => None,
    };
    let figures = shelf.order.fits.figures(slug);
    let contexts = contexts(data.architecture.fields.max_ctx);
    ModelView {
        title: model.head.title.value.clone(),
        family: data.family.clone(),
        hf_href: data.hf_id.as_ref().map(|id| format!("https://huggingface.co/{id}")),
        hf_id: data.hf_id.clone(),
        licence: data.licence.clone(),
        released: data.released.map(|date| date.to_string()),
        parameters: data.parameters.as_ref().map(|count| parameters(count.value)),
        parameters_note: data.parameters_note.clone(),
        note: data.note.clone(),
        body_html: html(shelf.body(&model.head).html()),
        facts: facts(shelf, model, shelf.order.fits.parameters.get(slug).copied()),
        covered: figures.is_some(),
        reason,
        memory: figures.map(|figures| memory(shelf, root, figures, &contexts)).unwrap_or_default(),
        breakdown: usual_run(shelf.order, model).as_ref().map(|run| breakdown(shelf, run)),
        badge: badge(shelf, model, root),
        chart: figures.and_then(|figures| chart(shelf, figures, data.released_as.as_ref())),
        devices: figures.map(|figures| devices(shelf, root, data, figures)).unwrap_or_default(),
        device_quants: figures.map(|figures| names(shelf, data, figures)).unwrap_or_default(),
        table_context: DEFAULT_CTX.to_string(),
        contexts: contexts.into_iter().map(|tokens| ContextView { label: context(tokens), tokens }).collect(),
        // so that the calculator begins with the figures of this page
        calculator_href: format!("{}?model={slug}", href(root, "will-it-run/")),
        choose_href: format!("{}?model={slug}", href(root, "choose-gpu/")),
        sources: sources(shelf.texts(), &data.evidence),
        backlinks: shelf.backlinks(root, &model.head.id, &[]),
    }
}

fn contexts(max: u64) -> Vec<u64> {
    let mut contexts: Vec<u64> = CONTEXTS.into_iter().filter(|context| *context <= max).collect();
    if contexts.is_empty() {
        contexts.push(max);
    }
    contexts
}

/// A table for each type of cache that is covered.
fn memory(shelf: &Shelf<'_>, root: &str, figures: &Figures, contexts: &[u64]) -> Vec<MemoryView> {
    let tables = CACHE_TYPES.into_iter().enumerate().map(|(cache, kv_type)| {
        let rows = shelf.order.fits.quants.iter().enumerate().filter_map(|(quant, name)| {
            let cell = |ctx: &u64| figures.total(quant, Run::plain(cache), *ctx).map(gib);
            let cells = contexts.iter().map(cell).collect::<Option<Vec<String>>>()?;
            let page = shelf.site().quants.iter().find(|page| page.data.gguf_type.value == *name);
            Some(MemoryRow {
                quant: name.clone(),
                quant_href: page.map(|page| href(root, &page.head.id.address())).unwrap_or_default(),
                file: gib(figures.quants[quant].as_ref()?.file),
                cells,
            })
        });
        MemoryView { kv_type, rows: rows.collect() }
    });
    tables.filter(|table| !table.rows.is_empty()).collect()
}

/// Parts of what the usual run takes.
fn breakdown(shelf: &Shelf<'_>, run: &UsualRun) -> Breakdown {
    let total = run.total();
    let share = |bytes: u64| (bytes as f64 * 10_000.0 / total as f64).round() / 100.0;
    let part = |name, label: &str, bytes| PartView {
        name,
        label: label.to_string(),
        text: gib(bytes),
        share: share(bytes),
    };
    Breakdown {
        quant: run.quant_name.clone(),
        context: shelf.fill("{n} tokens", &[("n", &format_count(run.ctx))]),
        weights: gib(run.weights),
        kv: gib(run.kv),
        compute: gib(run.compute),
        total: gib(total),
        parts: vec![
            part("weights", shelf.say("Weights"), run.weights),
            part("kv", shelf.say("KV cache"), run.kv),
            part("compute", shelf.say("Compute buffer"), run.compute),
        ],
    }
}

/// The badge, with what a README elsewhere has to hold for it.
fn badge(shelf: &Shelf<'_>, model: &Page<ModelData>, root: &str) -> Option<BadgeView> {
    let answer = runs_on(shelf.order, model)?;
    let base = &shelf.order.config.base_url;
    let says = sentence(shelf.texts(), &model.head.title.value, &answer);
    let plain = says.replace(['[', ']'], "");
    Some(BadgeView {
        src: format!("{root}{}", answer.badge),
        width: width_of(shelf.texts(), &answer),
        markdown: format!("[![{plain}]({base}{})]({base}{})", answer.badge, model.head.id.address()),
        says,
    })
}

/// Names of the quantizations of a model's verdicts.
fn names(shelf: &Shelf<'_>, model: &ModelData, figures: &Figures) -> Vec<String> {
    quants_of(shelf, model, figures).into_iter().map(|quant| shelf.order.fits.quants[quant].clone()).collect()
}

/// Verdicts for a model on a device, by quantization.
pub(super) fn cells(
    shelf: &Shelf<'_>,
    model: &ModelData,
    figures: &Figures,
    memory: &DeviceMemory,
) -> Vec<CellView> {
    let fits = shelf.order.fits;
    let ctx = DEFAULT_CTX.min(figures.max_ctx);
    let usual = usual_quant(shelf.order, model, figures);
    let cell = |quant: usize| {
        let total = figures.total_range(quant, Run::plain(0), ctx, memory.backends)?;
        let verdict = memory.verdict(total);
        // the quantization that the page of models by memory speaks of as well
        let in_part = match verdict {
            Verdict::No if Some(quant) == usual => partial(shelf, figures, quant, ctx, memory),
            _ => None,
        };
        let largest = || figures.largest_context(quant, Run::plain(0), memory);
        Some(CellView {
            quant: fits.quants[quant].clone(),
            verdict: if in_part.is_some() { "part" } else { verdict.name() },
            note: match verdict {
                Verdict::Fits => largest().map(|ctx| shelf.fill("to {n}", &[("n", &format_count(ctx))])),
                _ => in_part,
            },
        })
    };
    quants_of(shelf, model, figures).into_iter().filter_map(cell).collect()
}

/// What becomes of a model on the usual cards.
fn devices(shelf: &Shelf<'_>, root: &str, model: &ModelData, figures: &Figures) -> Vec<DeviceRow> {
    cards(shelf.order)
        .into_iter()
        .map(|device| DeviceRow {
            title: device.head.title.value.clone(),
            href: href(root, &device.head.id.address()),
            memory: format!("{} GB", device.data.memory_gb),
            quant_cells: cells(shelf, model, figures, &device.data.memory()),
        })
        .collect()
}
