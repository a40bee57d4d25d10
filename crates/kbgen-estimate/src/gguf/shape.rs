//! Keys of shapes: files with the same key have the same tensors and need the same cache and compute buffers.
//!
//! The calculator computes the same key from the header of a file (`static/js/gguf.js`).

use crate::architecture::{Architecture, LayerKind, RopeFactors};
use crate::names::{FILE_NAMES, Home};
use crate::tensors::weight_tensors;

/// Returns the key of a model: its GGUF architecture, its number of layers, and a hash of everything else
/// except the longest context.
pub fn shape_key(model: &Architecture) -> String {
    let recurrent = model.recurrent.map_or((0, 0), |recurrent| (recurrent.groups, recurrent.state));
    let window = if model.has(LayerKind::Sliding) { model.sliding_window } else { 0 };
    let factors = match model.rope_factors {
        RopeFactors::None => (0, 0),
        RopeFactors::One(values) => (1, values),
        RopeFactors::LongAndShort(values) => (2, values),
    };
    let kinds: String = model.layers.iter().map(|layer| letter(layer.kind)).collect();
    let numbers = [
        model.heads,
        model.experts.map_or(0, |experts| experts.used),
        window,
        recurrent.0,
        recurrent.1,
        u64::from(model.qkv_bias),
        u64::from(model.experts.is_some_and(|experts| experts.router_bias)),
        factors.0,
        factors.1,
    ];
    let mut lines = vec![format!("{kinds} {}", numbers.map(|number| number.to_string()).join(" "))];
    for tensor in weight_tensors(model) {
        let Some(place) = FILE_NAMES.iter().position(|(_, name)| *name == tensor.name) else { continue };
        let layer = match tensor.home {
            Home::Layer(layer) | Home::Experts(layer) => layer.to_string(),
            _ => String::new(),
        };
        lines.push(format!("{layer} {place} {} {} {}", tensor.columns, tensor.rows, tensor.matrices));
    }
    lines[1..].sort_unstable();
    format!("{}-{}-{:08x}", model.family.name, model.layers.len(), hash(&lines.join("\n")))
}

/// Returns the names of tensors that keys contain, with the numbers used for them.
pub fn shape_names() -> impl Iterator<Item = (&'static str, usize)> {
    FILE_NAMES.iter().map(|(file, name)| {
        let place = FILE_NAMES.iter().position(|(_, first)| first == name);
        (*file, place.expect("the table contains the name"))
    })
}

fn letter(kind: LayerKind) -> char {
    match kind {
        LayerKind::Full => 'F',
        LayerKind::Sliding => 'S',
        LayerKind::Recurrent => 'R',
        LayerKind::Latent => 'M',
        LayerKind::None => 'N',
    }
}

/// FNV-1a with 32 bits.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
