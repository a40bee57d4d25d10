//! `data/cards.js`: the cards whose figures are covered, for a reader to choose their own.

use serde_json::{Value, json};

use crate::files::Outputs;
use crate::render::views::RenderContext;

/// Slug, name and bytes that programs see of each card, by name: one assignment, so that it works from a disk too.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let mut devices: Vec<_> = cx.site().devices.iter().filter(|device| device.data.is_cuda()).collect();
    devices.sort_by_key(|device| device.head.title.value.to_lowercase());
    let cards: Vec<Value> = devices
        .into_iter()
        .map(|device| json!([device.head.id.slug, device.head.title.value, device.data.visible_bytes()]))
        .collect();
    let mut outputs = Outputs::default();
    outputs.add("data/cards.js", format!("kbgen.cards={};\n", json!(cards)));
    outputs
}
