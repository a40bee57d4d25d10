//! `data/cards.js`: the devices, for readers to select their own.

use serde_json::{Value, json};

use crate::files::Outputs;
use crate::render::fit_files::backends;
use crate::render::views::RenderContext;
use crate::site::Page;
use crate::site::kinds::DeviceData;

/// Makes a script with slug, name, the range of usable bytes and the backends of each device, sorted by name. A single
/// assignment, so that it also loads from disk.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let mut devices: Vec<_> = cx.site().devices.iter().collect();
    devices.sort_by_key(|device| device.head.title.value.to_lowercase());
    let card = |device: &Page<DeviceData>| {
        let memory = device.data.memory();
        let visible = [memory.visible.low.0, memory.visible.high.0];
        json!([device.head.id.slug, device.head.title.value, visible, backends(memory.backends)])
    };
    let cards: Vec<Value> = devices.into_iter().map(card).collect();
    let mut outputs = Outputs::default();
    outputs.add("data/cards.js", format!("kbgen.cards={};\n", json!(cards)));
    outputs
}
