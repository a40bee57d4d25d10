//! Model pages.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::badges::{sentence, width_of};
use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::chart::{Chart, chart};
use crate::render::views::common::{CellView, Fact, Ref, SourceView, TocLine, context, parameters, sources};
use crate::render::views::shelf::{Plate, Shelf, neighbours, with_frame};
use crate::render::views::usual::{CONTEXTS, UsualRun, cards, runs_on, usual_run};
use crate::site::kinds::ModelData;
use crate::site::{CACHE_TYPES, Figures, Head, ModelFit, Page, Parameters, Run, Verdict, gib, tokens};

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
    label: &'static str,
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

/// Context of verdicts in tables.
pub(super) const TABLE_CTX: u64 = 4096;

/// Quantizations of verdicts in tables.
pub(super) const TABLE_QUANTS: [&str; 3] = ["Q4_K_M", "Q8_0", "F16"];

/// Those of [`TABLE_QUANTS`] that the site has pages for.
pub(super) fn table_quants(shelf: &Shelf<'_>) -> Vec<String> {
    let known = TABLE_QUANTS.iter().filter(|name| shelf.order.fits.quant(name).is_some());
    known.map(|name| (*name).to_string()).collect()
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

pub(super) fn leaves(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let models = &shelf.site().models;
    let heads: Vec<&Head> = models.iter().map(|model| &model.head).collect();
    let wanted = models.iter().enumerate().filter(|(_, model)| shelf.wants(&model.head));
    wanted.map(|(at, model)| leaf(shelf, model, neighbours(&heads, at))).collect()
}

fn leaf(shelf: &Shelf<'_>, model: &Page<ModelData>, beside: (Option<&Head>, Option<&Head>)) -> Leaf {
    let address = model.head.id.address();
    let view = view(shelf, model, &root(&address));
    let plate = Plate {
        address: &address,
        kind: "model",
        title: &model.head.title.value,
        description: describe(&view),
        trail: vec![("Models".into(), "models/")],
        head: Some(&model.head),
        toc: contents(&view),
        noindex: false,
    };
    let frame = shelf.frame(plate, beside);
    Leaf { view: with_frame(frame, "model", seen(&view)), template: "model.html", address }
}

fn describe(view: &ModelView) -> String {
    match &view.breakdown {
        Some(typical) => format!(
            "{} needs {} on the GPU at {} and a context of {}: weights {}, KV cache {}, compute buffer {}.",
            view.title,
            typical.total,
            typical.quant,
            typical.context,
            typical.weights,
            typical.kv,
            typical.compute
        ),
        None => format!("{}: hyperparameters and sources. Its memory is not covered yet.", view.title),
    }
}

fn contents(view: &ModelView) -> Vec<TocLine> {
    let line = |id: &str, title: &str| TocLine { level: 2, id: id.into(), title: title.into() };
    let mut toc = Vec::new();
    if view.breakdown.is_some() {
        toc.push(line("typical", "What a typical run holds"));
        toc.push(line("memory", "Memory by quantization and context"));
    }
    if !view.devices.is_empty() {
        toc.push(line("devices", "Which cards run it"));
    }
    if !view.backlinks.is_empty() {
        toc.push(line("backlinks", "Pages that point here"));
    }
    toc
}

fn view(shelf: &Shelf<'_>, model: &Page<ModelData>, root: &str) -> ModelView {
    let data = &model.data;
    let slug = &model.head.id.slug;
    let fit = shelf.order.fits.models.get(slug);
    let reason = match fit {
        Some(ModelFit::NotCovered(reason)) => Some(reason.clone()),
        None => Some("no figures were computed".into()),
        Some(ModelFit::Covered(_)) => None,
    };
    let figures = shelf.order.fits.figures(slug);
    let contexts = contexts(data.architecture.count("max_ctx").unwrap_or(0));
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
        facts: facts(model, shelf.order.fits.parameters.get(slug).copied()),
        covered: figures.is_some(),
        reason,
        memory: figures.map(|figures| memory(shelf, root, figures, &contexts)).unwrap_or_default(),
        breakdown: usual_run(shelf.order, model).as_ref().map(breakdown),
        badge: badge(shelf, model, root),
        chart: figures.and_then(|figures| chart(shelf, figures, data.released_as.as_ref())),
        devices: figures.map(|figures| devices(shelf, root, figures)).unwrap_or_default(),
        device_quants: table_quants(shelf),
        contexts: contexts.into_iter().map(|tokens| ContextView { label: context(tokens), tokens }).collect(),
        // so that the calculator begins with the figures of this page
        calculator_href: format!("{}?model={slug}&run=library", href(root, "will-it-run/")),
        choose_href: format!("{}?model={slug}", href(root, "choose-gpu/")),
        sources: sources(&data.evidence),
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

fn facts(model: &Page<ModelData>, counted: Option<Parameters>) -> Vec<Fact> {
    let data = &model.data;
    let published = data.parameters.as_ref().map(|count| parameters(count.value));
    let loaded =
        counted.map(|counted| parameters(counted.held)).filter(|told| published.as_ref() != Some(told));
    let active = counted.filter(|counted| counted.active < counted.held);
    let count = |name| data.architecture.count(name);
    let attention = match (count("heads"), count("kv_heads")) {
        (Some(heads), _) if count("mla_kv_lora").is_some() => {
            Some(format!("{heads} heads over one compressed cache"))
        }
        (Some(heads), Some(kv)) if heads == kv => {
            Some(format!("{heads} heads, each with its own keys and values"))
        }
        (Some(heads), Some(kv)) => Some(format!("{heads} heads share {kv} KV heads")),
        _ => None,
    };
    let experts = count("experts").map(|all| match count("experts_used") {
        Some(used) => format!("{all}, of which {used} for a token"),
        None => all.to_string(),
    });
    [
        Fact::known("Family", Some(data.family.clone())),
        Fact::known("Parameters", published),
        Fact::known("Parameters loaded", loaded.map(|told| format!("{told}, counted from the tensors"))),
        Fact::known(
            "Active for a token",
            active.map(|counted| format!("{}, counted", parameters(counted.active))),
        ),
        Fact::known("Layers", Some(data.architecture.layer_count().to_string())),
        Fact::known("Kinds of layer", kinds(model)),
        Fact::known("Attention", attention),
        Fact::known("Head width", count("head_dim").map(|width| width.to_string())),
        Fact::known(
            "Sliding window",
            count("sliding_window").map(|window| format!("{} tokens", tokens(window))),
        ),
        Fact::known("Experts", experts),
        Fact::known("Vocabulary", count("vocab").map(tokens)),
        Fact::known("Largest context", count("max_ctx").map(|max| format!("{} tokens", tokens(max)))),
        Fact::known("GGUF architecture", data.architecture.name.as_ref().map(|name| name.value.clone())),
        Fact::known("Released as", data.released_as.as_ref().map(|name| name.value.clone())),
        Fact::known("License", data.licence.clone()),
        Fact::known("Released", data.released.map(|date| date.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// What the layers keep of earlier tokens, where they are not all alike: `40 sliding window, 8 full attention`.
fn kinds(model: &Page<ModelData>) -> Option<String> {
    const NAMES: [(char, &str); 5] = [
        ('S', "sliding window"),
        ('F', "full attention"),
        ('M', "latent attention"),
        ('R', "recurrent"),
        ('N', "feed-forward only"),
    ];
    let mut counts = [0u64; NAMES.len()];
    for (letter, count) in model.data.architecture.layer_runs() {
        if let Some(kind) = NAMES.iter().position(|(name, _)| *name == letter) {
            counts[kind] = counts[kind].saturating_add(count);
        }
    }
    let told: Vec<String> = NAMES
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|((_, name), count)| format!("{count} {name}"))
        .collect();
    let plain = counts[1] > 0 && told.len() == 1;
    (!plain && !told.is_empty()).then(|| told.join(", "))
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
fn breakdown(run: &UsualRun) -> Breakdown {
    let total = run.total();
    let share = |bytes: u64| (bytes as f64 * 10_000.0 / total as f64).round() / 100.0;
    let part = |name, label, bytes| PartView { name, label, text: gib(bytes), share: share(bytes) };
    Breakdown {
        quant: run.quant_name.clone(),
        context: format!("{} tokens", tokens(run.ctx)),
        weights: gib(run.weights),
        kv: gib(run.kv),
        compute: gib(run.compute),
        total: gib(total),
        parts: vec![
            part("weights", "Weights", run.weights),
            part("kv", "KV cache", run.kv),
            part("compute", "Compute buffer", run.compute),
        ],
    }
}

/// The badge, with what a README elsewhere has to hold for it.
fn badge(shelf: &Shelf<'_>, model: &Page<ModelData>, root: &str) -> Option<BadgeView> {
    let answer = runs_on(shelf.order, model)?;
    let base = &shelf.order.config.base_url;
    let says = sentence(&model.head.title.value, &answer);
    let plain = says.replace(['[', ']'], "");
    Some(BadgeView {
        src: format!("{root}{}", answer.badge),
        width: width_of(&answer),
        markdown: format!("[![{plain}]({base}{})]({base}{})", answer.badge, model.head.id.address()),
        says,
    })
}

/// Verdicts for a model on a device, by quantization.
pub(super) fn cells(shelf: &Shelf<'_>, figures: &Figures, memory: u64) -> Vec<CellView> {
    let fits = shelf.order.fits;
    let ctx = TABLE_CTX.min(figures.max_ctx);
    TABLE_QUANTS
        .iter()
        .filter_map(|name| {
            let quant = fits.quant(name)?;
            let total = figures.total(quant, Run::plain(0), ctx)?;
            let verdict = Verdict::of(total, fits.driver, memory);
            let largest = figures.largest_context(quant, Run::plain(0), fits.driver.1, memory);
            Some(CellView {
                quant: (*name).to_string(),
                verdict: verdict.name(),
                max_ctx: largest
                    .filter(|_| verdict == Verdict::Fits)
                    .map(|ctx| format!("to {}", tokens(ctx))),
            })
        })
        .collect()
}

/// What becomes of a model on the usual cards.
fn devices(shelf: &Shelf<'_>, root: &str, figures: &Figures) -> Vec<DeviceRow> {
    cards(shelf.order)
        .into_iter()
        .map(|device| DeviceRow {
            title: device.head.title.value.clone(),
            href: href(root, &device.head.id.address()),
            memory: format!("{} GB", device.data.memory_gib),
            quant_cells: cells(shelf, figures, device.data.memory_bytes()),
        })
        .collect()
}
