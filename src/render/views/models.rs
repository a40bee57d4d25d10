//! The list of all models, and the table of models by memory.

use kbgen_estimate::plan::Verdict;
use std::collections::BTreeMap;

use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::view_value;
use crate::render::views::TemplatePage;
use crate::render::views::chart::CARD_SIZES;
use crate::render::views::common::{CellVerdict, context_label, parameters};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::defaults::{default_quant, default_run};
use crate::render::views::lists::slug;
use crate::render::views::model::by_parameters;
use crate::render::views::partial::partial;
use crate::site::kinds::{ModelData, given};
use crate::site::{DEFAULT_CTX, DeviceMemory, Page, format_count, gib};

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

/// Data attributes for filtering and sorting.
#[derive(Serialize)]
struct Facts {
    parameters: Option<u64>,
    context: Option<u64>,
    /// In MiB, which is precise enough for sorting and keeps long lists small.
    file: Option<u64>,
    experts: &'static str,
    /// The smallest of [`CARD_SIZES`] that it fits on.
    card: Option<u64>,
}

/// How a model runs in a memory size.
#[derive(Serialize)]
struct Cell {
    verdict: CellVerdict,
    text: String,
}

pub(super) fn build_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let count = cx.site().models.len();
    let listed = cx.fill(
        "{n} open models with their memory requirements: weights, cache and compute buffer by quantization and context.",
        &[("n", &count)],
    );
    let by_memory = cx.fill(
        "Which of {n} open models fit on a GPU with 8, 12, 16, 24, 32, 48 or 80 GB, with 4-bit weights and a context of {context}.",
        &[("n", &by_parameters(cx).len()), ("context", &format_count(DEFAULT_CTX))],
    );
    let mut narrower =
        PageMeta::listing("models-by-memory/", "models-by-memory", cx.tr("Models by memory"), &by_memory);
    narrower.trail = vec![(cx.tr("Models").into(), "models/")];
    vec![
        build_page(
            cx,
            PageMeta::listing("models/", "models", cx.tr("Models"), &listed),
            "models.html",
            |_| true,
        ),
        build_page(cx, narrower, "models-by-memory.html", ModelData::writes_text),
    ]
}

fn build_page(
    cx: &RenderContext<'_>,
    meta: PageMeta<'_>,
    template: &'static str,
    is_listed: fn(&ModelData) -> bool,
) -> TemplatePage {
    let address = meta.address.to_string();
    let families = families(cx, &root(&address), is_listed);
    let view = minijinja::value::Value::from_pairs([
        ("families", view_value(families)),
        ("sizes", view_value(CARD_SIZES)),
        ("by_memory_href", href(&root(&address), "models-by-memory/").into()),
    ]);
    let template = template.into();
    TemplatePage { view: with_layout(cx.layout(meta), "models", view), template, address }
}

/// Returns families by name, each with its smallest model first.
fn families(cx: &RenderContext<'_>, root: &str, is_listed: fn(&ModelData) -> bool) -> Vec<Family> {
    let mut families: BTreeMap<&str, Vec<&Page<ModelData>>> = BTreeMap::new();
    for model in cx.site().models.iter().filter(|model| is_listed(&model.data)) {
        families.entry(&model.data.family).or_default().push(model);
    }
    let family = |(title, mut models): (&str, Vec<&Page<ModelData>>)| {
        models.sort_by_key(|model| {
            (model.data.parameters.as_ref().map_or(u64::MAX, |count| count.value), model.head.id.clone())
        });
        Family {
            id: slug(title),
            title: title.to_string(),
            models: models.into_iter().map(|model| row(cx, root, model)).collect(),
        }
    };
    families.into_iter().map(family).collect()
}

fn row(cx: &RenderContext<'_>, root: &str, model: &Page<ModelData>) -> ModelRow {
    let fits = cx.inputs.fits;
    let figures = fits.figures(&model.head.id.slug);
    let usual = figures.and_then(|figures| {
        figures.quants[default_quant(cx.inputs, &model.data, figures)?].as_ref().map(|fit| fit.file)
    });
    let architecture = &model.data.architecture.fields;
    let parameter_count = model.data.parameters.as_ref().map(|count| count.value);
    let sizes = sizes(cx, model).unwrap_or_default();
    let fitting = sizes.iter().position(|cell| cell.verdict == CellVerdict::Fits);
    ModelRow {
        title: model.head.title.value.clone(),
        href: href(root, &model.head.id.address()),
        parameters: parameter_count.map(parameters),
        layers: architecture.layer_count().to_string(),
        max_ctx: given(architecture.max_ctx).map(context_label).unwrap_or_default(),
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

/// Returns a cell for each of [`CARD_SIZES`] with default settings; `None` if the model is not covered.
fn sizes(cx: &RenderContext<'_>, model: &Page<ModelData>) -> Option<Vec<Cell>> {
    let fits = cx.inputs.fits;
    let figures = fits.figures(&model.head.id.slug)?;
    let run = default_run(cx.inputs, model)?;
    let quant = fits.quant(&run.quant_name)?;
    let cell = |size: &u64| {
        let visible = cx.site().visible_of_size(size << 30);
        match Verdict::of(run.total(), visible) {
            Verdict::Fits => Cell { verdict: CellVerdict::Fits, text: cx.tr("fits").into() },
            Verdict::Tight => Cell { verdict: CellVerdict::Tight, text: cx.tr("tight").into() },
            Verdict::No => match partial(cx, figures, quant, run.ctx, &DeviceMemory::cuda(visible)) {
                Some(text) => Cell { verdict: CellVerdict::Part, text },
                None => Cell { verdict: CellVerdict::No, text: cx.tr("no").into() },
            },
        }
    };
    Some(CARD_SIZES.iter().map(cell).collect())
}
