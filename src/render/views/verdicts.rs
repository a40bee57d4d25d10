//! Verdicts for a model on devices, and their summary.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use kbgen_estimate::backend::Backend;
use kbgen_estimate::plan::Verdict;
use serde::Serialize;

use crate::render::address::href;
use crate::render::views::common::{CellVerdict, CellView, Step, context_label};
use crate::render::views::context::RenderContext;
use crate::render::views::defaults::{cards, default_quant};
use crate::render::views::machine::MachineType;
use crate::render::views::partial::partial;
use crate::site::kinds::{DeviceData, ModelData};
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, DeviceMemory, Figures, Page, Run, format_count};

/// A memory size with the GPUs that have it.
#[derive(Serialize)]
pub(super) struct SizeRow {
    memory: String,
    devices: Vec<Step>,
    quant_cells: Vec<CellView>,
}

/// Quantizations in tables of verdicts.
pub(super) const TABLE_QUANTS: [&str; 3] = [DEFAULT_QUANT, "Q8_0", "F16"];

/// Returns those of [`TABLE_QUANTS`] that the site has pages for.
pub(super) fn table_quants(cx: &RenderContext<'_>) -> Vec<String> {
    let known = TABLE_QUANTS.iter().filter(|name| cx.inputs.fits.quant(name).is_some());
    known.map(|name| (*name).to_string()).collect()
}

/// Returns the quantizations in a model's table of verdicts: those of [`TABLE_QUANTS`] that it is available in, else
/// the default one.
pub(super) fn quants_of(cx: &RenderContext<'_>, model: &ModelData, figures: &Figures) -> Vec<usize> {
    let has = |quant: &usize| figures.quants[*quant].is_some();
    let quants: Vec<usize> =
        TABLE_QUANTS.iter().filter_map(|name| cx.inputs.fits.quant(name)).filter(has).collect();
    match quants.is_empty() {
        true => default_quant(cx.inputs, model, figures).into_iter().collect(),
        false => quants,
    }
}

/// Returns verdicts for a model on a device, by quantization.
pub(super) fn cells(
    cx: &RenderContext<'_>,
    model: &ModelData,
    figures: &Figures,
    memory: &DeviceMemory,
) -> Vec<CellView> {
    let usual = default_quant(cx.inputs, model, figures);
    let quants = quants_of(cx, model, figures).into_iter();
    let cell = |quant| match Some(quant) == usual {
        true => cell_with_offload(cx, figures, quant, memory),
        false => cell(cx, figures, quant, memory),
    };
    quants.filter_map(cell).collect()
}

/// Returns the verdict for a model in a quantization on a device; if the model does not fit, whether a part of it runs
/// there.
pub(super) fn cell_with_offload(
    cx: &RenderContext<'_>,
    figures: &Figures,
    quant: usize,
    memory: &DeviceMemory,
) -> Option<CellView> {
    let whole = cell(cx, figures, quant, memory)?;
    if whole.verdict != CellVerdict::No {
        return Some(whole);
    }
    let part = partial(cx, figures, quant, DEFAULT_CTX.min(figures.max_ctx), memory);
    Some(match part {
        Some(note) => CellView { verdict: CellVerdict::Part, note: Some(note), ..whole },
        None => whole,
    })
}

/// Returns the verdict for a whole model in a quantization on a device.
fn cell(cx: &RenderContext<'_>, figures: &Figures, quant: usize, memory: &DeviceMemory) -> Option<CellView> {
    let ctx = DEFAULT_CTX.min(figures.max_ctx);
    let verdict = memory.verdict(figures.total_range(quant, Run::plain(0), ctx, memory.backends)?);
    let largest = || figures.largest_context(quant, Run::plain(0), memory);
    let largest = (verdict == Verdict::Fits).then(largest).flatten();
    Some(CellView {
        quant: cx.inputs.fits.quants[quant].clone(),
        verdict: verdict.into(),
        note: largest.map(|ctx| cx.fill("to {n}", &[("n", &format_count(ctx))])),
    })
}

/// Context of the verdict at the top of a model page, or the model's maximum if that is smaller.
const SUMMARY_CTX: u64 = 32_768;

