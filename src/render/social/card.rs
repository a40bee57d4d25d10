//! The content of a picture, apart from its drawing.

use crate::render::Order;
use crate::render::views::{RunsOn, fitting, runs_on, signature_text};
use crate::site::kinds::{DeviceData, ErrorData, ModelData};
use crate::site::{Kind, Page, PageId};
use crate::texts::text;

/// A picture in words and figures.
#[derive(Debug)]
pub(super) struct Card {
    /// Category or kind of the page.
    pub kind: String,
    pub title: String,
    pub is_error: bool,
    pub content: Content,
}

/// The part of a picture below the title.
#[derive(Debug)]
pub(super) enum Content {
    /// A line of a log, with `…` for its variable parts.
    Message(String),
    /// Memory that the default run of a model takes.
    Memory(Memory),
    /// Figures with their names.
    Figures(Vec<(String, String)>),
    /// The first paragraph of the page.
    Lead(String),
}

/// Memory that the default run of a model takes.
#[derive(Debug)]
pub(super) struct Memory {
    /// Quantization and context.
    pub run: String,
    /// Bytes and names of weights, cache and compute buffer.
    pub parts: [(u64, String); 3],
    /// Memory of the smallest GPU that holds the model, in bytes; where none does, the memory that the model takes.
    pub size: u64,
    /// Whether a GPU holds the model, in words.
    pub answer: String,
}

/// Pages with a picture of their own, with their cards.
pub(super) fn all(order: &Order<'_>) -> Vec<(PageId, Card)> {
    let site = order.site;
    let errors = site.errors.iter().map(|page| (page.head.id.clone(), error(order, page)));
    let models = site.models.iter().map(|page| (page.head.id.clone(), model(order, page)));
    let devices = site.devices.iter().map(|page| (page.head.id.clone(), device(order, page)));
    let guides = site.guides.iter().map(|page| {
        let content = Content::Lead(page.head.body.outline.lead.clone());
        let kind = order.config.texts.say("Guide").into();
        let card = Card { kind, title: page.head.title.value.clone(), is_error: false, content };
        (page.head.id.clone(), card)
    });
    errors.chain(models).chain(devices).chain(guides).collect()
}

/// The card of all other pages.
pub(super) fn site(order: &Order<'_>) -> Card {
    let count = |count: usize, one: &'static str, many: &'static str| {
        let name = order.config.texts.say(if count == 1 { one } else { many });
        (count > 0).then(|| (count.to_string(), name.to_string()))
    };
    let figures = [
        count(order.site.errors.len(), text("error"), text("errors")),
        count(order.site.models.len(), text("model"), text("models")),
        count(order.site.devices.len(), text("device"), text("devices")),
    ];
    Card {
        kind: String::new(),
        title: order.config.tagline.clone(),
        is_error: true,
        content: Content::Figures(figures.into_iter().flatten().collect()),
    }
}

fn error(order: &Order<'_>, page: &Page<ErrorData>) -> Card {
    let category = order.site.categories.iter().find(|category| category.head.id.slug == page.data.category);
    let kind = category.map_or(order.config.texts.say("Error"), |category| &category.head.title.value);
    let message = page.data.signatures.first().map(|signature| signature_text(signature.text()));
    Card {
        kind: kind.to_string(),
        title: page.head.title.value.clone(),
        is_error: true,
        content: Content::Message(message.unwrap_or_default()),
    }
}

fn model(order: &Order<'_>, page: &Page<ModelData>) -> Card {
    let texts = &order.config.texts;
    let content = match runs_on(order, page) {
        Some(RunsOn { run, memory_gib, .. }) => {
            let parts =
                [(text("Weights"), run.weights), (text("Cache"), run.kv), (text("Compute"), run.compute)];
            let answer = match memory_gib {
                Some(size) => texts.fill("fits in {n} GB", &[("n", &size)]),
                None => texts.say("no single GPU holds it").into(),
            };
            Content::Memory(Memory {
                run: texts
                    .fill("{quant}, {n} tokens of context", &[("quant", &run.quant_name), ("n", &run.ctx)]),
                parts: parts.map(|(name, bytes)| (bytes, texts.say(name).into())),
                size: memory_gib.map_or(run.total(), |size| (size * f64::from(1 << 30)) as u64),
                answer,
            })
        }
        None => Content::Lead(page.head.body.outline.lead.clone()),
    };
    Card { kind: texts.say("Model").into(), title: page.head.title.value.clone(), is_error: false, content }
}

fn device(order: &Order<'_>, page: &Page<DeviceData>) -> Card {
    let (data, texts) = (&page.data, &order.config.texts);
    let memory = Some((format!("{} GB", data.memory_gb), texts.say("memory").to_string()));
    let bandwidth =
        data.bandwidth_gbps.map(|rate| (format!("{rate} GB/s"), texts.say("bandwidth").to_string()));
    let fitting = Some(fitting(order, &data.memory())).map(|fitting| {
        let share = texts.fill("{n} of {all}", &[("n", &fitting.count), ("all", &fitting.of)]);
        (share, texts.fill("models fit at {quant}", &[("quant", &fitting.quant)]))
    });
    Card {
        kind: texts.say("Hardware").into(),
        title: page.head.title.value.clone(),
        is_error: false,
        content: Content::Figures([memory, bandwidth, fitting].into_iter().flatten().collect()),
    }
}

/// Whether pages of a kind have a picture each.
pub(super) fn has_own(kind: Kind) -> bool {
    matches!(kind, Kind::Error | Kind::Model | Kind::Hardware | Kind::Guide)
}
