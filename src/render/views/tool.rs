//! Tool pages.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::root;
use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::common::{ErrorRow, SourceView, VerifiedView, sources};
use crate::render::views::shelf::{Plate, Shelf, neighbours, with_frame};
use crate::site::Head;

#[derive(Serialize)]
struct ToolView {
    title: String,
    homepage: String,
    repository: Option<String>,
    body_html: Value,
    errors: Vec<ErrorRow>,
    verified: Option<VerifiedView>,
    sources: Vec<SourceView>,
}

pub(super) fn leaf(shelf: &Shelf<'_>, at: usize) -> Leaf {
    let tools = &shelf.site().tools;
    let tool = &tools[at];
    let heads: Vec<&Head> = tools.iter().map(|tool| &tool.head).collect();
    let address = tool.head.id.address();
    let root = root(&address);
    let errors = shelf.errors_naming(&tool.head.id.slug);
    let body = shelf.body(&tool.head);
    let view = ToolView {
        title: tool.head.title.value.clone(),
        homepage: tool.data.homepage.clone(),
        repository: tool.data.repository.clone(),
        body_html: html(body.html()),
        errors: errors.iter().map(|error| shelf.row(&root, error)).collect(),
        verified: shelf.verified(&tool.head, None, &tool.data.evidence),
        sources: sources(shelf.texts(), &tool.data.evidence),
    };
    let plate = Plate {
        address: &address,
        kind: "tool",
        title: &tool.head.title.value,
        description: shelf.describe(&tool.head),
        trail: vec![(shelf.say("Tools").into(), "tools/")],
        head: Some(&tool.head),
        toc: shelf.toc(&tool.head),
        noindex: false,
    };
    let frame = shelf.frame(plate, neighbours(&heads, at));
    Leaf { view: with_frame(frame, "tool", seen(view)), template: "tool.html", address }
}
