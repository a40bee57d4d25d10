//! Model pages.

use minijinja::value::Value;
use serde::Serialize;

use crate::markdown::TocEntry;
use crate::render::address::{href, root};
use crate::render::badges::{sentence, width_of};
use crate::render::not_covered::not_covered;
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::benchmarks::{BenchmarksLink, of_model};
use crate::render::views::chart::{Chart, chart};
use crate::render::views::common::{Fact, SourceView, context_label, parameters, sources};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::defaults::{CONTEXTS, DefaultRun, default_run};
use crate::render::views::model_facts::facts;
use crate::render::views::verdicts::{SizeRow, quants_of, sizes, verdict_summary};
use crate::site::kinds::ModelData;
use crate::site::{CACHE_TYPES, DEFAULT_CTX, Figures, ModelFit, Page, Run, format_count, gib};

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
    sizes: Vec<SizeRow>,
    too_small: Vec<String>,
    slug: String,
    device_quants: Vec<String>,
    table_context: String,
    calculator_href: String,
    choose_href: String,
    sources: Vec<SourceView>,
    backlinks: Vec<Value>,
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

/// Returns the models that write text by parameter count; those without a published count come last.
pub(in crate::render) fn by_parameters<'s>(cx: &RenderContext<'s>) -> Vec<&'s Page<ModelData>> {
    let mut models: Vec<_> = cx.site().models.iter().filter(|model| model.data.writes_text()).collect();
    models.sort_by_key(|model| {
        let count = model.data.parameters.as_ref().map_or(u64::MAX, |count| count.value);
        (count, model.head.title.value.to_lowercase())
    });
    models
}

pub(super) fn build_page(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let model = &cx.site().models[at];
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
    let layout = cx.layout(meta);
    TemplatePage {
        view: with_layout(layout, "model", view_value(&view)),
        template: "model.html".into(),
        address,
    }
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

fn contents(cx: &RenderContext<'_>, view: &ModelView) -> Vec<TocEntry> {
    let line = |id: &str, title: &str| TocEntry { level: 2, id: id.into(), title: title.into() };
    let mut toc = Vec::new();
    if view.breakdown.is_some() {
        toc.push(line("typical", cx.tr("Memory at default settings")));
    }
    if !view.sizes.is_empty() {
        toc.push(line("devices", cx.tr("GPUs that run it")));
    }
    if view.breakdown.is_some() {
        toc.push(line("memory", cx.tr("Memory by quantization and context")));
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
    let (sizes, too_small) = figures.map(|figures| sizes(cx, root, data, figures)).unwrap_or_default();
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
        verdict_summary: figures.and_then(|figures| verdict_summary(cx, data, figures)),
        breakdown,
        badge: badge(cx, model, root),
        chart: figures.and_then(|figures| chart(cx, figures, data.released_as.as_ref())),
        sizes,
        too_small,
        slug: slug.clone(),
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
    let answer = cx.runs_on(model)?;
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
