//! `data/cards.js`: the devices, for a reader to choose their own.

use serde_json::{Value, json};

use crate::files::Outputs;
use crate::render::fit_files::backends;
use crate::render::views::Shelf;
use crate::site::Page;
use crate::site::kinds::DeviceData;

/// Slug, name, the least and the most bytes that programs see, and backends of each device, by name: one assignment, so
/// that it works from a disk too.
pub(super) fn file(shelf: &Shelf<'_>) -> Outputs {
    let mut devices: Vec<_> = shelf.site().devices.iter().collect();
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
