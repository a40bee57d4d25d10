//! The glossary: all terms on one page.

use minijinja::value::Value;
use serde::Serialize;

use crate::render::templates::{html, view_value};
use crate::render::views::TemplatePage;
use crate::render::views::context::{PageMeta, RenderContext, with_layout};

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

pub(super) fn build_pages(cx: &RenderContext<'_>) -> Vec<TemplatePage> {
    let mut terms: Vec<TermView> = cx
        .site()
        .terms
        .iter()
        .map(|term| TermView {
            id: term.head.id.slug.clone(),
            title: term.head.title.value.clone(),
            also: term.data.also.clone(),
            html: html(cx.body(&term.head).html()),
            letter: letter(&term.head.title.value),
        })
        .collect();
    terms.sort_by_key(|term| (term.letter.clone(), term.title.to_lowercase()));
    let mut letters: Vec<String> = terms.iter().map(|term| term.letter.clone()).collect();
    letters.dedup();
    let description =
        cx.fill("{n} terms used on this site, each explained in a few sentences.", &[("n", &terms.len())]);
    let meta = PageMeta::listing("glossary/", "glossary", cx.tr("Glossary"), &description);
    let layout = cx.layout(meta);
    let view = with_layout(layout, "glossary", view_value(GlossaryView { terms, letters }));
    vec![TemplatePage { address: "glossary/".into(), template: "glossary.html".into(), view }]
}

fn letter(title: &str) -> String {
    match title.chars().next() {
        Some(first) if first.is_alphabetic() => first.to_uppercase().collect(),
        _ => "0-9".into(),
    }
}
