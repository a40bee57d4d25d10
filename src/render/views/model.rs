//! Model pages.

use kbgen_estimate::plan::Verdict;
use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::badges::{sentence, width_of};
use crate::render::not_covered::not_covered;
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::benchmarks::{BenchmarksLink, of_model};
use crate::render::views::chart::{Chart, chart};
use crate::render::views::common::{
    CellView, Fact, Ref, SourceView, TocLine, context_label, parameters, sources,
};
use crate::render::views::context::{PageMeta, RenderContext, neighbors, with_layout};
use crate::render::views::defaults::{CONTEXTS, DefaultRun, cards, default_quant, default_run, runs_on};
use crate::render::views::model_facts::facts;
use crate::render::views::partial::partial;
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
    license: Option<String>,
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
    verdict_summary: Option<String>,
    devices: Vec<DeviceRow>,
    device_quants: Vec<String>,
    table_context: String,
    calculator_href: String,
    choose_href: String,
    sources: Vec<SourceView>,
    backlinks: Vec<Ref>,
    benchmarks: Option<BenchmarksLink>,
}

#[derive(Serialize)]
struct ContextView {
    label: String,
    tokens: u64,
}

/// Memory by quantization and context, with one cache type.
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
    #[serde(skip)]
    memory_bytes: u64,
    quant_cells: Vec<CellView>,
}

/// Quantizations in tables of verdicts.
pub(super) const TABLE_QUANTS: [&str; 3] = [DEFAULT_QUANT, "Q8_0", "F16"];

/// Returns those of [`TABLE_QUANTS`] that the site has pages for.
pub(super) fn table_quants(cx: &RenderContext<'_>) -> Vec<String> {
    let known = TABLE_QUANTS.iter().filter(|name| cx.inputs.fits.quant(name).is_some());
    known.map(|name| (*name).to_string()).collect()
}

/// Returns the quantizations in a model's table of verdicts: those of [`TABLE_QUANTS`] that it is available in, else
/// the default one.
fn quants_of(cx: &RenderContext<'_>, model: &ModelData, figures: &Figures) -> Vec<usize> {
    let has = |quant: &usize| figures.quants[*quant].is_some();
    let quants: Vec<usize> =
        TABLE_QUANTS.iter().filter_map(|name| cx.inputs.fits.quant(name)).filter(has).collect();
    match quants.is_empty() {
        true => default_quant(cx.inputs, model, figures).into_iter().collect(),
        false => quants,
    }
}

/// Returns all models by parameter count; those without a published count come last.
pub(in crate::render) fn by_parameters<'s>(cx: &RenderContext<'s>) -> Vec<&'s Page<ModelData>> {
    let mut models: Vec<_> = cx.site().models.iter().collect();
    models.sort_by_key(|model| {
        let count = model.data.parameters.as_ref().map_or(u64::MAX, |count| count.value);
        (count, model.head.title.value.to_lowercase())
    });
    models
}

pub(super) fn build_page(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let models = &cx.site().models;
    let model = &models[at];
    let heads: Vec<&Head> = models.iter().map(|model| &model.head).collect();
    let address = model.head.id.address();
    let view = view(cx, model, &root(&address));
    let meta = PageMeta {
        address: &address,
        kind: "model",
        title: &model.head.title.value,
        description: describe(cx, &view),
        trail: vec![(cx.tr("Models").into(), "models/")],
        head: Some(&model.head),
        toc: contents(cx, &view),
        noindex: false,
    };
    let layout = cx.layout(meta, neighbors(&heads, at));
    TemplatePage { view: with_layout(layout, "model", view_value(&view)), template: "model.html", address }
}

