//! Guides.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::root;
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::common::{SourceView, VerifiedView, sources};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};
use crate::render::views::illustration::{IllustrationView, illustration};
use crate::site::Kind;
use crate::site::kinds::GuideData;

#[derive(Serialize)]
struct GuideView {
    title: String,
    body_html: Value,
    /// The body before and from its first section.
    lead_html: Value,
    sections_html: Value,
    illustration: Option<IllustrationView>,
    tools: Vec<Value>,
    related: Vec<Value>,
    backlinks: Vec<Value>,
    verified: Option<VerifiedView>,
    sources: Vec<SourceView>,
}

pub(super) fn build_page(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let guide = &cx.site().guides[at];
    let address = guide.head.id.address();
    let root = root(&address);
    let body = cx.body(&guide.head);
    let text = body.html();
    let (lead, sections) = text.split_at(text.find("<h2").unwrap_or(text.len()));
    let named: Vec<&str> = guide.data.related.iter().map(|slug| slug.value.as_str()).collect();
    let view = GuideView {
        title: guide.head.title.value.clone(),
        lead_html: html(lead),
        sections_html: html(sections),
        illustration: drawing(cx, &guide.data),
        body_html: html(body.html()),
        tools: cx.references(&root, Kind::Tool, guide.data.tools.iter().map(|slug| slug.value.as_str())),
        related: cx.references(&root, Kind::Error, named.iter().copied()),
        backlinks: cx.backlinks(&root, &guide.head.id, &named),
        verified: cx.verified(&guide.head, None, &guide.data.evidence),
        sources: sources(cx.texts(), &guide.data.evidence),
    };
    let meta = PageMeta {
        address: &address,
        kind: "guide",
        title: &guide.head.title.value,
        description: cx.describe(&guide.head),
        trail: vec![(cx.tr("Guides").into(), "guides/")],
        head: Some(&guide.head),
        toc: cx.toc(&guide.head),
        noindex: false,
    };
    let layout = cx.layout(meta);
    TemplatePage {
        view: with_layout(layout, "guide", view_value(view)),
        template: "guide.html".into(),
        address,
    }
}

/// Returns the drawing of a guide, if its model is covered.
fn drawing(cx: &RenderContext<'_>, guide: &GuideData) -> Option<IllustrationView> {
    let slug = &guide.illustration_model.as_ref()?.value;
    let model = cx.site().models.iter().find(|model| model.head.id.slug == *slug)?;
    illustration(cx, guide.illustration?, model)
}
