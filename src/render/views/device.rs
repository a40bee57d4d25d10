//! Hardware pages.

use kbgen_estimate::plan::Verdict;
use minijinja::value::Value;
use serde::Serialize;

use crate::markdown::TocEntry;
use crate::render::RenderInputs;
use crate::render::address::{href, root};
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::benchmarks::{BenchmarksLink, of_device};
use crate::render::views::common::{CellVerdict, Fact, Ref, SourceView, context_label, source, sources};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::defaults::default_quant;
use crate::render::views::device_models::{ModelGroup, ModelRow, as_sold, covered, groups, models};
use crate::render::views::lists::class_name;
use crate::render::views::verdicts::table_quants;
use crate::site::kinds::{DeviceData, ModelData, System, Vendor};
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, DeviceMemory, Page, Run, format_count, gib, number};

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
    slug: String,
    leads: Vec<Lead>,
    groups: Vec<ModelGroup>,
    /// Number of models that do not run on it.
    too_large: usize,
    /// Quantizations, or memory sizes where the device is sold with several.
    columns: Vec<String>,
    sizes: usize,
    quant: &'static str,
    table_context: String,
    context_label: String,
    sources: Vec<SourceView>,
    backlinks: Vec<Value>,
    calculator_href: String,
    compare_href: String,
    benchmarks: Option<BenchmarksLink>,
}

/// Models that fit in one memory size in the default quantization.
#[derive(Serialize)]
struct Lead {
    memory: String,
    largest: Vec<Value>,
    fits: usize,
}

/// Maximum number of models in a [`Lead`].
const MAX_LARGEST: usize = 3;

