//! `data/runs.js`: the memory of every model at a few settings, for pages that compare all models.

use serde_json::{Value, json};

use crate::files::Outputs;
use crate::render::fit_files::profiles;
use crate::render::views::{CONTEXTS, RenderContext, by_parameters, default_quant};
use crate::site::kinds::ModelData;
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, Figures, Page, QuantFit, Run};

/// Quantizations that are included, if the site has pages for them.
const QUANTS: [&str; 3] = ["Q8_0", "Q5_K_M", "Q4_K_M"];

/// Makes `data/runs.js`: a single assignment, so that it also loads from disk.
///
/// Weights do not depend on the context, nor cache and compute buffer on the quantization, so each model has one
/// number of bytes for each, exact on CUDA; the memory is their sum. Files are for backends that map them. The cache is
/// f16, and all layers are on one GPU. A context beyond the model's maximum is `null`, and so is an unavailable
/// quantization.
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
                quants
                    .iter()
                    .map(|(name, quant)| file_bytes(cx, model, figures, name, *quant))
                    .collect::<Vec<_>>(),
            ]))
        })
        .collect();
    let data = json!({
        "quants": quants.iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "contexts": CONTEXTS,
        "quant": DEFAULT_QUANT,
        "ctx": DEFAULT_CTX,
        "driver": [fits.driver.0, fits.driver.1],
        "backends": profiles(),
        "models": models,
    });
    let mut outputs = Outputs::default();
    outputs.add("data/runs.js", format!("kbgen.runs={data};\n"));
    outputs
}

/// Returns the weights on a GPU in a quantization.
fn weights(
    cx: &RenderContext<'_>,
    model: &Page<ModelData>,
    figures: &Figures,
    name: &str,
    quant: usize,
) -> Option<u64> {
    in_quant(cx, model, figures, name, quant).map(|fit| fit.gpu)
}

/// The file in a quantization.
fn file_bytes(
    cx: &RenderContext<'_>,
    model: &Page<ModelData>,
    figures: &Figures,
    name: &str,
    quant: usize,
) -> Option<u64> {
    in_quant(cx, model, figures, name, quant).map(|fit| fit.file)
}

/// A model that is released in a type of its own has that one in place of the default.
fn in_quant<'f>(
    cx: &RenderContext<'_>,
    model: &Page<ModelData>,
    figures: &'f Figures,
    name: &str,
    quant: usize,
) -> Option<&'f QuantFit> {
    let place = match name == DEFAULT_QUANT {
        true => default_quant(cx.inputs, &model.data, figures)?,
        false => quant,
    };
    figures.quants[place].as_ref()
}

/// Returns cache and compute buffer at a context; `None` beyond the maximum.
fn buffers(figures: &Figures, ctx: u64) -> Option<[u64; 2]> {
    let run = Run::plain(0);
    (ctx <= figures.max_ctx).then(|| Some([figures.cache(run, ctx), figures.compute(run, ctx)?]))?
}
