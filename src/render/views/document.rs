//! Standalone pages: about, methodology, editorial policy.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::context::{PageMeta, RenderContext, with_layout};

#[derive(Serialize)]
struct DocumentView {
    title: String,
    body_html: Value,
}

pub(super) fn build_page(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let page = &cx.site().documents[at];
    let address = page.head.id.address();
    let body = cx.body(&page.head);
    let view = DocumentView { title: page.head.title.value.clone(), body_html: html(body.html()) };
    let meta = PageMeta {
        address: &address,
        kind: "page",
        title: &page.head.title.value,
        description: cx.describe(&page.head),
        trail: Vec::new(),
        head: Some(&page.head),
        toc: cx.toc(&page.head),
        noindex: false,
    };
    let layout = cx.layout(meta);
    TemplatePage {
        view: with_layout(layout, "document", view_value(view)),
        template: "page.html".into(),
        address,
    }
}
