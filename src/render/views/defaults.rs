//! Default settings and GPUs of pages, and the smallest GPU that holds a model.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::render::RenderInputs;
use crate::site::kinds::{DeviceData, ModelData};
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, Figures, Page, Run, Site};
use kbgen_estimate::plan::Verdict;

/// Contexts in tables, limited by the model's maximum.
pub(in crate::render) const CONTEXTS: [u64; 4] = [4096, 8192, 32_768, 131_072];

/// A model with default settings on one GPU, and its memory in bytes.
pub(in crate::render) struct DefaultRun {
    /// Name of the quantization.
    pub quant_name: String,
    /// Context in tokens.
    pub ctx: u64,
    pub weights: u64,
    /// KV cache and state.
    pub kv: u64,
    /// Compute buffer.
    pub compute: u64,
}

impl DefaultRun {
    /// Returns the sum of all three parts.
    pub fn total(&self) -> u64 {
        self.weights + self.kv + self.compute
    }
}

/// Returns the default quantization of a model: the released one, else the general default, else the first available.
pub(in crate::render) fn default_quant(
    inputs: &RenderInputs<'_>,
    model: &ModelData,
    figures: &Figures,
) -> Option<usize> {
    let has = |quant: &usize| figures.quants[*quant].is_some();
    let released = model.released_as.as_ref().and_then(|name| inputs.fits.quant(&name.value)).filter(has);
    released
        .or_else(|| inputs.fits.quant(DEFAULT_QUANT).filter(has))
        .or_else(|| (0..figures.quants.len()).find(has))
}

/// Returns the default settings of a model with an f16 cache; `None` if it is not covered.
pub(in crate::render) fn default_run(
    inputs: &RenderInputs<'_>,
    model: &Page<ModelData>,
) -> Option<DefaultRun> {
    let fits = inputs.fits;
    let figures = fits.figures(&model.head.id.slug)?;
    let run = Run::plain(0);
    let quant = default_quant(inputs, &model.data, figures)?;
    let ctx = figures.max_ctx.min(DEFAULT_CTX);
    Some(DefaultRun {
        quant_name: fits.quants.get(quant)?.clone(),
        ctx,
        weights: figures.quants[quant].as_ref()?.gpu,
        kv: figures.cache(run, ctx),
        compute: figures.compute(run, ctx)?,
    })
}

/// Returns desktop and server GPUs with CUDA since 2018.
pub(in crate::render) fn cards(site: &Site) -> impl Iterator<Item = &Page<DeviceData>> {
    site.devices
        .iter()
        .filter(|device| {
            device.data.is_cuda() && device.data.released.is_some_and(|date| date.year() >= 2018)
        })
        .filter(|device| !device.data.generation.as_deref().unwrap_or_default().contains("Mobile"))
}

/// A memory size of GPUs.
#[derive(Debug, Serialize)]
pub(in crate::render) struct CardSize {
    /// Memory as sold, in GiB.
    pub memory_gib: f64,
    /// Bytes that programs can use.
    pub visible: u64,
}

/// Returns the memory sizes of all [`cards`], the smallest first.
pub(in crate::render) fn card_sizes(site: &Site) -> Vec<CardSize> {
    let sizes: BTreeMap<u64, f64> =
        cards(site).map(|card| (card.data.memory_bytes(), card.data.memory_gb)).collect();
    let size = |(bytes, memory_gib)| CardSize { memory_gib, visible: site.visible_of_size(bytes) };
    sizes.into_iter().map(size).collect()
}

/// The smallest GPU that holds a model with default settings.
pub(in crate::render) struct RunsOn<'c> {
    /// Settings of the model.
    pub run: DefaultRun,
    /// Memory of the GPU; `None` if no single GPU holds the model.
    pub card: Option<&'c CardSize>,
    /// Address of the badge.
    pub badge: String,
}

/// Returns the smallest GPU for a model, if it is covered; assumes the maximum memory use of the driver.
pub(in crate::render) fn runs_on<'c>(
    inputs: &RenderInputs<'_>,
    card_sizes: &'c [CardSize],
    model: &Page<ModelData>,
) -> Option<RunsOn<'c>> {
    let run = default_run(inputs, model)?;
    let card = card_sizes.iter().find(|size| Verdict::of(run.total(), size.visible) == Verdict::Fits);
    Some(RunsOn { run, card, badge: format!("badges/{}.svg", model.head.id.slug) })
}
