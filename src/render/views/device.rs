//! Hardware pages.

use kbgen_estimate::plan::Verdict;
use minijinja::value::Value;
use serde::Serialize;

use crate::render::Order;
use crate::render::address::{href, root};
use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::common::{CellView, Fact, Ref, SourceView, TocLine, parameters, sources};
use crate::render::views::lists::class_name;
use crate::render::views::model::{by_parameters, cells, table_quants};
use crate::render::views::shelf::{Plate, Shelf, neighbours, with_frame};
use crate::render::views::usual::usual_quant;
use crate::site::kinds::{DeviceData, ModelData, Vendor};
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, DeviceMemory, Head, Page, Run, gib};

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
}

#[derive(Serialize)]
struct ModelRow {
    title: String,
    href: String,
    parameters: Option<String>,
    cells: Vec<CellView>,
}

pub(super) fn leaf(shelf: &Shelf<'_>, at: usize) -> Leaf {
    let devices = &shelf.site().devices;
    let device = &devices[at];
    let heads: Vec<&Head> = devices.iter().map(|device| &device.head).collect();
    let address = device.head.id.address();
    let view = view(shelf, device, &root(&address));
    let mut toc = Vec::new();
    if !view.models.is_empty() {
        toc.push(TocLine { level: 2, id: "models".into(), title: shelf.say("What runs on it").into() });
    }
    if !view.backlinks.is_empty() {
        toc.push(TocLine {
            level: 2,
            id: "backlinks".into(),
            title: shelf.say("Pages that point here").into(),
        });
    }
    let plate = Plate {
        address: &address,
        kind: "device",
        title: &device.head.title.value,
        description: describe(shelf, &view, &fitting(shelf.order, &device.data.memory())),
        trail: vec![(shelf.say("Hardware").into(), "hardware/")],
        head: Some(&device.head),
        toc,
        noindex: false,
    };
    let frame = shelf.frame(plate, neighbours(&heads, at));
    Leaf { view: with_frame(frame, "device", seen(&view)), template: "device.html", address }
}

/// How many models fit on a device in the quantization that tables begin with.
pub(in crate::render) struct Fitting {
    /// Models that fit.
    pub count: usize,
    /// Models whose needs are known.
    pub of: usize,
    /// The quantization.
    pub quant: &'static str,
}

/// Counts the models that fit on a device.
pub(in crate::render) fn fitting(order: &Order<'_>, memory: &DeviceMemory) -> Fitting {
    let fits = order.fits;
    let verdict = |model: &Page<ModelData>| {
        let figures = fits.figures(&model.head.id.slug)?;
        let ctx = DEFAULT_CTX.min(figures.max_ctx);
        let quant = usual_quant(order, &model.data, figures)?;
        Some(memory.verdict(figures.total_range(quant, Run::plain(0), ctx, memory.backends)?))
    };
    let verdicts: Vec<Verdict> = order.site.models.iter().filter_map(verdict).collect();
    let count = verdicts.iter().filter(|verdict| **verdict == Verdict::Fits).count();
    Fitting { count, of: verdicts.len(), quant: DEFAULT_QUANT }
}

fn describe(shelf: &Shelf<'_>, view: &DeviceView, fitting: &Fitting) -> String {
    shelf.fill(
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

fn view(shelf: &Shelf<'_>, device: &Page<DeviceData>, root: &str) -> DeviceView {
    let data = &device.data;
    DeviceView {
        title: device.head.title.value.clone(),
        vendor: data.vendor.name().to_string(),
        facts: facts(shelf, data),
        unified: data.unified,
        memory: format!("{} GB", data.memory_gb),
        note: data.note.clone(),
        body_html: html(shelf.body(&device.head).html()),
        basis: basis(shelf, data),
        usable: usable(shelf, data).into(),
        models: models(shelf, root, &data.memory()),
        quants: table_quants(shelf),
        table_context: DEFAULT_CTX.to_string(),
        sources: sources(shelf.texts(), &data.evidence),
        backlinks: shelf.backlinks(root, &device.head.id, &[]),
        calculator_href: format!("{}?gpu={}", href(root, "will-it-run/"), device.head.id.slug),
        compare_href: format!("{}?a={}", href(root, "compare/"), device.head.id.slug),
    }
}

/// Describes what the verdicts rest on; none where the figures are exact.
fn basis(shelf: &Shelf<'_>, data: &DeviceData) -> Option<String> {
    let text = match data.vendor {
        Vendor::Nvidia if data.is_cuda() => return None,
        Vendor::Nvidia => shelf.say(
            "Buffers are those of CUDA. System and GPU use the same memory: the verdicts count up to 3.8 GiB for the system and the driver, and the whole model file.",
        ),
        Vendor::Amd => shelf.say(
            "The verdicts hold for ROCm, whose compute buffer is within 3% of the one on CUDA, and for Vulkan, within 20%, as in all logs compared.",
        ),
        Vendor::Apple => shelf.say(
            "The verdicts are for Metal, which maps the whole model file. The compute buffer is within 10% of the one on CUDA, or up to 32 MiB above that, as in all logs compared.",
        ),
        Vendor::Intel => shelf.say(
            "The verdicts hold for Vulkan, whose compute buffer is within 20% of the one on CUDA, and for SYCL, up to 30% below it, as in all logs compared.",
        ),
    };
    Some(text.into())
}

fn usable<'s>(shelf: &Shelf<'s>, data: &DeviceData) -> &'s str {
    match data.unified {
        true => shelf.say("a part of it: GPU and system share the memory"),
        false => shelf.say("all but what the driver, its context and other programs hold"),
    }
}

