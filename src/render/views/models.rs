//! All models: as a list with their facts, and against sizes of memory.

use kbgen_estimate::plan::Verdict;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::seen;
use crate::render::views::Leaf;
use crate::render::views::chart::CARD_SIZES;
use crate::render::views::common::{context, parameters};
use crate::render::views::lists::slug;
use crate::render::views::partial::partial;
use crate::render::views::shelf::{Plate, Shelf, with_frame};
use crate::render::views::usual::{usual_quant, usual_run};
use crate::site::kinds::{ModelData, given};
use crate::site::{DEFAULT_CTX, DeviceMemory, Page, gib};

#[derive(Serialize)]
struct Family {
    title: String,
    id: String,
    models: Vec<ModelRow>,
}

#[derive(Serialize)]
struct ModelRow {
    title: String,
    href: String,
    parameters: Option<String>,
    layers: String,
    max_ctx: String,
    file: Option<String>,
    released: Option<String>,
    facts: Facts,
    sizes: Vec<Cell>,
}

/// What the list narrows and orders by.
#[derive(Serialize)]
struct Facts {
    parameters: Option<u64>,
    context: Option<u64>,
    /// In MiB: enough for an order, and a list of hundreds is lighter by it.
    file: Option<u64>,
    experts: &'static str,
    /// The smallest of [`CARD_SIZES`] that it fits on.
    card: Option<u64>,
}

/// How a model runs in a size of memory.
#[derive(Serialize)]
struct Cell {
    verdict: &'static str,
    text: String,
}

pub(super) fn leaves(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let count = shelf.site().models.len();
    let listed = shelf.fill(
        "{n} open models with what each needs: weights, cache and compute buffer by quantization and context.",
        &[("n", &count)],
    );
    let by_memory = shelf.fill(
        "Which of {n} open models fit on a card with 8, 12, 16, 24, 32, 48 or 80 GB, at 4-bit weights and a context of {context}.",
        &[("n", &count), ("context", &DEFAULT_CTX)],
    );
    let mut narrower =
        Plate::listing("models-by-memory/", "models-by-memory", shelf.say("Models by memory"), &by_memory);
    narrower.trail = vec![(shelf.say("Models").into(), "models/")];
    vec![
        leaf(shelf, Plate::listing("models/", "models", shelf.say("Models"), &listed), "models.html"),
        leaf(shelf, narrower, "models-by-memory.html"),
    ]
}

fn leaf(shelf: &Shelf<'_>, plate: Plate<'_>, template: &'static str) -> Leaf {
    let address = plate.address.to_string();
    let families = families(shelf, &root(&address));
    let view = minijinja::value::Value::from_pairs([
        ("families", seen(families)),
        ("sizes", seen(CARD_SIZES)),
        ("by_memory_href", href(&root(&address), "models-by-memory/").into()),
    ]);
    Leaf { view: with_frame(shelf.frame(plate, (None, None)), "models", view), template, address }
}

/// Families by name, and in each the smallest model first.
fn families(shelf: &Shelf<'_>, root: &str) -> Vec<Family> {
    let mut families: BTreeMap<&str, Vec<&Page<ModelData>>> = BTreeMap::new();
    for model in &shelf.site().models {
        families.entry(&model.data.family).or_default().push(model);
    }
    let family = |(title, mut models): (&str, Vec<&Page<ModelData>>)| {
        models.sort_by_key(|model| {
            (model.data.parameters.as_ref().map_or(u64::MAX, |count| count.value), model.head.id.clone())
        });
        Family {
            id: slug(title),
            title: title.to_string(),
            models: models.into_iter().map(|model| row(shelf, root, model)).collect(),
        }
    };
    families.into_iter().map(family).collect()
}

fn row(shelf: &Shelf<'_>, root: &str, model: &Page<ModelData>) -> ModelRow {
    let fits = shelf.order.fits;
    let figures = fits.figures(&model.head.id.slug);
    let usual = figures.and_then(|figures| {
        figures.quants[usual_quant(shelf.order, &model.data, figures)?].as_ref().map(|fit| fit.file)
    });
    let architecture = &model.data.architecture.fields;
    let parameter_count = model.data.parameters.as_ref().map(|count| count.value);
    let sizes = sizes(shelf, model).unwrap_or_default();
    let fitting = sizes.iter().position(|cell| cell.verdict == Verdict::Fits.name());
    ModelRow {
        title: model.head.title.value.clone(),
        href: href(root, &model.head.id.address()),
        parameters: parameter_count.map(parameters),
        layers: architecture.layer_count().to_string(),
        max_ctx: given(architecture.max_ctx).map(context).unwrap_or_default(),
        file: usual.map(gib),
        released: model.data.released.map(|date| date.to_string()),
        facts: Facts {
            parameters: parameter_count,
            context: given(architecture.max_ctx),
            file: usual.map(|bytes| bytes.div_ceil(1 << 20)),
            experts: if architecture.experts > 0 { "yes" } else { "no" },
            card: fitting.map(|place| CARD_SIZES[place]),
        },
        sizes,
    }
}

/// A cell for each of [`CARD_SIZES`], for the usual run; none for a model that is not covered.
fn sizes(shelf: &Shelf<'_>, model: &Page<ModelData>) -> Option<Vec<Cell>> {
    let fits = shelf.order.fits;
    let figures = fits.figures(&model.head.id.slug)?;
    let run = usual_run(shelf.order, model)?;
    let quant = fits.quant(&run.quant_name)?;
    let cell = |size: &u64| {
        let visible = shelf.site().visible_of_size(size << 30);
        match Verdict::of(run.total(), visible) {
            Verdict::Fits => Cell { verdict: "fits", text: shelf.say("fits").into() },
            Verdict::Tight => Cell { verdict: "tight", text: shelf.say("tight").into() },
            Verdict::No => match partial(shelf, figures, quant, run.ctx, &DeviceMemory::cuda(visible)) {
                Some(text) => Cell { verdict: "part", text },
                None => Cell { verdict: "no", text: shelf.say("no").into() },
            },
        }
    };
    Some(CARD_SIZES.iter().map(cell).collect())
}
