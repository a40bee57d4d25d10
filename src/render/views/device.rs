//! Hardware pages.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::Order;
use crate::render::address::{href, root};
use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::common::{CellView, Fact, Ref, SourceView, TocLine, parameters, sources};
use crate::render::views::lists::class_name;
use crate::render::views::model::{TABLE_CTX, TABLE_QUANTS, by_parameters, cells, table_quants};
use crate::render::views::shelf::{Plate, Shelf, neighbours, with_frame};
use crate::site::kinds::DeviceData;
use crate::site::{Figures, Head, Page, Run, Verdict};

#[derive(Serialize)]
struct DeviceView {
    title: String,
    vendor: String,
    facts: Vec<Fact>,
    unified: bool,
    memory: String,
    note: Option<String>,
    body_html: Value,
    covered: bool,
    reason: Option<String>,
    usable: String,
    models: Vec<ModelRow>,
    quants: Vec<String>,
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

pub(super) fn leaves(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let devices = &shelf.site().devices;
    let heads: Vec<&Head> = devices.iter().map(|device| &device.head).collect();
    let wanted = devices.iter().enumerate().filter(|(_, device)| shelf.wants(&device.head));
    wanted.map(|(at, device)| leaf(shelf, device, neighbours(&heads, at))).collect()
}

fn leaf(shelf: &Shelf<'_>, device: &Page<DeviceData>, beside: (Option<&Head>, Option<&Head>)) -> Leaf {
    let address = device.head.id.address();
    let view = view(shelf, device, &root(&address));
    let mut toc = Vec::new();
    if !view.models.is_empty() {
        toc.push(TocLine { level: 2, id: "models".into(), title: "What runs on it".into() });
    }
    if !view.backlinks.is_empty() {
        toc.push(TocLine { level: 2, id: "backlinks".into(), title: "Pages that point here".into() });
    }
    let plate = Plate {
        address: &address,
        kind: "device",
        title: &device.head.title.value,
        description: describe(&view, &fitting(shelf.order, device.data.memory_bytes())),
        trail: vec![("Hardware".into(), "hardware/")],
        head: Some(&device.head),
        toc,
        noindex: false,
    };
    let frame = shelf.frame(plate, beside);
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

/// How many models fit into this much memory, in bytes.
pub(in crate::render) fn fitting(order: &Order<'_>, memory: u64) -> Fitting {
    let (fits, quant) = (order.fits, TABLE_QUANTS[0]);
    let figures: Vec<_> =
        order.site.models.iter().filter_map(|model| fits.figures(&model.head.id.slug)).collect();
    let does_fit = |figures: &&&Figures| {
        let ctx = TABLE_CTX.min(figures.max_ctx);
        let total = fits.quant(quant).and_then(|quant| figures.total(quant, Run::plain(0), ctx));
        total.is_some_and(|total| Verdict::of(total, fits.driver, memory) == Verdict::Fits)
    };
    Fitting { count: figures.iter().filter(does_fit).count(), of: figures.len(), quant }
}

fn describe(view: &DeviceView, fitting: &Fitting) -> String {
    match view.covered {
        true => format!(
            "{} with {} of memory: {} of {} models in the catalog fit at {} and a context of {TABLE_CTX} tokens.",
            view.title, view.memory, fitting.count, fitting.of, fitting.quant
        ),
        false => {
            format!("{} with {} of memory: facts, and why no verdicts are given.", view.title, view.memory)
        }
    }
}

fn view(shelf: &Shelf<'_>, device: &Page<DeviceData>, root: &str) -> DeviceView {
    let data = &device.data;
    let covered = data.is_cuda();
    DeviceView {
        title: device.head.title.value.clone(),
        vendor: data.vendor.clone(),
        facts: facts(data),
        unified: data.unified,
        memory: format!("{} GB", data.memory_gib),
        note: data.note.clone(),
        body_html: html(shelf.body(&device.head).html()),
        covered,
        reason: (!covered).then(|| reason(data)),
        usable: usable(data),
        models: if covered { models(shelf, root, data.memory_bytes()) } else { Vec::new() },
        quants: table_quants(shelf),
        sources: sources(&data.evidence),
        backlinks: shelf.backlinks(root, &device.head.id, &[]),
        calculator_href: format!("{}?gpu={}", href(root, "will-it-run/"), device.head.id.slug),
        compare_href: format!("{}?a={}", href(root, "compare/"), device.head.id.slug),
    }
}

fn reason(data: &DeviceData) -> String {
    let backend = match (data.vendor.as_str(), data.class.as_str()) {
        ("Apple", _) => "Metal",
        ("AMD", _) => "ROCm and Vulkan",
        ("Intel", _) => "SYCL and Vulkan",
        _ => "this chip",
    };
    format!(
        "The compute buffer follows CUDA's rules; those of {backend} were not measured, so no verdict is given. \
         Weights and KV cache are the same everywhere: the pages of the models list them."
    )
}

fn usable(data: &DeviceData) -> String {
    match data.unified {
        true => "a part of it: GPU and system share the memory".into(),
        false => "all but what the driver, its context and other programs hold".into(),
    }
}

/// The bandwidth, or that nobody confirmed one: a blank would look like a page that broke.
pub(super) fn bandwidth(data: &DeviceData) -> String {
    data.bandwidth_gbps.map_or_else(|| "not confirmed".into(), |rate| format!("{rate} GB/s"))
}

fn facts(data: &DeviceData) -> Vec<Fact> {
    let options: Vec<String> = data.memory_options_gib.iter().map(ToString::to_string).collect();
    let memory = match options.len() {
        0 | 1 => format!("{} GB", data.memory_gib),
        _ => format!("{} GB", options.join(", ")),
    };
    let memory = match data.unified {
        true => format!("{memory}, shared with the system"),
        false => memory,
    };
    [
        Fact::known("Maker", Some(data.vendor.clone())),
        Fact::known("Class", Some(class_name(&data.class))),
        Fact::known("Generation", data.generation.clone()),
        Fact::known("Architecture", data.architecture.clone()),
        Fact::known("Memory", Some(memory)),
        Fact::known("Memory type", data.memory_type.clone()),
        Fact::known("Memory bus", data.bus_bits.map(|bits| format!("{bits} bit"))),
        Fact::known("Bandwidth", Some(bandwidth(data))),
        Fact::known("Power limit", data.tdp_w.map(|watts| format!("{watts} W"))),
        Fact::known("Compute capability", data.compute_capability.clone()),
        Fact::known("Released", data.released.map(|date| date.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn models(shelf: &Shelf<'_>, root: &str, memory: u64) -> Vec<ModelRow> {
    by_parameters(shelf)
        .into_iter()
        .filter_map(|model| Some((model, shelf.order.fits.figures(&model.head.id.slug)?)))
        .map(|(model, figures)| ModelRow {
            title: model.head.title.value.clone(),
            href: href(root, &model.head.id.address()),
            parameters: model.data.parameters.as_ref().map(|count| parameters(count.value)),
            cells: cells(shelf, figures, memory),
        })
        .collect()
}
