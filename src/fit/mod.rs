//! Computes the fit table: the memory figures of every model, once per build.

mod architecture;
mod engines;
mod figures;
mod parameters;
mod prose;
mod rules;
mod suggestions;

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kbgen_estimate::architecture::Architecture;
use kbgen_estimate::estimator::{NotCovered, driver_context};
use kbgen_estimate::gguf::shape_key;
use kbgen_estimate::placement::Device;
use kbgen_estimate::plan::partial::sample_cells;
use kbgen_estimate::quantization::Quantization;
use rayon::prelude::*;

pub use architecture::architecture;
pub use figures::figures;
pub use prose::figures as prose_figures;
pub use rules::RULES;

use crate::diag::Diagnostic;
use crate::engine::{Engine, Kind};
use crate::fit::rules::BAD_ARCHITECTURE;
use crate::site::kinds::{ModelData, key};
use crate::site::{Figures, FitTable, ModelFit, Page, Site};

/// Computes the figures of all models in the quantizations that the site has pages for, and returns all findings.
pub fn table(site: &Site, engine: &Engine) -> (FitTable, Vec<Diagnostic>) {
    let mut found = Vec::new();
    let quants = quantizations(site, &mut found);
    let known = all_figures(site, &quants, engine);
    let fits: Vec<_> = site.models.iter().map(|model| model_fit(model, &known, &quants)).collect();
    let driver = driver_context(Device::Gpu(0)).expect("a GPU has a driver");
    let mut table = FitTable {
        quants: quants.iter().map(|quant| quant.name().to_string()).collect(),
        driver: (driver.low.0, driver.high.0),
        ..FitTable::default()
    };
    for (page, fit) in site.models.iter().zip(fits) {
        let fit = match fit {
            Ok(Some(fit)) => fit,
            Ok(None) => continue,
            Err(finding) => {
                found.push(finding);
                continue;
            }
        };
        table.models.insert(page.head.id.slug.clone(), fit);
    }
    table.shapes = shapes(site, &table);
    table.parameters = parameters::counts(site, &mut found);
    (table, found)
}

/// Returns the covered models by shape.
fn shapes(site: &Site, table: &FitTable) -> BTreeMap<String, String> {
    let mut shapes: BTreeMap<String, &Page<ModelData>> = BTreeMap::new();
    let order = |page: &Page<ModelData>| {
        let longest = table.figures(&page.head.id.slug).map(|figures| figures.max_ctx);
        (Reverse(longest), page.data.released.is_none(), page.data.released)
    };
    for page in &site.models {
        let Ok(Some(model)) = architecture(&page.data.architecture) else { continue };
        if table.figures(&page.head.id.slug).is_some() {
            let first = shapes.entry(shape_key(&model)).or_insert(page);
            if order(page) < order(first) {
                *first = page;
            }
        }
    }
    shapes.into_iter().map(|(key, page)| (key, page.head.id.slug.clone())).collect()
}

/// Returns the quantizations of the site's own pages, the widest first.
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
    let released = site.models.iter().filter_map(|page| page.data.released_as.as_ref());
    let unknown = released.filter(|name| name.value.parse::<Quantization>().is_err());
    found.extend(unknown.map(rules::unknown_quantization));
    quants
}

/// Figures by architecture without its maximum context: many models share one.
type Known = HashMap<Architecture, Result<Arc<Figures>, NotCovered>>;

/// Computes the memory of a model; `None` if its hyperparameters have errors, which are reported elsewhere.
fn model_fit(
    page: &Page<ModelData>,
    known: &Known,
    quants: &[Quantization],
) -> Result<Option<ModelFit>, Diagnostic> {
    let model = match architecture(&page.data.architecture) {
        Ok(Some(model)) if page.head.knows(key!(ModelData.architecture)) => model,
        Ok(_) => return Ok(None),
        Err(fault) => {
            return Err(Diagnostic::error(&BAD_ARCHITECTURE, fault.span, fault.message).help(fault.help));
        }
    };
    Ok(Some(match &known[&without_end(&model)] {
        Ok(figures) => ModelFit::Covered(as_released(up_to(figures, model.max_context), &page.data, quants)),
        Err(NotCovered(reason)) => ModelFit::NotCovered(reason.clone()),
    }))
}

/// Computes the figures of each distinct architecture once, up to the longest context of its models.
fn all_figures(site: &Site, quants: &[Quantization], engine: &Engine) -> Known {
    let mut ends: HashMap<Architecture, u64> = HashMap::new();
    for page in &site.models {
        if let Ok(Some(model)) = architecture(&page.data.architecture) {
            let end = ends.entry(without_end(&model)).or_default();
            *end = model.max_context.max(*end);
        }
    }
    ends.into_par_iter()
        .map(|(key, end)| {
            let model = Architecture { max_context: end, ..key.clone() };
            let figures =
                engine.pure(Kind::Figures, (&model, quants), |(model, quants)| figures(model, quants));
            (key, figures.map(Arc::new))
        })
        .collect()
}

fn without_end(model: &Architecture) -> Architecture {
    Architecture { max_context: 0, ..model.clone() }
}

fn up_to(figures: &Arc<Figures>, max_ctx: u64) -> Arc<Figures> {
    if figures.max_ctx == max_ctx {
        return Arc::clone(figures);
    }
    let curves = figures.curves.iter().map(|curve| curve.up_to(max_ctx)).collect();
    let count = sample_cells(max_ctx).count();
    let samples =
        figures.samples.iter().map(|samples| samples[..count.min(samples.len())].to_vec()).collect();
    Arc::new(Figures { max_ctx, curves, samples, ..Figures::clone(figures) })
}

/// Returns the quantizations in which a model's files exist. A model that is released in a narrow type has
/// only that type, because nobody publishes the others that the quantizer could create from it.
pub fn candidates(model: &ModelData, quants: &[Quantization]) -> Vec<Quantization> {
    let released = model.released_as.as_ref().and_then(|name| name.value.parse().ok());
    match released.filter(|released| quants.contains(released)) {
        Some(released) => vec![released],
        None => quants.to_vec(),
    }
}

/// Removes quantizations that the model is not available in.
fn as_released(figures: Arc<Figures>, model: &ModelData, quants: &[Quantization]) -> Arc<Figures> {
    let candidates = candidates(model, quants);
    if candidates.len() == quants.len() {
        return figures;
    }
    let kept = quants.iter().zip(&figures.quants);
    let kept = kept.map(|(quant, fit)| fit.clone().filter(|_| candidates.contains(quant)));
    let mut quants: Vec<_> = kept.collect();
    let mut samples = Vec::new();
    for place in quants.iter_mut().flatten().flat_map(|fit| fit.splits.places_mut()) {
        let known = samples.iter().position(|known| *known == figures.samples[*place]);
        *place = known.unwrap_or_else(|| {
            samples.push(figures.samples[*place].clone());
            samples.len() - 1
        });
    }
    Arc::new(Figures { quants, samples, ..Figures::clone(&figures) })
}
