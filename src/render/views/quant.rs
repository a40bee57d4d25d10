//! Quantization pages.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::{href, root};
use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::common::{Ref, SourceView, TocLine, parameters, sources};
use crate::render::views::shelf::{Plate, Shelf, neighbours, with_frame};
use crate::site::{Head, gib};

#[derive(Serialize)]
struct QuantView {
    title: String,
    gguf_type: String,
    family: String,
    body_html: Value,
    models: Vec<ModelSize>,
    sources: Vec<SourceView>,
    backlinks: Vec<Ref>,
}

#[derive(Serialize)]
struct ModelSize {
    title: String,
    href: String,
    parameters: Option<String>,
    file: String,
    bits_per_weight: Option<String>,
}

pub(super) fn leaf(shelf: &Shelf<'_>, at: usize) -> Leaf {
    let quants = &shelf.site().quants;
    let quant = &quants[at];
    let heads: Vec<&Head> = quants.iter().map(|quant| &quant.head).collect();
    let address = quant.head.id.address();
    let root = root(&address);
    let body = shelf.body(&quant.head);
    let view = QuantView {
        title: quant.head.title.value.clone(),
        gguf_type: quant.data.gguf_type.value.clone(),
        family: quant.data.family.name().to_string(),
        body_html: html(body.html()),
        models: sizes(shelf, &root, &quant.data.gguf_type.value),
        sources: sources(shelf.texts(), &quant.data.evidence),
        backlinks: shelf.backlinks(&root, &quant.head.id, &[]),
    };
    let mut toc = shelf.toc(&quant.head);
    if !view.models.is_empty() {
        toc.push(TocLine {
            level: 2,
            id: "models".into(),
            title: shelf.say("What it makes of each model").into(),
        });
    }
    let plate = Plate {
        address: &address,
        kind: "quant",
        title: &quant.head.title.value,
        description: shelf.describe(&quant.head),
        trail: vec![(shelf.say("Quantizations").into(), "quants/")],
        head: Some(&quant.head),
        toc,
        noindex: false,
    };
    let frame = shelf.frame(plate, neighbours(&heads, at));
    Leaf { view: with_frame(frame, "quant", seen(view)), template: "quant.html", address }
}

fn sizes(shelf: &Shelf<'_>, root: &str, gguf_type: &str) -> Vec<ModelSize> {
    let fits = shelf.order.fits;
    let Some(quant) = fits.quant(gguf_type) else { return Vec::new() };
    let mut models: Vec<_> = shelf
        .site()
        .models
        .iter()
        .filter_map(|model| Some((model, fits.figures(&model.head.id.slug)?.quants[quant].as_ref()?)))
        .collect();
    models.sort_by_key(|(model, fit)| (fit.file, model.head.id.slug.clone()));
    models
        .into_iter()
        .map(|(model, fit)| {
            let published = model.data.parameters.as_ref().map(|count| parameters(count.value));
            // Over what the file holds: a published count may include a vision tower that it does not.
            let held = fits.parameters.get(&model.head.id.slug).map(|counted| counted.held);
            ModelSize {
                title: model.head.title.value.clone(),
                href: href(root, &model.head.id.address()),
                parameters: published,
                file: gib(fit.file),
                bits_per_weight: held.map(|held| format!("{:.2}", fit.file as f64 * 8.0 / held as f64)),
            }
        })
        .collect()
}
