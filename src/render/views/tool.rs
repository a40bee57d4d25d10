//! Tool pages.

use minijinja::value::Value;
use serde::Serialize;

use crate::markdown::TocEntry;
use crate::render::address::root;
use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::common::{ErrorRow, SourceView, VerifiedView, sources};
use crate::render::views::context::{PageMeta, RenderContext, with_layout};

/// Maximum number of errors on the page of a tool; the pages of the categories list all.
const MAX_ERRORS: usize = 500;

#[derive(Serialize)]
struct ToolView {
    title: String,
    homepage: String,
    repository: Option<String>,
    body_html: Value,
    errors: Vec<ErrorRow>,
    /// Number of all errors of the tool.
    count: usize,
    verified: Option<VerifiedView>,
    sources: Vec<SourceView>,
}

pub(super) fn build_page(cx: &RenderContext<'_>, at: usize) -> TemplatePage {
    let tool = &cx.site().tools[at];
    let address = tool.head.id.address();
    let root = root(&address);
    let errors = cx.errors_naming(&tool.head.id.slug);
    let body = cx.body(&tool.head);
    let mut toc = cx.toc(&tool.head);
    if !errors.is_empty() {
        toc.push(TocEntry { level: 2, id: "errors".into(), title: cx.tr("Errors of this tool").into() });
    }
    let view = ToolView {
        title: tool.head.title.value.clone(),
        homepage: tool.data.homepage.clone(),
        repository: tool.data.repository.clone(),
        body_html: html(body.html()),
        errors: cx.rows(&root, &errors[..errors.len().min(MAX_ERRORS)]),
        count: errors.len(),
        verified: cx.verified(&tool.head, None, &tool.data.evidence),
        sources: sources(cx.texts(), &tool.data.evidence),
    };
    let meta = PageMeta {
        address: &address,
        kind: "tool",
        title: &tool.head.title.value,
        description: cx.describe(&tool.head),
        trail: vec![(cx.tr("Tools").into(), "tools/")],
        head: Some(&tool.head),
        toc,
        noindex: false,
    };
    let layout = cx.layout(meta);
    TemplatePage {
        view: with_layout(layout, "tool", view_value(view)),
        template: "tool.html".into(),
        address,
    }
}