fn describe(cx: &RenderContext<'_>, view: &ModelView) -> String {
    match &view.breakdown {
        Some(typical) => cx.fill(
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
        None => cx.fill(
            "{model}: hyperparameters and sources. Memory figures are not available yet.",
            &[("model", &view.title)],
        ),
    }
}

fn contents(cx: &RenderContext<'_>, view: &ModelView) -> Vec<TocLine> {
    let line = |id: &str, title: &str| TocLine { level: 2, id: id.into(), title: title.into() };
    let mut toc = Vec::new();
    if view.breakdown.is_some() {
        toc.push(line("typical", cx.tr("Memory at default settings")));
        toc.push(line("memory", cx.tr("Memory by quantization and context")));
    }
    if !view.devices.is_empty() {
        toc.push(line("devices", cx.tr("GPUs that run it")));
    }
    toc.push(line("facts", cx.tr("Facts")));
    if !view.backlinks.is_empty() {
        toc.push(line("backlinks", cx.tr("Pages that link here")));
    }
    toc
}

fn view(cx: &RenderContext<'_>, model: &Page<ModelData>, root: &str) -> ModelView {
    let data = &model.data;
    let slug = &model.head.id.slug;
    let fit = cx.inputs.fits.models.get(slug);
    let reason = match fit {
        Some(ModelFit::NotCovered(reason)) => Some(not_covered(cx.texts(), reason).to_string()),
        None => Some(cx.tr("no figures were computed").into()),
        Some(ModelFit::Covered(_)) => None,
    };
    let figures = cx.inputs.fits.figures(slug);
    let contexts = contexts(data.architecture.fields.max_ctx);
    let breakdown = default_run(cx.inputs, model).as_ref().map(|run| breakdown(cx, run));
    let devices = figures.map(|figures| devices(cx, root, data, figures)).unwrap_or_default();
    ModelView {
        title: model.head.title.value.clone(),
        family: data.family.clone(),
        hf_href: data.hf_id.as_ref().map(|id| format!("https://huggingface.co/{id}")),
        hf_id: data.hf_id.clone(),
        license: data.license().map(str::to_string),
        released: data.released.map(|date| date.to_string()),
        parameters: data.parameters.as_ref().map(|count| parameters(count.value)),
        parameters_note: data.parameters_note.clone(),
        note: data.note.clone(),
        body_html: html(cx.body(&model.head).html()),
        facts: facts(cx, model, cx.inputs.fits.parameters.get(slug).copied()),
        covered: figures.is_some(),
        reason,
        memory: figures.map(|figures| memory(cx, root, figures, &contexts)).unwrap_or_default(),
        verdict_summary: breakdown.as_ref().and_then(|run| verdict_summary(cx, run, &devices)),
        breakdown,
        badge: badge(cx, model, root),
        chart: figures.and_then(|figures| chart(cx, figures, data.released_as.as_ref())),
        devices,
        device_quants: figures.map(|figures| names(cx, data, figures)).unwrap_or_default(),
        table_context: format_count(DEFAULT_CTX),
        contexts: contexts
            .into_iter()
            .map(|tokens| ContextView { label: context_label(tokens), tokens })
            .collect(),
        // Opens the calculator with the figures of this page.
        calculator_href: format!("{}?model={slug}", href(root, "will-it-run/")),
        choose_href: format!("{}?model={slug}", href(root, "choose-gpu/")),
        sources: sources(cx.texts(), &data.evidence),
        backlinks: cx.backlinks(root, &model.head.id, &[]),
        benchmarks: of_model(cx, root, slug, &model.head.title.value),
    }
}

fn contexts(max: u64) -> Vec<u64> {
    let mut contexts: Vec<u64> = CONTEXTS.into_iter().filter(|context| *context <= max).collect();
    if contexts.is_empty() {
        contexts.push(max);
    }
    contexts
}

/// Returns a table for each covered cache type.
fn memory(cx: &RenderContext<'_>, root: &str, figures: &Figures, contexts: &[u64]) -> Vec<MemoryView> {
    let tables = CACHE_TYPES.into_iter().enumerate().map(|(cache, kv_type)| {
        let rows = cx.inputs.fits.quants.iter().enumerate().filter_map(|(quant, name)| {
            let cell = |ctx: &u64| figures.total(quant, Run::plain(cache), *ctx).map(gib);
            let cells = contexts.iter().map(cell).collect::<Option<Vec<String>>>()?;
            let page = cx.site().quants.iter().find(|page| page.data.gguf_type.value == *name);
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

/// Splits the memory of the default settings into its parts.
fn breakdown(cx: &RenderContext<'_>, run: &DefaultRun) -> Breakdown {
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
        context: cx.fill("{n} tokens", &[("n", &format_count(run.ctx))]),
        weights: gib(run.weights),
        kv: gib(run.kv),
        compute: gib(run.compute),
        total: gib(total),
        parts: vec![
            part("weights", cx.tr("Weights"), run.weights),
            part("kv", cx.tr("KV cache"), run.kv),
            part("compute", cx.tr("Compute buffer"), run.compute),
        ],
    }
}

/// Returns the badge with the Markdown for a README.
fn badge(cx: &RenderContext<'_>, model: &Page<ModelData>, root: &str) -> Option<BadgeView> {
    let answer = runs_on(cx.inputs, model)?;
    let base = &cx.inputs.config.base_url;
    let says = sentence(cx.texts(), &model.head.title.value, &answer);
    let plain = says.replace(['[', ']'], "");
    Some(BadgeView {
        src: format!("{root}{}", answer.badge),
        width: width_of(cx.texts(), &answer),
        markdown: format!("[![{plain}]({base}{})]({base}{})", answer.badge, model.head.id.address()),
        says,
    })
}

/// Returns the names of the quantizations in a model's table of verdicts.
fn names(cx: &RenderContext<'_>, model: &ModelData, figures: &Figures) -> Vec<String> {
    quants_of(cx, model, figures).into_iter().map(|quant| cx.inputs.fits.quants[quant].clone()).collect()
}

/// Returns verdicts for a model on a device, by quantization.
pub(super) fn cells(
    cx: &RenderContext<'_>,
    model: &ModelData,
    figures: &Figures,
    memory: &DeviceMemory,
) -> Vec<CellView> {
    let fits = cx.inputs.fits;
    let ctx = DEFAULT_CTX.min(figures.max_ctx);
    let usual = default_quant(cx.inputs, model, figures);
    let cell = |quant: usize| {
        let total = figures.total_range(quant, Run::plain(0), ctx, memory.backends)?;
        let verdict = memory.verdict(total);
        // The same quantization as on the page of models by memory.
        let in_part = match verdict {
            Verdict::No if Some(quant) == usual => partial(cx, figures, quant, ctx, memory),
            _ => None,
        };
        let largest = || figures.largest_context(quant, Run::plain(0), memory);
        Some(CellView {
            quant: fits.quants[quant].clone(),
            verdict: if in_part.is_some() { "part" } else { verdict.name() },
            note: match verdict {
                Verdict::Fits => largest().map(|ctx| cx.fill("to {n}", &[("n", &format_count(ctx))])),
                _ => in_part,
            },
        })
    };
    quants_of(cx, model, figures).into_iter().filter_map(cell).collect()
}

/// Describes the smallest memory sizes on which the default quantization fits, as a whole and in part.
fn verdict_summary(cx: &RenderContext<'_>, run: &Breakdown, devices: &[DeviceRow]) -> Option<String> {
    let smallest = |verdict: &str| {
        let has_verdict = |cell: &CellView| cell.quant == run.quant && cell.verdict == verdict;
        let rows = devices.iter().filter(|device| device.quant_cells.iter().any(has_verdict));
        rows.min_by_key(|device| device.memory_bytes)
    };
    let (whole, part) = (smallest("fits"), smallest("part"));
    let part = part.filter(|part| whole.is_none_or(|whole| part.memory_bytes < whole.memory_bytes));
    let texts = [
        whole.map(|device| {
            cx.fill(
                "At {quant} and a context of {context}, it fits a GPU with {size}.",
                &[("quant", &run.quant), ("context", &run.context), ("size", &device.memory)],
            )
        }),
        part.map(|device| {
            cx.fill("With a part of it in RAM, a GPU with {size} is enough.", &[("size", &device.memory)])
        }),
    ];
    let text = texts.into_iter().flatten().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

/// Returns verdicts for a model on common GPUs: those that run it first, by memory.
fn devices(cx: &RenderContext<'_>, root: &str, model: &ModelData, figures: &Figures) -> Vec<DeviceRow> {
    let rows = cards(cx.inputs).into_iter();
    let mut rows: Vec<DeviceRow> = rows
        .map(|device| DeviceRow {
            title: device.head.title.value.clone(),
            href: href(root, &device.head.id.address()),
            memory: format!("{} GB", device.data.memory_gb),
            memory_bytes: device.data.memory_bytes(),
            quant_cells: cells(cx, model, figures, &device.data.memory()),
        })
        .collect();
    rows.sort_by_key(|row| verdict_rank(&row.quant_cells));
    rows
}

/// Returns the rank of a row by its best verdict, the best first.
pub(super) fn verdict_rank(cells: &[CellView]) -> usize {
    let has = |verdict: &&str| cells.iter().any(|cell| cell.verdict == *verdict);
    ["fits", "tight", "part"].iter().position(has).unwrap_or(3)
}
