//! `data/gguf.js`: tables for reading the header of a GGUF file, and the models of the site by shape.

use std::collections::BTreeMap;

use kbgen_estimate::family::Family;
use kbgen_estimate::gguf::shape_names;
use kbgen_estimate::quantization::{FILE_TYPES, TensorType};
use serde_json::json;

use crate::files::Outputs;
use crate::render::views::RenderContext;

/// Makes a script with the tensor types, the names of mixtures, and the shapes. A single assignment, so that it also loads
/// from disk.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let every = Family::all().filter(|family| family.full_attention_every > 0);
    let copies = Family::all().filter(|family| family.copies_tied_output);
    let data = json!({
        "types": TensorType::in_files().map(|(number, kind)| (number, kind.block())).collect::<BTreeMap<_, _>>(),
        "quants": FILE_TYPES.iter().copied().collect::<BTreeMap<_, _>>(),
        "names": shape_names().collect::<BTreeMap<_, _>>(),
        "every": every.map(|family| (family.name, family.full_attention_every)).collect::<BTreeMap<_, _>>(),
        "copies": copies.map(|family| family.name).collect::<Vec<_>>(),
        "shapes": cx.inputs.fits.shapes,
    });
    let mut outputs = Outputs::default();
    outputs.add("data/gguf.js", format!("kbgen.gguf={data};\n"));
    outputs
}
