//! `data/cards.js`: the GPUs with covered figures, for readers to select their own.

use serde_json::{Value, json};

use crate::files::Outputs;
use crate::render::views::RenderContext;

/// Makes a script with slug, name and usable bytes of each GPU, sorted by name. A single assignment, so that it also
/// loads from disk.
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
