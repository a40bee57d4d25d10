//! The page that finds GPUs for a model.

use kbgen_estimate::plan::Verdict;
use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;

use crate::render::address::{href, root};
use crate::render::templates::view_value;
use crate::render::views::TemplatePage;
use crate::render::views::common::{Step, context_label, parameters};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::defaults::default_quant;
use crate::render::views::machine::MachineType;
use crate::render::views::model::by_parameters;
use crate::site::kinds::{DeviceData, ModelData};
use crate::site::{DEFAULT_CTX, DEFAULT_QUANT, Figures, Page, Run};

#[derive(Serialize)]
struct ChooseView<'s> {
    fit: &'s serde_json::Value,
    places: serde_json::Value,
    quant: String,
    context_label: String,
    models: usize,
    sizes: Vec<SizeRow>,
}

/// Models that fit in a memory size.
#[derive(Serialize)]
struct SizeRow {
    memory: String,
    cards: Vec<Step>,
    more_cards: usize,
    fits: usize,
    largest: Vec<LargeModel>,
}

#[derive(Serialize)]
struct LargeModel {
    title: String,
    href: String,
    parameters: Option<String>,
}

/// Maximum number of GPUs and models per size.
const MAX_SHOWN: usize = 3;

pub(super) fn build_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let address = "choose-gpu/";
    let description = cx.tr(
        "Select a model, a quantization and a context to find the smallest GPUs that run it, by memory and type of machine, with the memory that remains.",
    );
    let mut meta = PageMeta::listing(address, "choose-gpu", cx.tr("Choose a GPU"), description);
    meta.trail = vec![(cx.tr("Hardware").into(), "hardware/")];
    let layout = cx.layout(meta);
    let view = with_layout(layout, "choose", view_value(view(cx, &root(address))));
    vec![TemplatePage { address: address.into(), template: "choose-gpu.html".into(), view }]
}

fn view<'s>(cx: &'s RenderContext<'_>, root: &str) -> ChooseView<'s> {
    let fits = cx.inputs.fits;
    let models: Vec<(&Page<ModelData>, u64)> = by_parameters(cx)
        .into_iter()
        .filter_map(|model| {
            let figures = fits.figures(&model.head.id.slug)?;
            Some((model, total(figures, default_quant(cx.inputs, &model.data, figures)?)?))
        })
        .collect();
    ChooseView {
        fit: cx.fit_index,
        places: places(cx),
        quant: DEFAULT_QUANT.into(),
        context_label: context_label(DEFAULT_CTX),
        models: models.len(),
        sizes: cards_by_memory(cx).into_values().map(|cards| size_row(cx, root, &cards, &models)).collect(),
    }
}

/// Returns machine types for the script: their names, and the index of each device's type in the order of the fit
/// index.
fn places(cx: &RenderContext<'_>) -> serde_json::Value {
    let own = |device: &Page<DeviceData>| {
        let own = MachineType::of(&device.data);
        MachineType::ALL.iter().position(|place| *place == own)
    };
    json!({
        "names": MachineType::ALL.map(|place| cx.tr(place.title())),
        "of": cx.site().devices.iter().map(own).collect::<Vec<_>>(),
    })
}

/// Returns the memory that a model needs at the default context; `None` if its maximum context is shorter.
fn total(figures: &Figures, quant: usize) -> Option<u64> {
    (DEFAULT_CTX <= figures.max_ctx).then(|| figures.total(quant, Run::plain(0), DEFAULT_CTX))?
}

/// Returns GPUs by memory in bytes, the newest first.
fn cards_by_memory<'s>(cx: &RenderContext<'s>) -> BTreeMap<u64, Vec<&'s Page<DeviceData>>> {
    let mut sizes: BTreeMap<u64, Vec<&Page<DeviceData>>> = BTreeMap::new();
    for device in cx.site().devices.iter().filter(|device| device.data.is_cuda()) {
        sizes.entry(device.data.memory_bytes()).or_default().push(device);
    }
    for cards in sizes.values_mut() {
        cards.sort_by_key(|card| {
            let newest_first = std::cmp::Reverse(card.data.released);
            (MachineType::of(&card.data), newest_first, card.head.title.value.clone())
        });
    }
    sizes
}

fn size_row(
    cx: &RenderContext<'_>,
    root: &str,
    cards: &[&Page<DeviceData>],
    models: &[(&Page<ModelData>, u64)],
) -> SizeRow {
    let memory = cards.first().map_or(0, |card| cx.site().visible_of_size(card.data.memory_bytes()));
    let that_fit: Vec<_> =
        models.iter().filter(|(_, total)| Verdict::of(*total, memory) == Verdict::Fits).collect();
    SizeRow {
        memory: cards.first().map(|card| format!("{} GB", card.data.memory_gb)).unwrap_or_default(),
        cards: cards
            .iter()
            .take(MAX_SHOWN)
            .map(|card| Step {
                title: card.head.title.value.clone(),
                href: Some(href(root, &card.head.id.address())),
            })
            .collect(),
        more_cards: cards.len().saturating_sub(MAX_SHOWN),
        fits: that_fit.len(),
        largest: that_fit
            .iter()
            .rev()
            .filter(|(model, _)| model.data.parameters.is_some())
            .take(MAX_SHOWN)
            .map(|(model, _)| LargeModel {
                title: model.head.title.value.clone(),
                href: href(root, &model.head.id.address()),
                parameters: model.data.parameters.as_ref().map(|count| parameters(count.value)),
            })
            .collect(),
    }
}
