//! Models on hardware pages: verdicts, grouped by the memory that the models need.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use kbgen_estimate::plan::Verdict;
use serde::Serialize;

use crate::render::address::href;
use crate::render::views::common::{CellVerdict, CellView, parameters};
use crate::render::views::context::RenderContext;
use crate::render::views::defaults::default_quant;
use crate::render::views::model::by_parameters;
use crate::render::views::verdicts::{best_verdict, cell_with_offload, cells};
use crate::site::kinds::{DeviceData, ModelData};
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, DeviceMemory, Figures, Page, Run};

/// Models that run, by the memory that they need.
#[derive(Serialize)]
pub(super) struct ModelGroup {
    pub id: String,
    pub title: String,
    pub models: Vec<ModelRow>,
}

#[derive(Serialize)]
pub(super) struct ModelRow {
    /// The smallest size in bytes that holds the model.
    #[serde(skip)]
    pub needs: Option<u64>,
    pub title: String,
    pub href: String,
    pub parameters: Option<String>,
    pub uses: String,
    pub verdict: CellVerdict,
    pub cells: Vec<Option<CellView>>,
}

/// Sizes in GB that divide the list of models of a device with one size.
const COMMON_SIZES: [u64; 9] = [8, 16, 24, 32, 48, 64, 96, 128, 256];

/// Formats a memory size as sold.
pub(super) fn as_sold(bytes: u64) -> String {
    format!("{} GB", bytes as f64 / 1_073_741_824.0)
}

/// Names the quantization of a verdict if it is not the default.
fn named(cell: CellView) -> CellView {
    if cell.quant == DEFAULT_QUANT {
        return cell;
    }
    let note = match &cell.note {
        Some(note) => format!("{}, {note}", cell.quant),
        None => cell.quant.clone(),
    };
    CellView { quant: DEFAULT_QUANT.into(), note: Some(note), ..cell }
}

/// Returns verdicts by quantization. One without a column is shown in the first column, with its name.
fn cells_by_quant(
    cx: &RenderContext<'_>,
    model: &ModelData,
    figures: &Figures,
    memory: &DeviceMemory,
    columns: &[String],
) -> Vec<Option<CellView>> {
    let cells = cells(cx, model, figures, memory);
    let in_column = |cell: CellView| if columns.contains(&cell.quant) { cell } else { named(cell) };
    let cells: Vec<CellView> = cells.into_iter().map(in_column).collect();
    columns.iter().map(|column| cells.iter().find(|cell| cell.quant == *column).cloned()).collect()
}

/// Returns verdicts in the default quantization by memory size.
fn cells_by_size(
    cx: &RenderContext<'_>,
    model: &ModelData,
    figures: &Figures,
    device: &DeviceData,
) -> Vec<Option<CellView>> {
    let quant = default_quant(cx.inputs, model, figures);
    let cell = |size: u64| {
        let memory = DeviceMemory::new(device.backends(), device.visible_range(size));
        cell_with_offload(cx, figures, quant?, &memory).map(named)
    };
    device.memory_sizes().into_iter().map(cell).collect()
}

/// Returns verdicts for the models that run: those that fit first, the largest of them first.
pub(super) fn models(
    cx: &RenderContext<'_>,
    root: &str,
    device: &DeviceData,
    columns: &[String],
) -> Vec<ModelRow> {
    let several = device.memory_sizes().len() > 1;
    let models = by_parameters(cx).into_iter().rev();
    let memory = |size| (size, DeviceMemory::new(device.backends(), device.visible_range(size)));
    let steps: Vec<(u64, DeviceMemory)> = steps(device).into_iter().map(memory).collect();
    let row = |model: &Page<ModelData>| {
        let figures = cx.inputs.fits.figures(&model.head.id.slug)?;
        let cells = match several {
            true => cells_by_size(cx, &model.data, figures, device),
            false => cells_by_quant(cx, &model.data, figures, &device.memory(), columns),
        };
        let experts = figures.experts.map(|_| "experts");
        let uses: Vec<&str> = model.data.uses.iter().map(|own| own.name()).chain(experts).collect();
        let quant = default_quant(cx.inputs, &model.data, figures)?;
        let ctx = DEFAULT_CTX.min(figures.max_ctx);
        let total = figures.total_range(quant, Run::plain(0), ctx, device.backends())?;
        let holds = |(_, memory): &&(u64, DeviceMemory)| memory.verdict(total) == Verdict::Fits;
        Some(ModelRow {
            needs: steps.iter().find(holds).map(|(size, _)| *size),
            title: model.head.title.value.clone(),
            href: href(root, &model.head.id.address()),
            parameters: model.data.parameters.as_ref().map(|count| parameters(count.value)),
            uses: uses.join("|"),
            verdict: best_verdict(cells.iter().flatten()),
            cells,
        })
    };
    let mut rows: Vec<ModelRow> = models.filter_map(row).collect();
    rows.retain(|row| row.verdict != CellVerdict::No);
    rows.sort_by_key(|row| (row.verdict, row.parameters.is_none()));
    rows
}

/// Returns the memory sizes in bytes that divide the list of models, the smallest first.
fn steps(device: &DeviceData) -> Vec<u64> {
    let sizes = device.memory_sizes();
    let below = COMMON_SIZES.into_iter().map(|size| size << 30).filter(|size| *size < device.memory_bytes());
    if sizes.len() > 1 { sizes } else { below.chain(sizes).collect() }
}

/// Whether a model does not fit, the memory that it needs, and its verdict.
type GroupKey = (bool, Reverse<Option<u64>>, CellVerdict);

/// Groups models by the memory that they need, the most first; models that do not fit completely come last.
pub(super) fn groups(cx: &RenderContext<'_>, models: Vec<ModelRow>) -> Vec<ModelGroup> {
    let mut groups: BTreeMap<GroupKey, Vec<ModelRow>> = BTreeMap::new();
    for model in models {
        let verdict = if model.needs.is_some() { CellVerdict::Fits } else { model.verdict };
        groups.entry((model.needs.is_none(), Reverse(model.needs), verdict)).or_default().push(model);
    }
    let group = |((_, Reverse(needs), verdict), models): (GroupKey, Vec<ModelRow>)| {
        let (id, title) = match (needs.map(as_sold), verdict) {
            (Some(size), _) => (size.replace(' ', "-"), cx.fill("Need {size}", &[("size", &size)])),
            (None, CellVerdict::Fits | CellVerdict::Tight) => ("tight".into(), cx.tr("Tight").into()),
            (None, CellVerdict::Part | CellVerdict::No) => {
                ("in-part".into(), cx.tr("Run in part, the rest in RAM").into())
            }
        };
        ModelGroup { id: format!("need-{}", id.to_lowercase()), title, models }
    };
    groups.into_iter().map(group).collect()
}

/// Returns the number of models with figures that write text.
pub(super) fn covered(cx: &RenderContext<'_>) -> usize {
    let has_figures = |model: &&Page<ModelData>| cx.inputs.fits.figures(&model.head.id.slug).is_some();
    by_parameters(cx).into_iter().filter(has_figures).count()
}
