//! The run and the cards that pages take as the usual ones, and the smallest such card that holds a model.

use crate::render::Order;
use crate::site::kinds::{DeviceData, ModelData};
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, Figures, Page, Run};
use kbgen_estimate::plan::Verdict;

/// Contexts that tables show, as far as the model goes.
pub(in crate::render) const CONTEXTS: [u64; 4] = [4096, 8192, 32_768, 131_072];

/// The usual run of a model, all of it on one GPU, and what that takes in bytes.
pub(in crate::render) struct UsualRun {
    /// Name of the quantization.
    pub quant_name: String,
    /// Context in tokens.
    pub ctx: u64,
    /// Weights.
    pub weights: u64,
    /// Cache and state.
    pub kv: u64,
    /// Compute buffer.
    pub compute: u64,
}

impl UsualRun {
    /// All three parts.
    pub fn total(&self) -> u64 {
        self.weights + self.kv + self.compute
    }
}

/// The quantization that a model is shown in where nobody chose another: as it was released, else the default.
pub(in crate::render) fn usual_quant(
    order: &Order<'_>,
    model: &ModelData,
    figures: &Figures,
) -> Option<usize> {
    let has = |quant: &usize| figures.quants[*quant].is_some();
    let released = model.released_as.as_ref().and_then(|name| order.fits.quant(&name.value)).filter(has);
    released
        .or_else(|| order.fits.quant(DEFAULT_QUANT).filter(has))
        .or_else(|| (0..figures.quants.len()).find(has))
}

/// The weights as they were released, else at 4 bits, with the widest cache; none for a model that is not covered.
pub(in crate::render) fn usual_run(order: &Order<'_>, model: &Page<ModelData>) -> Option<UsualRun> {
    let fits = order.fits;
    let figures = fits.figures(&model.head.id.slug)?;
    let run = Run::plain(0);
    let quant = usual_quant(order, &model.data, figures)?;
    let ctx = figures.max_ctx.min(DEFAULT_CTX);
    Some(UsualRun {
        quant_name: fits.quants.get(quant)?.clone(),
        ctx,
        weights: figures.quants[quant].as_ref()?.gpu,
        kv: figures.cache(run, ctx),
        compute: figures.compute(run, ctx)?,
    })
}

/// CUDA cards that people buy for a desk or a server, the smallest first.
pub(in crate::render) fn cards<'s>(order: &Order<'s>) -> Vec<&'s Page<DeviceData>> {
    let mut cards: Vec<_> = order
        .site
        .devices
        .iter()
        .filter(|device| {
            device.data.is_cuda() && device.data.released.is_some_and(|date| date.year() >= 2018)
        })
        .filter(|device| !device.data.generation.as_deref().unwrap_or_default().contains("Mobile"))
        .collect();
    cards.sort_by_key(|device| (device.data.memory_bytes(), device.head.title.value.clone()));
    cards
}

/// The smallest card that holds the usual run of a model.
pub(in crate::render) struct RunsOn {
    /// The run.
    pub run: UsualRun,
    /// Memory of the card as it is sold; none where no single card holds the run.
    pub memory_gib: Option<f64>,
    /// Address of the badge that says so.
    pub badge: String,
}

/// On what a model runs, if it is covered: the driver may take the most that it does.
pub(in crate::render) fn runs_on(order: &Order<'_>, model: &Page<ModelData>) -> Option<RunsOn> {
    let run = usual_run(order, model)?;
    let card = cards(order).into_iter().find(|card| {
        let visible = order.site.visible_of_size(card.data.memory_bytes());
        Verdict::of(run.total(), visible) == Verdict::Fits
    });
    Some(RunsOn {
        run,
        memory_gib: card.map(|card| card.data.memory_gb),
        badge: format!("badges/{}.svg", model.head.id.slug),
    })
}
