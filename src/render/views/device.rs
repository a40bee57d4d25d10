//! Hardware pages.

use kbgen_estimate::plan::Verdict;
use minijinja::value::Value;
use serde::Serialize;

use crate::render::RenderInputs;
use crate::render::address::{href, root};
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::benchmarks::{BenchmarksLink, of_device};
use crate::render::views::common::{CellView, Fact, Ref, SourceView, TocLine, parameters, sources};
use crate::render::views::context::{PageMeta, RenderContext, neighbors, with_layout};
use crate::render::views::defaults::default_quant;
use crate::render::views::lists::class_name;
use crate::render::views::model::{by_parameters, cells, table_quants, verdict_rank};
use crate::site::kinds::{DeviceData, ModelData, Vendor};
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, DeviceMemory, Head, Page, Run, format_count, gib, number};

#[derive(Serialize)]
struct DeviceView {
    title: String,
    vendor: String,
    facts: Vec<Fact>,
    unified: bool,
    memory: String,
    note: Option<String>,
    body_html: Value,
    basis: Option<String>,
    usable: String,
    models: Vec<ModelRow>,
    quants: Vec<String>,
    table_context: String,
    sources: Vec<SourceView>,
    backlinks: Vec<Ref>,
    calculator_href: String,
    compare_href: String,
    benchmarks: Option<BenchmarksLink>,
}

#[derive(Serialize)]
struct ModelRow {
    title: String,
    href: String,
    parameters: Option<String>,
    cells: Vec<CellView>,
}

pub(super) fn build_page(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let devices = &cx.site().devices;
    let device = &devices[at];
    let heads: Vec<&Head> = devices.iter().map(|device| &device.head).collect();
    let address = device.head.id.address();
    let view = view(cx, device, &root(&address));
    let mut toc = Vec::new();
    if !view.models.is_empty() {
        toc.push(TocLine { level: 2, id: "models".into(), title: cx.tr("Models that run on it").into() });
    }
    toc.push(TocLine { level: 2, id: "facts".into(), title: cx.tr("Facts").into() });
    if !view.backlinks.is_empty() {
        toc.push(TocLine { level: 2, id: "backlinks".into(), title: cx.tr("Pages that link here").into() });
    }
    let meta = PageMeta {
        address: &address,
        kind: "device",
        title: &device.head.title.value,
        description: describe(cx, &view, &fitting(cx.inputs, &device.data.memory())),
        trail: vec![(cx.tr("Hardware").into(), "hardware/")],
        head: Some(&device.head),
        toc,
        noindex: false,
    };
    let layout = cx.layout(meta, neighbors(&heads, at));
    TemplatePage { view: with_layout(layout, "device", view_value(&view)), template: "device.html", address }
}

/// Number of models that fit on a device in the default quantization.
pub(in crate::render) struct Fitting {
    /// Models that fit.
    pub count: usize,
    /// Models with known memory.
    pub of: usize,
    /// Name of the quantization.
    pub quant: &'static str,
}

/// Counts the models that fit on a device.
pub(in crate::render) fn fitting(inputs: &RenderInputs<'_>, memory: &DeviceMemory) -> Fitting {
    let fits = inputs.fits;
    let verdict = |model: &Page<ModelData>| {
        let figures = fits.figures(&model.head.id.slug)?;
        let ctx = DEFAULT_CTX.min(figures.max_ctx);
        let quant = default_quant(inputs, &model.data, figures)?;
        Some(memory.verdict(figures.total_range(quant, Run::plain(0), ctx, memory.backends)?))
    };
    let verdicts: Vec<Verdict> = inputs.site.models.iter().filter_map(verdict).collect();
    let count = verdicts.iter().filter(|verdict| **verdict == Verdict::Fits).count();
    Fitting { count, of: verdicts.len(), quant: DEFAULT_QUANT }
}

fn describe(cx: &RenderContext<'_>, view: &DeviceView, fitting: &Fitting) -> String {
    cx.fill(
        "{device} with {size} of memory: {n} of {all} models in the catalog fit at {quant} and a context of {context} tokens.",
        &[
            ("context", &DEFAULT_CTX),
            ("device", &view.title),
            ("size", &view.memory),
            ("n", &fitting.count),
            ("all", &fitting.of),
            ("quant", &fitting.quant),
        ],
    )
}

fn view(cx: &RenderContext<'_>, device: &Page<DeviceData>, root: &str) -> DeviceView {
    let data = &device.data;
    DeviceView {
        title: device.head.title.value.clone(),
        vendor: data.vendor.name().to_string(),
        facts: facts(cx, data),
        unified: data.unified,
        memory: format!("{} GB", data.memory_gb),
        note: data.note.clone(),
        body_html: html(cx.body(&device.head).html()),
        basis: basis(cx, data),
        usable: usable(cx, data).into(),
        models: models(cx, root, &data.memory()),
        quants: table_quants(cx),
        table_context: format_count(DEFAULT_CTX),
        sources: sources(cx.texts(), &data.evidence),
        backlinks: cx.backlinks(root, &device.head.id, &[]),
        calculator_href: format!("{}?gpu={}", href(root, "will-it-run/"), device.head.id.slug),
        compare_href: format!("{}?a={}", href(root, "compare/"), device.head.id.slug),
        benchmarks: of_device(root, device),
    }
}

