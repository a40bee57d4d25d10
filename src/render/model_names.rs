//! `data/model-names.js`: published models with the shape of a model of the site, for names that no model of the site has.

use serde_json::{Value, json};

use crate::files::Outputs;
use crate::render::views::RenderContext;
use crate::site::all_published;

/// Makes a script with the slug of each model and the names of the published models of its shape. A single assignment, so
/// that it also loads from disk.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let shapes = all_published().chunk_by(|one, next| one.slug == next.slug);
    let known = shapes.filter(|models| cx.inputs.fits.figures(models[0].slug).is_some());
    let rows: Vec<Value> = known
        .map(|models| {
            let names: Vec<&str> = models.iter().map(|model| model.name).collect();
            json!([models[0].slug, names.join(" ")])
        })
        .collect();
    let mut outputs = Outputs::default();
    outputs.add("data/model-names.js", format!("kbgen.published={};\n", json!(rows)));
    outputs
}
