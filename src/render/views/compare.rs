//! The page that compares devices.

use serde::Serialize;
use serde_json::{Value, json};

use crate::render::address::{href, root};
use crate::render::fit_files::{backends, speed_class};
use crate::render::templates::view_value;
use crate::render::views::TemplatePage;
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::machine::MachineType;
use crate::site::Page;
use crate::site::kinds::DeviceData;
use crate::site::{format_count, number};

#[derive(Serialize)]
struct CompareView {
    runs_href: String,
    speed: Value,
    devices: Vec<ComparedDevice>,
}

#[derive(Serialize)]
struct ComparedDevice {
    slug: String,
    title: String,
    href: String,
    memory: String,
    /// The least and the most bytes of memory that programs can use.
    visible: [u64; 2],
    backends: Vec<usize>,
    speed_class: Value,
    maker: String,
    place: String,
    memory_type: Option<String>,
    bandwidth: Option<String>,
    power: Option<String>,
    released: Option<String>,
}

pub(super) fn build_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let address = "compare/";
    let root = root(address);
    let view = CompareView {
        runs_href: href(&root, "data/runs.js"),
        speed: speed(cx),
        devices: largest_first(cx).into_iter().map(|device| row(cx, &root, device)).collect(),
    };
    let description =
        cx.tr("Compare two to four devices: memory, bandwidth, power, and the models that run on each.");
    let mut meta = PageMeta::listing(address, "compare", cx.tr("Compare devices"), description);
    meta.trail = vec![(cx.tr("Hardware").into(), "hardware/")];
    let layout = cx.layout(meta);
    let view = with_layout(layout, "compare", view_value(view));
    vec![TemplatePage { address: address.into(), template: "compare.html".into(), view }]
}

/// Returns all devices, those with the most memory first; ties are sorted by bus width.
fn largest_first<'s>(cx: &RenderContext<'s>) -> Vec<&'s Page<DeviceData>> {
    let mut devices: Vec<_> = cx.site().devices.iter().collect();
    devices.sort_by(|a, b| {
        let bandwidth = |device: &Page<DeviceData>| device.data.bandwidth_gbps.unwrap_or(0.0);
        (b.data.memory_bytes().cmp(&a.data.memory_bytes()))
            .then(bandwidth(b).total_cmp(&bandwidth(a)))
            .then_with(|| a.head.title.value.cmp(&b.head.title.value))
    });
    devices
}

/// Returns the speed data of the fit index that is not part of the devices.
fn speed(cx: &RenderContext<'_>) -> Value {
    let index = cx.fit_index;
    json!({
        "stamp": index["stamp"],
        "quants": index["quants"],
        "decode": index["decode"],
        "unmeasured": index["unmeasured"],
    })
}

fn row(cx: &RenderContext<'_>, root: &str, device: &Page<DeviceData>) -> ComparedDevice {
    let data = &device.data;
    let visible = data.memory().visible;
    ComparedDevice {
        slug: device.head.id.slug.clone(),
        title: device.head.title.value.clone(),
        href: href(root, &device.head.id.address()),
        memory: format!("{} GB", data.memory_gb),
        visible: [visible.low.0, visible.high.0],
        backends: backends(data.backends()),
        speed_class: speed_class(data),
        maker: data.vendor.name().to_string(),
        place: cx.tr(MachineType::of(data).title()).into(),
        memory_type: data.memory_type.clone(),
        bandwidth: data.bandwidth_gbps.map(|rate| format!("{} GB/s", number(rate))),
        power: data.tdp_w.map(|watts| format!("{} W", format_count(watts.unsigned_abs()))),
        released: data.released.map(|date| date.to_string()),
    }
}
