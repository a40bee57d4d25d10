//! `data/devices.js`: the devices, for readers to select their own.

use serde_json::{Value, json};

use crate::files::Outputs;
use crate::render::fit_files::backends;
use crate::render::views::RenderContext;
use crate::site::Page;
use crate::site::kinds::DeviceData;

const GIB: f64 = 1_073_741_824.0;

/// Makes a script with slug, name, the range of usable bytes and the backends of each device, sorted by name. A device
/// that is sold with several memory sizes has an entry for each: `slug@GB`. A single assignment, so that it also loads
/// from disk.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let mut devices: Vec<_> = cx.site().devices.iter().collect();
    devices.sort_by_key(|device| device.head.title.value.to_lowercase());
    let entries = |device: &Page<DeviceData>| {
        let sizes = device.data.memory_sizes();
        let several = sizes.len() > 1;
        let entry = |size: u64| {
            let visible = device.data.visible_range(size);
            let (slug, title) = (&device.head.id.slug, &device.head.title.value);
            let gb = size as f64 / GIB;
            let (id, name) = match several {
                true => (format!("{slug}@{gb}"), format!("{title}, {gb} GB")),
                false => (slug.clone(), title.clone()),
            };
            json!([id, name, [visible.low.0, visible.high.0], backends(device.data.backends())])
        };
        sizes.into_iter().map(entry).collect::<Vec<_>>()
    };
    let entries: Vec<Value> = devices.into_iter().flat_map(entries).collect();
    let mut outputs = Outputs::default();
    outputs.add("data/devices.js", format!("kbgen.devices={};\n", json!(entries)));
    outputs
}
