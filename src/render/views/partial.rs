//! Runs models that no single GPU holds on one GPU, with experts or some layers in RAM.

use crate::render::views::context::RenderContext;
use crate::site::{Figures, Run};

/// Describes how much of a model runs on a GPU with `memory` usable bytes: all but its experts, or more than half of
/// its layers; `None` if neither fits.
pub(super) fn partial(
    cx: &RenderContext<'_>,
    figures: &Figures,
    quant: usize,
    ctx: u64,
    memory: u64,
) -> Option<String> {
    let layers = figures.classes.len();
    let memory = memory.saturating_sub(cx.inputs.fits.driver.1);
    let runs = |gpu_layers: usize, host_experts: usize| {
        let total = figures.total_of_part(quant, Run::plain(0), (gpu_layers, host_experts), ctx);
        total.is_some_and(|total| total <= memory)
    };
    if figures.experts.is_some() && runs(layers + 1, layers) {
        return Some(cx.tr("experts in RAM").into());
    }
    let most = (layers / 2 + 1..=layers + 1).rev().find(|count| runs(*count, 0))?;
    Some(cx.fill("{n} of {all}", &[("n", &most), ("all", &(layers + 1))]))
}