pub(super) fn build_page(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let device = &cx.site().devices[at];
    let address = device.head.id.address();
    let view = view(cx, device, &root(&address));
    let mut toc = Vec::new();
    if !view.groups.is_empty() {
        toc.push(TocEntry { level: 2, id: "models".into(), title: cx.tr("Models that run on it").into() });
    }
    toc.push(TocEntry { level: 2, id: "facts".into(), title: cx.tr("Facts").into() });
    if !view.backlinks.is_empty() {
        toc.push(TocEntry { level: 2, id: "backlinks".into(), title: cx.tr("Pages that link here").into() });
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
    let layout = cx.layout(meta);
    TemplatePage {
        view: with_layout(layout, "device", view_value(&view)),
        template: "device.html".into(),
        address,
    }
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

/// Counts the models that write text and fit on a device.
pub(in crate::render) fn fitting(inputs: &RenderInputs<'_>, memory: &DeviceMemory) -> Fitting {
    let fits = inputs.fits;
    let verdict = |model: &Page<ModelData>| {
        if !model.data.writes_text() {
            return None;
        }
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
            ("context", &format_count(DEFAULT_CTX)),
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
    let sizes = data.memory_sizes();
    let columns = match sizes.len() {
        0 | 1 => table_quants(cx),
        _ => sizes.iter().map(|size| as_sold(*size)).collect(),
    };
    let models = models(cx, root, data, &columns);
    DeviceView {
        slug: device.head.id.slug.clone(),
        leads: leads(&models, &sizes),
        title: device.head.title.value.clone(),
        vendor: data.vendor.name().to_string(),
        facts: facts(cx, data),
        unified: data.unified,
        memory: format!("{} GB", data.memory_gb),
        note: data.note.clone(),
        body_html: html(cx.body(&device.head).html()),
        basis: basis(cx, data),
        usable: usable(cx, data).into(),
        too_large: covered(cx) - models.len(),
        groups: groups(cx, models),
        columns,
        sizes: sizes.len(),
        quant: DEFAULT_QUANT,
        table_context: format_count(DEFAULT_CTX),
        context_label: context_label(DEFAULT_CTX),
        sources: sources(cx.texts(), &data.evidence),
        backlinks: cx.backlinks(root, &device.head.id, &[]),
        calculator_href: format!("{}?gpu={}", href(root, "will-it-run/"), device.head.id.slug),
        compare_href: format!("{}?a={}", href(root, "compare/"), device.head.id.slug),
        benchmarks: of_device(cx, root, device),
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
            "The verdicts hold for ROCm, whose compute buffer is within 1% of the one on CUDA, and for Vulkan, within 20%, as in all logs compared.",
        ),
        Vendor::Apple => cx.tr(
            "The verdicts are for Metal, which maps the whole model file. The compute buffer is within 10% of the one on CUDA, or up to 32 MiB above that, as in all logs compared.",
        ),
        Vendor::Intel => cx.tr(
            "The verdicts hold for Vulkan and SYCL, whose compute buffers are within 20% of the one on CUDA, as in all logs compared.",
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
    let before = [
        Fact::known(cx.tr("Manufacturer"), Some(data.vendor.name())),
        Fact::known(cx.tr("Class"), Some(class_name(cx, data.class))),
        Fact::known(cx.tr("Generation"), data.generation.clone()),
        Fact::known(cx.tr("Architecture"), data.architecture.clone()),
        Fact::known(cx.tr("Memory"), Some(memory)),
    ];
    let after = [
        Fact::known(cx.tr("Memory type"), data.memory_type.clone()),
        Fact::known(cx.tr("Memory bus"), data.bus_bits.map(|bits| cx.fill("{n}-bit", &[("n", &bits)]))),
        Fact::known(cx.tr("Bandwidth"), Some(bandwidth(cx, data))),
        Fact::known(
            cx.tr("Power limit"),
            data.tdp_w.map(|watts| format!("{} W", format_count(watts.unsigned_abs()))),
        ),
        Fact::known(cx.tr("Compute capability"), data.compute_capability.clone()),
        Fact::known(cx.tr("Released"), data.released.map(|date| date.to_string())),
    ];
    let visible = data.systems().iter().map(|system| visible(cx, data, *system));
    before.into_iter().chain(visible).chain(after).flatten().collect()
}

/// Describes the memory that programs see on a system, and the source of that figure.
fn visible(cx: &RenderContext<'_>, data: &DeviceData, system: System) -> Option<Fact> {
    let memory = data.memory_bytes();
    let range = data.visible_on(&[system], memory);
    let size = match range.low == range.high {
        true => gib(range.low.0),
        false => cx.fill("{from} to {to}", &[("from", &gib(range.low.0)), ("to", &gib(range.high.0))]),
    };
    let report = data.reported(system, memory).map(|report| report.source.as_str());
    let linked =
        report.and_then(|text| text.split_once(": ")).filter(|(_, rest)| rest.starts_with("https://"));
    let text = match linked.map(|(program, _)| program).or(report) {
        Some(program) => cx.fill("{size}, {source}", &[("size", &size), ("source", &program)]),
        None if data.vendor == Vendor::Apple => {
            cx.fill("{size}, the default of the system", &[("size", &size)])
        }
        None => cx.fill("{size}, the lowest of similar devices", &[("size", &size)]),
    };
    let label = match system {
        System::Linux => cx.tr("Visible to programs on Linux"),
        System::Windows => cx.tr("Visible to programs on Windows"),
        System::Macos15 => cx.tr("Visible to programs before macOS 26"),
        System::Macos26 => cx.tr("Visible to programs since macOS 26"),
    };
    Fact::known(label, Some(text))
        .map(|fact| Fact { source: linked.map(|(_, address)| source(cx.texts(), address)), ..fact })
}

/// Returns the largest models that fit in each memory size.
fn leads(rows: &[ModelRow], sizes: &[u64]) -> Vec<Lead> {
    let lead = |(column, size): (usize, &u64)| {
        let fitting: Vec<&ModelRow> = rows
            .iter()
            .filter(|row| {
                row.cells
                    .get(column)
                    .and_then(Option::as_ref)
                    .is_some_and(|cell| cell.verdict == CellVerdict::Fits)
            })
            .collect();
        let large = fitting.iter().filter(|row| row.parameters.is_some()).take(MAX_LARGEST);
        let largest = large.map(|row| {
            let description = row.parameters.as_deref().unwrap_or_default();
            view_value(Ref { title: &row.title, href: &row.href, description })
        });
        Lead { memory: as_sold(*size), largest: largest.collect(), fits: fitting.len() }
    };
    let leads = sizes.iter().enumerate().map(lead);
    if rows.is_empty() { Vec::new() } else { leads.collect() }
}
