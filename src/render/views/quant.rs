//! Quantization pages.

use minijinja::value::Value;
use serde::Serialize;

use crate::markdown::TocEntry;
use crate::render::address::{href, root};
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::common::{SourceView, parameters, sources};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::site::gib;

#[derive(Serialize)]
struct QuantView {
    title: String,
    gguf_type: String,
    family: String,
    body_html: Value,
    models: Vec<ModelSize>,
    sources: Vec<SourceView>,
    backlinks: Vec<Value>,
}

#[derive(Serialize)]
struct ModelSize {
    title: String,
    href: String,
    parameters: Option<String>,
    file: String,
    bits_per_weight: Option<String>,
}

pub(super) fn build_page(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let quant = &cx.site().quants[at];
    let address = quant.head.id.address();
    let root = root(&address);
    let body = cx.body(&quant.head);
    let view = QuantView {
        title: quant.head.title.value.clone(),
        gguf_type: quant.data.gguf_type.value.clone(),
        family: quant.data.family.name().to_string(),
        body_html: html(body.html()),
        models: sizes(cx, &root, &quant.data.gguf_type.value),
        sources: sources(cx.texts(), &quant.data.evidence),
        backlinks: cx.backlinks(&root, &quant.head.id, &[]),
    };
    let mut toc = cx.toc(&quant.head);
    if !view.models.is_empty() {
        toc.push(TocEntry { level: 2, id: "models".into(), title: cx.tr("File sizes by model").into() });
    }
    let meta = PageMeta {
        address: &address,
        kind: "quant",
        title: &quant.head.title.value,
        description: cx.describe(&quant.head),
        trail: vec![(cx.tr("Quantizations").into(), "quants/")],
        head: Some(&quant.head),
        toc,
        noindex: false,
    };
    let layout = cx.layout(meta);
    TemplatePage {
        view: with_layout(layout, "quant", view_value(view)),
        template: "quant.html".into(),
        address,
    }
}

fn sizes(cx: &RenderContext<'_>, root: &str, gguf_type: &str) -> Vec<ModelSize> {
    let fits = cx.inputs.fits;
    let Some(quant) = fits.quant(gguf_type) else { return Vec::new() };
    let mut models: Vec<_> = cx
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
            // Divides by the parameters in the file: a published count may include a vision tower that is not part of
            // it.
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
