//! Guides.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::address::root;
use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::common::{Ref, SourceView, VerifiedView, sources};
use crate::render::views::shelf::{Plate, Shelf, neighbours, with_frame};
use crate::site::{Head, Kind};

#[derive(Serialize)]
struct GuideView {
    title: String,
    body_html: Value,
    tools: Vec<Ref>,
    related: Vec<Ref>,
    backlinks: Vec<Ref>,
    verified: Option<VerifiedView>,
    sources: Vec<SourceView>,
}

pub(super) fn leaf(shelf: &Shelf<'_>, at: usize) -> Leaf {
    let guide = &shelf.site().guides[at];
    let mut guides: Vec<_> = shelf.site().guides.iter().collect();
    guides.sort_by_key(|guide| (guide.data.order, guide.head.title.value.to_lowercase()));
    let heads: Vec<&Head> = guides.iter().map(|guide| &guide.head).collect();
    let at = heads.iter().position(|head| head.id == guide.head.id).unwrap_or_default();
    let address = guide.head.id.address();
    let root = root(&address);
    let body = shelf.body(&guide.head);
    let named: Vec<&str> = guide.data.related.iter().map(|slug| slug.value.as_str()).collect();
    let view = GuideView {
        title: guide.head.title.value.clone(),
        body_html: html(body.html()),
        tools: shelf.references(&root, Kind::Tool, guide.data.tools.iter().map(|slug| slug.value.as_str())),
        related: shelf.references(&root, Kind::Error, named.iter().copied()),
        backlinks: shelf.backlinks(&root, &guide.head.id, &named),
        verified: shelf.verified(&guide.head, None, &guide.data.evidence),
        sources: sources(shelf.texts(), &guide.data.evidence),
    };
    let plate = Plate {
        address: &address,
        kind: "guide",
        title: &guide.head.title.value,
        description: shelf.describe(&guide.head),
        trail: vec![(shelf.say("Guides").into(), "guides/")],
        head: Some(&guide.head),
        toc: shelf.toc(&guide.head),
        noindex: false,
    };
    let frame = shelf.frame(plate, neighbours(&heads, at));
    Leaf { view: with_frame(frame, "guide", seen(view)), template: "guide.html", address }
}
