//! The list of reported speeds, from the pages of devices.

use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::view_value;
use crate::render::views::TemplatePage;
use crate::render::views::common::{SourceView, source};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::site::kinds::{Benchmark, DeviceData};
use crate::site::{Kind, Page, PageId, number};

/// Address of the list.
const ADDRESS: &str = "benchmarks/";

#[derive(Serialize)]
struct BenchmarksView {
    devices: Vec<BenchmarkedDevice>,
    methodology_href: Option<String>,
}

/// A device with its reported speeds.
#[derive(Serialize)]
struct BenchmarkedDevice {
    title: String,
    href: String,
    id: String,
    rows: Vec<BenchmarkRow>,
}

#[derive(Serialize)]
struct BenchmarkRow {
    model: String,
    model_href: String,
    quant: String,
    engine: String,
    build: Option<String>,
    test: String,
    speed: String,
    is_prompt: bool,
    is_partly_in_ram: bool,
    has_experts: bool,
    submitted: bool,
    unscored: Option<String>,
    note: Option<String>,
    source: SourceView,
    /// Tokens per second, for sorting.
    rate: f64,
}

/// Links from another page to the reported speeds that it is about.
#[derive(Serialize)]
pub(super) struct BenchmarksLink {
    href: String,
    count: usize,
}

pub(super) fn build_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let root = root(ADDRESS);
    let mut devices: Vec<&Page<DeviceData>> =
        cx.site().devices.iter().filter(|device| !device.data.benchmarks.is_empty()).collect();
    devices.sort_by_key(|device| (device.data.vendor.name(), device.head.title.value.to_lowercase()));
    let devices: Vec<BenchmarkedDevice> = devices
        .into_iter()
        .map(|device| BenchmarkedDevice {
            title: device.head.title.value.clone(),
            href: href(&root, &device.head.id.address()),
            id: device.head.id.slug.clone(),
            rows: device.data.benchmarks.iter().filter_map(|report| row(cx, &root, report)).collect(),
        })
        .collect();
    let count: usize = devices.iter().map(|device| device.rows.len()).sum();
    let description = cx.fill(
        "{n} reported speeds of language models on {all} devices, each with its source.",
        &[("n", &count), ("all", &devices.len())],
    );
    let methodology_href = cx
        .head(&PageId::new(Kind::Document, "methodology"))
        .map(|head| format!("{}#token-speed", href(&root, &head.id.address())));
    let meta = PageMeta::listing(ADDRESS, "benchmarks", cx.tr("Benchmarks"), &description);
    let view = view_value(BenchmarksView { devices, methodology_href });
    vec![TemplatePage {
        view: with_layout(cx.layout(meta), "benchmarks", view),
        template: "benchmarks.html".into(),
        address: ADDRESS.to_string(),
    }]
}

fn row(cx: &RenderContext<'_>, root: &str, report: &Benchmark) -> Option<BenchmarkRow> {
    let model = cx.site().models.iter().find(|model| model.head.id.slug == report.model.value)?;
    Some(BenchmarkRow {
        model: model.head.title.value.clone(),
        model_href: href(root, &model.head.id.address()),
        quant: report.quant.clone(),
        engine: report.engine.clone(),
        build: report.build.clone(),
        test: report.test.clone(),
        speed: number(report.tokens_per_s),
        is_prompt: report.is_prompt(),
        is_partly_in_ram: report.is_partly_in_ram(),
        has_experts: model.data.architecture.fields.experts > 0,
        submitted: report.submitted,
        unscored: report.unscored.clone(),
        note: report.note.clone(),
        source: source(cx.texts(), &report.source),
        rate: report.tokens_per_s,
    })
}

/// Returns the link to the reported speeds of a device.
pub(super) fn of_device(
    cx: &RenderContext<'_>,
    root: &str,
    device: &Page<DeviceData>,
) -> Option<BenchmarksLink> {
    let count = device.data.benchmarks.len();
    let href = format!("{}#{}", href(root, ADDRESS), device.head.id.slug);
    (count > 0 && !cx.inputs.config.declared.omits(ADDRESS)).then_some(BenchmarksLink { href, count })
}

/// Returns the link to the reported speeds of a model.
pub(super) fn of_model(
    cx: &RenderContext<'_>,
    root: &str,
    slug: &str,
    title: &str,
) -> Option<BenchmarksLink> {
    let reports = cx.site().devices.iter().flat_map(|device| &device.data.benchmarks);
    let count = reports.filter(|report| report.model.value == slug).count();
    let query = percent_encoding::utf8_percent_encode(title, percent_encoding::NON_ALPHANUMERIC);
    let href = format!("{}?model={query}", href(root, ADDRESS));
    (count > 0 && !cx.inputs.config.declared.omits(ADDRESS)).then_some(BenchmarksLink { href, count })
}
