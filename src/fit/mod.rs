//! Catalog times arithmetic: what every model needs, as exact look-ups, once a build.

mod architecture;
mod parameters;
mod prose;
mod rules;

use rayon::prelude::*;

pub use architecture::architecture;
pub use rules::RULES;

use crate::diag::Diagnostic;
use crate::estimate::architecture::Architecture;
use crate::estimate::estimator::{NotCovered, driver_context, weight_bytes};
use crate::estimate::placement::Device;
use crate::estimate::quantization::{CacheType, Quantization};
use crate::estimate::segments::{Segment, device_segments};
use crate::estimate::settings::Settings;
use crate::fit::rules::BAD_ARCHITECTURE;
use crate::site::kinds::ModelData;
use crate::site::{CACHE_TYPES, Curve, Figures, FitTable, ModelFit, Page, QuantFit, Site};

/// Figures of all models for the quantizations that the site has pages for, and of all calls in prose.
pub fn table(site: &Site) -> (FitTable, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let quants = quantizations(site, &mut found);
    let fits: Vec<_> = site.models.par_iter().map(|model| model_fit(model, &quants)).collect();
    let driver = driver_context(Device::Gpu(0)).expect("a GPU has a driver");
    let mut table = FitTable {
        quants: quants.iter().map(|quant| quant.name().to_string()).collect(),
        cache_types: CACHE_TYPES.map(str::to_string).to_vec(),
        driver: (driver.low.0, driver.high.0),
        ..FitTable::default()
    };
    for (page, fit) in site.models.iter().zip(fits) {
        let fit = match fit {
            Ok(fit) => fit,
            Err(finding) => {
                found.push(finding);
                ModelFit::NotCovered("its hyperparameters contradict each other".into())
            }
        };
        table.models.insert(page.head.id.slug.clone(), fit);
    }
    table.parameters = parameters::counts(site, &mut found);
    let prose = prose::figures(site, &table, &mut found);
    table.prose = prose;
    (table, found)
}

/// The quantizations of the site's own pages, the widest first.
fn quantizations(site: &Site, found: &mut Vec<Diagnostic>) -> Vec<Quantization> {
    let mut quants = Vec::new();
    for page in &site.quants {
        let name = &page.data.gguf_type;
        match name.value.parse::<Quantization>() {
            Ok(quant) => quants.push(quant),
            Err(_) if name.value.is_empty() => {}
            Err(_) => found.push(rules::unknown_quantization(name)),
        }
    }
    quants.sort();
    quants.dedup();
    quants
}

fn model_fit(page: &Page<ModelData>, quants: &[Quantization]) -> Result<ModelFit, Diagnostic> {
    let model = match architecture(&page.data.architecture) {
        Ok(Some(model)) => model,
        Ok(None) => return Ok(ModelFit::NotCovered("its hyperparameters are not complete".into())),
        Err(fault) => {
            return Err(Diagnostic::error(&BAD_ARCHITECTURE, fault.span, fault.message).help(fault.help));
        }
    };
    Ok(match covered(&model, quants) {
        Ok(figures) => ModelFit::Covered(Box::new(figures)),
        Err(NotCovered(reason)) => ModelFit::NotCovered(reason),
    })
}

/// Whether files of the model are made in a quantization. MXFP4 is a type for experts: llama-quantize calls it
/// `MXFP4_MOE`, and what it makes of a dense model is a Q8_0 file under another name
/// (`llama_tensor_get_type_impl` in llama.cpp's `src/llama-quant.cpp`).
fn comes_in(model: &Architecture, quant: Quantization) -> bool {
    quant != Quantization::MXFP4 || model.experts.is_some()
}

fn covered(model: &Architecture, quants: &[Quantization]) -> Result<Figures, NotCovered> {
    let weights = quants.iter().map(|quant| {
        comes_in(model, *quant).then(|| {
            let weights = weight_bytes(model, *quant);
            QuantFit { file: weights.file.0, gpu: weights.gpu.0, host: weights.host.0 }
        })
    });
    let mut figures = Figures {
        max_ctx: model.max_context,
        quants: weights.collect(),
        kv: Vec::new(),
        compute: Vec::new(),
    };
    for name in CACHE_TYPES {
        let cache: CacheType = name.parse().expect("the estimator knows the cache types of the table");
        let mut settings = Settings::new(quants.first().copied().unwrap_or(Quantization::F16), 4096);
        (settings.cache_type_k, settings.cache_type_v) = (cache, cache);
        let devices = device_segments(model, &settings)?;
        let gpu =
            devices.iter().find(|device| device.device == Device::Gpu(0)).expect("the settings have a GPU");
        figures.kv.push(curve(&gpu.cache));
        figures.compute.push(curve(&gpu.compute));
    }
    Ok(figures)
}

fn curve(pieces: &[Segment]) -> Curve {
    Curve { pieces: pieces.iter().map(|piece| (piece.cells, piece.bytes.0, piece.slope)).collect() }
}
