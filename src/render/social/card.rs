//! What a picture says, before anybody thinks of pixels.

use crate::render::Order;
use crate::render::views::{RunsOn, fitting, runs_on, signature_text};
use crate::site::kinds::{DeviceData, ErrorData, ModelData};
use crate::site::{Kind, Page, PageId};
use crate::texts::text;

/// A picture in words and figures.
#[derive(Debug)]
pub(super) struct Card {
    /// What the page is about, in one or two words.
    pub kind: String,
    /// Its title.
    pub title: String,
    /// What it is for.
    pub mood: Mood,
    /// What stands below.
    pub matter: Matter,
}

/// What a page is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    /// Something fails.
    Alarm,
    /// One looks something up.
    Calm,
}

/// What stands below the title.
#[derive(Debug)]
pub(super) enum Matter {
    /// A line of a log, with `…` for what differs.
    Message(String),
    /// What a model takes of a card.
    Memory(Memory),
    /// Figures with their names.
    Figures(Vec<(String, String)>),
    /// What the page says first.
    Lead(String),
}

/// What the usual run of a model takes.
#[derive(Debug)]
pub(super) struct Memory {
    /// Quantization and context.
    pub run: String,
    /// Bytes of weights, cache and compute buffer.
    pub parts: [u64; 3],
    /// Memory of the smallest card that holds it, in GiB as it is sold.
    pub card_gib: Option<f64>,
    /// The most that the driver of that card takes.
    pub driver: u64,
}

/// Of a page with a picture of its own: its name and its card.
pub(super) fn all(order: &Order<'_>) -> Vec<(PageId, Card)> {
    let site = order.site;
    let errors = site.errors.iter().map(|page| (page.head.id.clone(), error(order, page)));
    let models = site.models.iter().map(|page| (page.head.id.clone(), model(order, page)));
    let devices = site.devices.iter().map(|page| (page.head.id.clone(), device(order, page)));
    let guides = site.guides.iter().map(|page| {
        let matter = Matter::Lead(page.head.body.outline.lead.clone());
        let kind = order.config.texts.say("Guide").into();
        let card = Card { kind, title: page.head.title.value.clone(), mood: Mood::Calm, matter };
        (page.head.id.clone(), card)
    });
    errors.chain(models).chain(devices).chain(guides).collect()
}

/// The card of every other page.
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
        mood: Mood::Alarm,
        matter: Matter::Figures(figures.into_iter().flatten().collect()),
    }
}

fn error(order: &Order<'_>, page: &Page<ErrorData>) -> Card {
    let category = order.site.categories.iter().find(|category| category.head.id.slug == page.data.category);
    let kind = category.map_or(order.config.texts.say("Error"), |category| &category.head.title.value);
    let message = page.data.signatures.first().map(|signature| signature_text(&signature.text));
    Card {
        kind: kind.to_string(),
        title: page.head.title.value.clone(),
        mood: Mood::Alarm,
        matter: Matter::Message(message.unwrap_or_default()),
    }
}

fn model(order: &Order<'_>, page: &Page<ModelData>) -> Card {
    let texts = &order.config.texts;
    let matter = match runs_on(order, page) {
        Some(RunsOn { run, memory_gib, .. }) => Matter::Memory(Memory {
            run: texts.fill("{quant}, {n} tokens of context", &[("quant", &run.quant_name), ("n", &run.ctx)]),
            parts: [run.weights, run.kv, run.compute],
            card_gib: memory_gib,
            driver: order.fits.driver.1,
        }),
        None => Matter::Lead(page.head.body.outline.lead.clone()),
    };
    Card { kind: texts.say("Model").into(), title: page.head.title.value.clone(), mood: Mood::Calm, matter }
}

fn device(order: &Order<'_>, page: &Page<DeviceData>) -> Card {
    let (data, texts) = (&page.data, &order.config.texts);
    let memory = Some((format!("{} GB", data.memory_gib), texts.say("memory").to_string()));
    let bandwidth =
        data.bandwidth_gbps.map(|rate| (format!("{rate} GB/s"), texts.say("bandwidth").to_string()));
    let fitting = data.is_cuda().then(|| fitting(order, data.visible_bytes())).map(|fitting| {
        let share = texts.fill("{n} of {all}", &[("n", &fitting.count), ("all", &fitting.of)]);
        (share, texts.fill("models fit at {quant}", &[("quant", &fitting.quant)]))
    });
    Card {
        kind: texts.say("Hardware").into(),
        title: page.head.title.value.clone(),
        mood: Mood::Calm,
        matter: Matter::Figures([memory, bandwidth, fitting].into_iter().flatten().collect()),
    }
}

/// Whether pages of a kind have a picture each.
pub(super) fn has_own(kind: Kind) -> bool {
    matches!(kind, Kind::Error | Kind::Model | Kind::Hardware | Kind::Guide)
}
