//! Contents of a share picture, without layout.

use serde::Serialize;

use crate::i18n::text;
use crate::render::RenderInputs;
use crate::render::views::{CardSize, RunsOn, card_sizes, fitting, runs_on, signature_text};
use crate::site::kinds::{DeviceData, ErrorData, ModelData};
use crate::site::{Kind, Page, PageId, number};

/// Contents of a share picture.
#[derive(Debug, Serialize)]
pub(super) struct Card {
    /// Category or kind of the page.
    pub kind: String,
    pub title: String,
    pub is_error: bool,
    pub content: CardBody,
}

/// Contents below the title.
#[derive(Debug, Serialize)]
pub(super) enum CardBody {
    /// A line of a log, with `…` for its variable parts.
    Message(String),
    /// Memory of a model with default settings.
    MemoryFigures(MemoryFigures),
    /// Figures with their names.
    Figures(Vec<(String, String)>),
    /// First paragraph of the page.
    Lead(String),
}

/// Memory of a model with default settings.
#[derive(Debug, Serialize)]
pub(super) struct MemoryFigures {
    /// Quantization and context.
    pub run: String,
    /// Bytes and names of weights, cache and compute buffer.
    pub parts: [(u64, String); 3],
    /// Memory of the smallest GPU that holds the model, in bytes; if there is none, the memory of the model.
    pub size: u64,
    /// Whether a GPU holds the model, in words.
    pub answer: String,
}

/// Returns the pages with a picture of their own, with its contents.
pub(super) fn all(inputs: &RenderInputs<'_>) -> Vec<(PageId, Card)> {
    let site = inputs.site;
    let errors = site.errors.iter().map(|page| (page.head.id.clone(), error(inputs, page)));
    let card_sizes = card_sizes(site);
    let models = site.models.iter().map(|page| (page.head.id.clone(), model(inputs, &card_sizes, page)));
    let devices = site.devices.iter().map(|page| (page.head.id.clone(), device(inputs, page)));
    let guides = site.guides.iter().map(|page| {
        let content = CardBody::Lead(page.head.body.outline.lead.clone());
        let kind = inputs.config.texts.tr("Guide").into();
        let card = Card { kind, title: page.head.title.value.clone(), is_error: false, content };
        (page.head.id.clone(), card)
    });
    errors.chain(models).chain(devices).chain(guides).collect()
}

/// Returns the contents of the picture for all other pages.
pub(super) fn site(inputs: &RenderInputs<'_>) -> Card {
    let count = |count: usize, one: &'static str, many: &'static str| {
        let name = inputs.config.texts.tr(if count == 1 { one } else { many });
        (count > 0).then(|| (count.to_string(), name.to_string()))
    };
    let figures = [
        count(inputs.site.errors.len(), text("error"), text("errors")),
        count(inputs.site.models.len(), text("model"), text("models")),
        count(inputs.site.devices.len(), text("device"), text("devices")),
    ];
    Card {
        kind: String::new(),
        title: inputs.config.tagline.clone(),
        is_error: true,
        content: CardBody::Figures(figures.into_iter().flatten().collect()),
    }
}

fn error(inputs: &RenderInputs<'_>, page: &Page<ErrorData>) -> Card {
    let category = inputs.site.categories.iter().find(|category| category.head.id.slug == page.data.category);
    let kind = category.map_or(inputs.config.texts.tr("Error"), |category| &category.head.title.value);
    let message = page.data.signatures.first().map(|signature| signature_text(signature.text()));
    Card {
        kind: kind.to_string(),
        title: page.head.title.value.clone(),
        is_error: true,
        content: CardBody::Message(message.unwrap_or_default()),
    }
}

fn model(inputs: &RenderInputs<'_>, card_sizes: &[CardSize], page: &Page<ModelData>) -> Card {
    let texts = &inputs.config.texts;
    let content = match runs_on(inputs, card_sizes, page) {
        Some(RunsOn { run, card, .. }) => {
            let memory_gib = card.map(|card| card.memory_gib);
            let parts =
                [(text("Weights"), run.weights), (text("Cache"), run.kv), (text("Compute"), run.compute)];
            let answer = match memory_gib {
                Some(size) => texts.fill("fits in {n} GB", &[("n", &size)]),
                None => texts.tr("no single GPU holds it").into(),
            };
            CardBody::MemoryFigures(MemoryFigures {
                run: texts
                    .fill("{quant}, {n} tokens of context", &[("quant", &run.quant_name), ("n", &run.ctx)]),
                parts: parts.map(|(name, bytes)| (bytes, texts.tr(name).into())),
                size: memory_gib.map_or(run.total(), |size| (size * f64::from(1 << 30)) as u64),
                answer,
            })
        }
        None => CardBody::Lead(page.head.body.outline.lead.clone()),
    };
    Card { kind: texts.tr("Model").into(), title: page.head.title.value.clone(), is_error: false, content }
}

fn device(inputs: &RenderInputs<'_>, page: &Page<DeviceData>) -> Card {
    let (data, texts) = (&page.data, &inputs.config.texts);
    let memory = Some((format!("{} GB", data.memory_gb), texts.tr("memory").to_string()));
    let bandwidth =
        data.bandwidth_gbps.map(|rate| (format!("{} GB/s", number(rate)), texts.tr("bandwidth").to_string()));
    let fitting = Some(fitting(inputs, &data.memory())).map(|fitting| {
        let share = texts.fill("{n} of {all}", &[("n", &fitting.count), ("all", &fitting.of)]);
        (share, texts.fill("models fit at {quant}", &[("quant", &fitting.quant)]))
    });
    Card {
        kind: texts.tr("Hardware").into(),
        title: page.head.title.value.clone(),
        is_error: false,
        content: CardBody::Figures([memory, bandwidth, fitting].into_iter().flatten().collect()),
    }
}

/// Returns whether pages of a kind have pictures of their own.
pub(super) fn has_own(kind: Kind) -> bool {
    matches!(kind, Kind::Error | Kind::Model | Kind::Hardware | Kind::Guide)
}