/// Describes what the verdicts rest on; none where the figures are exact.
fn basis(cx: &RenderContext<'_>, data: &DeviceData) -> Option<String> {
    let text = match data.vendor {
        Vendor::Nvidia if data.is_cuda() => return None,
        Vendor::Nvidia => cx.tr(
            "Buffers are those of CUDA. System and GPU use the same memory: the verdicts count up to 3.8 GiB for the system and the driver, and the whole model file.",
        ),
        Vendor::Amd => cx.tr(
            "The verdicts hold for ROCm, whose compute buffer is within 3% of the one on CUDA, and for Vulkan, within 20%, as in all logs compared.",
        ),
        Vendor::Apple => cx.tr(
            "The verdicts are for Metal, which maps the whole model file. The compute buffer is within 10% of the one on CUDA, or up to 32 MiB above that, as in all logs compared.",
        ),
        Vendor::Intel => cx.tr(
            "The verdicts hold for Vulkan, whose compute buffer is within 20% of the one on CUDA, and for SYCL, up to 30% below it, as in all logs compared.",
        ),
    };
    Some(text.into())
}

fn usable<'s>(cx: &RenderContext<'s>, data: &DeviceData) -> &'s str {
    match data.unified {
        true => cx.tr("part of it: GPU and system share the memory"),
        false => cx.tr("all except the memory used by the driver, its context and other programs"),
    }
}

/// Returns the bandwidth, or that it is unconfirmed: a blank would look like a mistake.
pub(super) fn bandwidth(cx: &RenderContext<'_>, data: &DeviceData) -> String {
    data.bandwidth_gbps.map_or_else(|| cx.tr("unconfirmed").into(), |rate| format!("{} GB/s", number(rate)))
}

fn facts(cx: &RenderContext<'_>, data: &DeviceData) -> Vec<Fact> {
    let options: Vec<String> = data.memory_options_gb.iter().map(ToString::to_string).collect();
    let memory = match options.len() {
        0 | 1 => format!("{} GB", data.memory_gb),
        _ => format!("{} GB", options.join(", ")),
    };
    let memory = match data.unified {
        true => cx.fill("{size}, shared with the system", &[("size", &memory)]),
        false => memory,
    };
    [
        Fact::known(cx.tr("Manufacturer"), Some(data.vendor.name())),
        Fact::known(cx.tr("Class"), Some(class_name(cx, data.class))),
        Fact::known(cx.tr("Generation"), data.generation.clone()),
        Fact::known(cx.tr("Architecture"), data.architecture.clone()),
        Fact::known(cx.tr("Memory"), Some(memory)),
        Fact::known(cx.tr("Visible to programs"), Some(visible(cx, data))),
        Fact::known(cx.tr("Memory type"), data.memory_type.clone()),
        Fact::known(cx.tr("Memory bus"), data.bus_bits.map(|bits| cx.fill("{n}-bit", &[("n", &bits)]))),
        Fact::known(cx.tr("Bandwidth"), Some(bandwidth(cx, data))),
        Fact::known(cx.tr("Power limit"), data.tdp_w.map(|watts| format!("{watts} W"))),
        Fact::known(cx.tr("Compute capability"), data.compute_capability.clone()),
        Fact::known(cx.tr("Released"), data.released.map(|date| date.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Describes the memory that programs see, and the source of that figure.
fn visible(cx: &RenderContext<'_>, data: &DeviceData) -> String {
    let range = data.visible_range(data.memory_bytes());
    let size = match range.low == range.high {
        true => gib(range.low.0),
        false => cx.fill("{from} to {to}", &[("from", &gib(range.low.0)), ("to", &gib(range.high.0))]),
    };
    match &data.visible_source {
        Some(source) => cx.fill("{size}, {source}", &[("size", &size), ("source", source)]),
        None if data.vendor == Vendor::Apple => {
            cx.fill("{size}: the default before macOS 26, and since", &[("size", &size)])
        }
        None => cx.fill("{size}, the lowest of similar devices", &[("size", &size)]),
    }
}

/// A verdict for a quantization without a column of its own is shown in the first column, with its name.
fn in_column(cx: &RenderContext<'_>, cell: CellView) -> CellView {
    if table_quants(cx).contains(&cell.quant) {
        return cell;
    }
    let note = match &cell.note {
        Some(note) => format!("{}, {note}", cell.quant),
        None => cell.quant.clone(),
    };
    CellView { quant: DEFAULT_QUANT.into(), note: Some(note), ..cell }
}

/// Returns verdicts for all models: those that fit first, by size.
fn models(cx: &RenderContext<'_>, root: &str, memory: &DeviceMemory) -> Vec<ModelRow> {
    let models = by_parameters(cx).into_iter().rev();
    let mut rows: Vec<ModelRow> = models
        .filter_map(|model| Some((model, cx.inputs.fits.figures(&model.head.id.slug)?)))
        .map(|(model, figures)| ModelRow {
            title: model.head.title.value.clone(),
            href: href(root, &model.head.id.address()),
            parameters: model.data.parameters.as_ref().map(|count| parameters(count.value)),
            cells: cells(cx, &model.data, figures, memory)
                .into_iter()
                .map(|cell| in_column(cx, cell))
                .collect(),
        })
        .collect();
    rows.sort_by_key(|row| (verdict_rank(&row.cells), row.parameters.is_none()));
    rows
}
