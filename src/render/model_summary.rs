//! `data/runs.js`: the memory of every model at a few settings, for pages that compare all models.

use serde_json::{Value, json};

use crate::files::Outputs;
use crate::render::views::{CONTEXTS, RenderContext, by_parameters, default_quant};
use crate::site::kinds::ModelData;
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, Figures, Page, Run};

/// Quantizations that are included, if the site has pages for them.
const QUANTS: [&str; 3] = ["Q8_0", "Q5_K_M", "Q4_K_M"];

/// Makes `data/runs.js`: a single assignment, so that it also loads from disk.
///
/// Weights do not depend on the context, nor cache and compute buffer on the quantization, so each model has one
/// exact number of bytes for each; the memory is the sum of two. The cache is f16, and all layers are on one GPU. A
/// context beyond the model's maximum is `null`, and so is an unavailable quantization.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let fits = cx.inputs.fits;
    let quants: Vec<(&str, usize)> =
        QUANTS.iter().filter_map(|name| Some((*name, fits.quant(name)?))).collect();
    let models: Vec<Value> = by_parameters(cx)
        .into_iter()
        .filter_map(|model| {
            let figures = fits.figures(&model.head.id.slug)?;
            Some(json!([
                model.head.id.slug,
                model.head.title.value,
                model.data.parameters.as_ref().map(|count| count.value),
                quants
                    .iter()
                    .map(|(name, quant)| weights(cx, model, figures, name, *quant))
                    .collect::<Vec<_>>(),
                CONTEXTS.map(|ctx| buffers(figures, ctx)),
            ]))
        })
        .collect();
    let data = json!({
        "quants": quants.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "contexts": CONTEXTS,
        "quant": DEFAULT_QUANT,
        "ctx": DEFAULT_CTX,
        "driver": [fits.driver.0, fits.driver.1],
        "models": models,
    });
    let mut outputs = Outputs::default();
    outputs.add("data/runs.js", format!("kbgen.runs={data};\n"));
    outputs
}

/// Returns the weights in a quantization. For a model that is released in a narrow type, that type replaces the
/// default.
fn weights(
    cx: &RenderContext<'_>,
    model: &Page<ModelData>,
    figures: &Figures,
    name: &str,
    quant: usize,
) -> Option<u64> {
    let place = match name == DEFAULT_QUANT {
        true => default_quant(cx.inputs, &model.data, figures)?,
        false => quant,
    };
    figures.quants[place].as_ref().map(|fit| fit.gpu)
}

/// Returns cache and compute buffer at a context; `None` beyond the maximum.
fn buffers(figures: &Figures, ctx: u64) -> Option<u64> {
    let run = Run::plain(0);
    (ctx <= figures.max_ctx).then(|| Some(figures.cache(run, ctx) + figures.compute(run, ctx)?))?
}
