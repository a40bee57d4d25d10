//! Pages of their own: about, methodology, editorial policy.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::shelf::{Plate, Shelf, with_frame};

#[derive(Serialize)]
struct DocumentView {
    title: String,
    body_html: Value,
}

pub(super) fn leaf(shelf: &Shelf<'_>, at: usize) -> Leaf {
    let page = &shelf.site().documents[at];
    let address = page.head.id.address();
    let body = shelf.body(&page.head);
    let view = DocumentView { title: page.head.title.value.clone(), body_html: html(body.html()) };
    let plate = Plate {
        address: &address,
        kind: "page",
        title: &page.head.title.value,
        description: shelf.describe(&page.head),
        trail: Vec::new(),
        head: Some(&page.head),
        toc: shelf.toc(&page.head),
        noindex: false,
    };
    let frame = shelf.frame(plate, (None, None));
    Leaf { view: with_frame(frame, "document", seen(view)), template: "page.html", address }
}
