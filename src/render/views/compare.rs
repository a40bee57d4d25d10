//! The page that puts devices side by side.

use serde::Serialize;
use serde_json::{Value, json};

use crate::render::address::{href, root};
use crate::render::fit_files::backends;
use crate::render::templates::seen;
use crate::render::views::Leaf;
use crate::render::views::place::Place;
use crate::render::views::shelf::{Plate, Shelf, with_frame};
use crate::site::Page;
use crate::site::kinds::DeviceData;

#[derive(Serialize)]
struct CompareView {
    runs_href: String,
    speed: Value,
    devices: Vec<DeviceRow>,
}

#[derive(Serialize)]
struct DeviceRow {
    slug: String,
    title: String,
    href: String,
    memory: String,
    /// Bytes that programs see of it.
    visible: [u64; 2],
    backends: Vec<usize>,
    speed_class: Option<usize>,
    maker: String,
    place: String,
    memory_type: Option<String>,
    bandwidth: Option<String>,
    power: Option<String>,
    released: Option<String>,
}

pub(super) fn leaves(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let address = "compare/";
    let root = root(address);
    let view = CompareView {
        runs_href: href(&root, "data/runs.js"),
        speed: speed(shelf),
        devices: largest_first(shelf).into_iter().map(|device| row(shelf, &root, device)).collect(),
    };
    let description = shelf.say(
        "Two to four devices side by side: memory, bandwidth, power, which models each runs, and which only one of them \
         does.",
    );
    let mut plate = Plate::listing(address, "compare", shelf.say("Compare devices"), description);
    plate.trail = vec![(shelf.say("Hardware").into(), "hardware/")];
    let frame = shelf.frame(plate, (None, None));
    let view = with_frame(frame, "compare", seen(view));
    vec![Leaf { address: address.into(), template: "compare.html", view }]
}

/// All devices, those with the most memory first, and of two alike the one with the wider bus.
fn largest_first<'s>(shelf: &Shelf<'s>) -> Vec<&'s Page<DeviceData>> {
    let mut devices: Vec<_> = shelf.site().devices.iter().collect();
    devices.sort_by(|a, b| {
        let bandwidth = |device: &Page<DeviceData>| device.data.bandwidth_gbps.unwrap_or(0.0);
        (b.data.memory_bytes().cmp(&a.data.memory_bytes()))
            .then(bandwidth(b).total_cmp(&bandwidth(a)))
            .then_with(|| a.head.title.value.cmp(&b.head.title.value))
    });
    devices
}

/// What of the index the look-up of speed needs besides the devices.
fn speed(shelf: &Shelf<'_>) -> Value {
    let index = shelf.fit_index;
    json!({"stamp": index["stamp"], "quants": index["quants"], "bands": index["bands"]})
}

fn row(shelf: &Shelf<'_>, root: &str, device: &Page<DeviceData>) -> DeviceRow {
    let data = &device.data;
    let visible = data.memory().visible;
    DeviceRow {
        slug: device.head.id.slug.clone(),
        title: device.head.title.value.clone(),
        href: href(root, &device.head.id.address()),
        memory: format!("{} GB", data.memory_gb),
        visible: [visible.low.0, visible.high.0],
        backends: backends(data.backends()),
        speed_class: shelf.order.fits.speeds.devices.get(&device.head.id.slug).copied(),
        maker: data.vendor.name().to_string(),
        place: shelf.say(Place::of(data).title()).into(),
        memory_type: data.memory_type.clone(),
        bandwidth: data.bandwidth_gbps.map(|rate| format!("{rate} GB/s")),
        power: data.tdp_w.map(|watts| format!("{watts} W")),
        released: data.released.map(|date| date.to_string()),
    }
}