/// Describes the smallest GPU that holds the whole model, and the smallest one that runs it with its experts in RAM.
pub(super) fn verdict_summary(
    cx: &RenderContext<'_>,
    model: &ModelData,
    figures: &Figures,
) -> Option<String> {
    let quant = default_quant(cx.inputs, model, figures)?;
    let ctx = SUMMARY_CTX.min(figures.max_ctx);
    let total = figures.total(quant, Run::plain(0), ctx)?;
    let smallest = |needed: u64| {
        let card = cx.card_sizes.iter().find(|size| {
            let memory = DeviceMemory::cuda(size.visible);
            needed + memory.driver.high.0 <= memory.visible.low.0
        });
        card.map(|size| size.memory_gib)
    };
    let layers = figures.classes.len();
    let without_experts = match figures.experts {
        Some(_) => figures.total_of_part(quant, Run::plain(0), (layers + 1, layers), ctx, &[Backend::Cuda]),
        None => None,
    };
    let whole = smallest(total);
    let offloaded = without_experts.and_then(smallest).filter(|part| whole.is_none_or(|whole| *part < whole));
    let size = |gib: f64| format!("{gib} GB");
    let fit = figures.quants[quant].as_ref()?;
    let experts: u64 = fit.layers.iter().map(|kind| fit.kinds[*kind].experts.host).sum();
    let quant = &cx.inputs.fits.quants[quant];
    let context = context_label(ctx);
    let ram = format!("{} GiB", experts.div_ceil(1 << 30));
    Some(match (whole.map(size), offloaded.map(size)) {
        (Some(whole), Some(part)) => cx.fill(
            "Runs on a {size} GPU at {quant} with {context} of context, and on {part} with the experts in RAM ({ram}).",
            &[("size", &whole), ("quant", quant), ("context", &context), ("part", &part), ("ram", &ram)],
        ),
        (Some(whole), None) => cx.fill(
            "Runs on a {size} GPU at {quant} with {context} of context.",
            &[("size", &whole), ("quant", quant), ("context", &context)],
        ),
        (None, Some(part)) => cx.fill(
            "Larger than any single GPU at {quant} with {context} of context. Runs on {part} with the experts in RAM ({ram}).",
            &[("quant", quant), ("context", &context), ("part", &part), ("ram", &ram)],
        ),
        (None, None) => cx.fill(
            "Larger than any single GPU at {quant} with {context} of context.",
            &[("quant", quant), ("context", &context)],
        ),
    })
}

/// Returns common GPUs by memory in bytes.
fn cards_by_size<'s>(cx: &RenderContext<'s>) -> BTreeMap<u64, Vec<&'s Page<DeviceData>>> {
    let mut sizes: BTreeMap<u64, Vec<&Page<DeviceData>>> = BTreeMap::new();
    for card in cards(cx.site()) {
        sizes.entry(card.data.memory_bytes()).or_default().push(card);
    }
    sizes
}

/// Returns verdicts for a model by memory size, those that hold it first, and the sizes that are too small.
pub(super) fn sizes(
    cx: &RenderContext<'_>,
    root: &str,
    model: &ModelData,
    figures: &Figures,
) -> (Vec<SizeRow>, Vec<String>) {
    let rows = cards_by_size(cx).into_iter().map(|(bytes, mut cards)| {
        cards.sort_by_key(|card| {
            (MachineType::of(&card.data), Reverse(card.data.released), card.head.title.value.clone())
        });
        let device = |card: &&Page<DeviceData>| Step {
            title: card.head.title.value.clone(),
            href: Some(href(root, &card.head.id.address())),
        };
        SizeRow {
            memory: cards.first().map(|card| format!("{} GB", card.data.memory_gb)).unwrap_or_default(),
            devices: cards.iter().map(device).collect(),
            quant_cells: cells(cx, model, figures, &DeviceMemory::cuda(cx.site().visible_of_size(bytes))),
        }
    });
    let (mut rows, too_small): (Vec<SizeRow>, Vec<SizeRow>) =
        rows.partition(|row| best_verdict(&row.quant_cells) < CellVerdict::No);
    rows.sort_by_key(|row| best_verdict(&row.quant_cells));
    (rows, too_small.into_iter().map(|row| row.memory).collect())
}

/// Returns the best verdict of a row.
pub(super) fn best_verdict<'c>(cells: impl IntoIterator<Item = &'c CellView>) -> CellVerdict {
    cells.into_iter().map(|cell| cell.verdict).min().unwrap_or(CellVerdict::No)
}
