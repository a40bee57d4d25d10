//! The glossary: all terms on one page.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::templates::{html, seen};
use crate::render::views::Leaf;
use crate::render::views::shelf::{Plate, Shelf, with_frame};

#[derive(Serialize)]
struct TermView {
    id: String,
    title: String,
    also: Vec<String>,
    html: Value,
    letter: String,
}

#[derive(Serialize)]
struct GlossaryView {
    terms: Vec<TermView>,
    letters: Vec<String>,
}

pub(super) fn leaves(shelf: &Shelf<'_>) -> Vec<Leaf> {
    let mut terms: Vec<TermView> = shelf
        .site()
        .terms
        .iter()
        .map(|term| TermView {
            id: term.head.id.slug.clone(),
            title: term.head.title.value.clone(),
            also: term.data.also.clone(),
            html: html(shelf.body(&term.head).html()),
            letter: letter(&term.head.title.value),
        })
        .collect();
    terms.sort_by_key(|term| (term.letter.clone(), term.title.to_lowercase()));
    let mut letters: Vec<String> = terms.iter().map(|term| term.letter.clone()).collect();
    letters.dedup();
    let description = shelf
        .fill("{n} terms that the pages of this site use, in a few sentences each.", &[("n", &terms.len())]);
    let plate = Plate::listing("glossary/", "glossary", shelf.say("Glossary"), &description);
    let frame = shelf.frame(plate, (None, None));
    let view = with_frame(frame, "glossary", seen(GlossaryView { terms, letters }));
    vec![Leaf { address: "glossary/".into(), template: "glossary.html", view }]
}

fn letter(title: &str) -> String {
    match title.chars().next() {
        Some(first) if first.is_alphabetic() => first.to_uppercase().collect(),
        _ => "0-9".into(),
    }
}