/// The bandwidth, or that nobody confirmed one: a blank would look like a page that broke.
pub(super) fn bandwidth(shelf: &Shelf<'_>, data: &DeviceData) -> String {
    data.bandwidth_gbps.map_or_else(|| shelf.say("not confirmed").into(), |rate| format!("{rate} GB/s"))
}

fn facts(shelf: &Shelf<'_>, data: &DeviceData) -> Vec<Fact> {
    let options: Vec<String> = data.memory_options_gb.iter().map(ToString::to_string).collect();
    let memory = match options.len() {
        0 | 1 => format!("{} GB", data.memory_gb),
        _ => format!("{} GB", options.join(", ")),
    };
    let memory = match data.unified {
        true => shelf.fill("{size}, shared with the system", &[("size", &memory)]),
        false => memory,
    };
    [
        Fact::known(shelf.say("Maker"), Some(data.vendor.name())),
        Fact::known(shelf.say("Class"), Some(class_name(shelf, data.class))),
        Fact::known(shelf.say("Generation"), data.generation.clone()),
        Fact::known(shelf.say("Architecture"), data.architecture.clone()),
        Fact::known(shelf.say("Memory"), Some(memory)),
        Fact::known(shelf.say("Visible to programs"), Some(visible(shelf, data))),
        Fact::known(shelf.say("Memory type"), data.memory_type.clone()),
        Fact::known(
            shelf.say("Memory bus"),
            data.bus_bits.map(|bits| shelf.fill("{n} bit", &[("n", &bits)])),
        ),
        Fact::known(shelf.say("Bandwidth"), Some(bandwidth(shelf, data))),
        Fact::known(shelf.say("Power limit"), data.tdp_w.map(|watts| format!("{watts} W"))),
        Fact::known(shelf.say("Compute capability"), data.compute_capability.clone()),
        Fact::known(shelf.say("Released"), data.released.map(|date| date.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Describes the memory that programs see, and the source of that figure.
fn visible(shelf: &Shelf<'_>, data: &DeviceData) -> String {
    let range = data.visible_range(data.memory_bytes());
    let size = match range.low == range.high {
        true => gib(range.low.0),
        false => shelf.fill("{from} to {to}", &[("from", &gib(range.low.0)), ("to", &gib(range.high.0))]),
    };
    match &data.visible_source {
        Some(source) => shelf.fill("{size}, {source}", &[("size", &size), ("source", source)]),
        None if data.vendor == Vendor::Apple => {
            shelf.fill("{size}: the default before macOS 26, and since", &[("size", &size)])
        }
        None => shelf.fill("{size}, the worst seen on similar devices", &[("size", &size)]),
    }
}

/// A verdict in a type that has no column of its own stands in the first, with its name.
fn in_column(shelf: &Shelf<'_>, cell: CellView) -> CellView {
    if table_quants(shelf).contains(&cell.quant) {
        return cell;
    }
    let note = match &cell.note {
        Some(note) => format!("{}, {note}", cell.quant),
        None => cell.quant.clone(),
    };
    CellView { quant: DEFAULT_QUANT.into(), note: Some(note), ..cell }
}

fn models(shelf: &Shelf<'_>, root: &str, memory: &DeviceMemory) -> Vec<ModelRow> {
    by_parameters(shelf)
        .into_iter()
        .filter_map(|model| Some((model, shelf.order.fits.figures(&model.head.id.slug)?)))
        .map(|(model, figures)| ModelRow {
            title: model.head.title.value.clone(),
            href: href(root, &model.head.id.address()),
            parameters: model.data.parameters.as_ref().map(|count| parameters(count.value)),
            cells: cells(shelf, &model.data, figures, memory)
                .into_iter()
                .map(|cell| in_column(shelf, cell))
                .collect(),
        })
        .collect()
}
