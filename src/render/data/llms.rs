//! The site for language models: a map of it, and all error pages in one text.

use rayon::prelude::*;

use crate::render::data::markdown;
use crate::render::views::Shelf;
use crate::site::kinds::ErrorData;
use crate::site::{Head, LISTINGS, Page};

/// Pages that compute what a reader asks.
const CALCULATORS: [&str; 4] = ["will-it-run/", "compare/", "choose-gpu/", "cost-vs-cloud/"];

/// Pages whose texts are made at once.
const AT_ONCE: usize = 256;

/// A map of the site for language models, as <https://llmstxt.org> describes it.
pub(super) fn map(shelf: &Shelf<'_>) -> String {
    let config = shelf.order.config;
    let site = shelf.site();
    let base = &config.base_url;
    let mut text = opening(shelf);
    text.push_str(&format!("- [All error pages in one text]({base}llms-full.txt)\n"));
    text.push_str(&format!(
        "- [The whole knowledge base as JSON]({base}kb.json), [its schema]({base}schema/kb.json)\n"
    ));
    text.push_str(&format!("- [What every model needs, as JSON]({base}data/models.json)\n"));
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("\n## {title}\n\n{}\n", lines.join("\n")));
        }
    };
    let errors = site.errors.iter().map(|error| {
        let address = format!("{}errors/{}.md", config.base_url, error.head.id.slug);
        format!("- [{}]({address}): {}", error.head.title.value, shelf.describe(&error.head))
    });
    section("Errors", errors.collect());
    let calculators = LISTINGS.iter().filter(|listing| CALCULATORS.contains(&listing.address));
    let calculators =
        calculators.map(|page| format!("- [{}]({}{})", page.title, config.base_url, page.address));
    section("Calculators", calculators.collect());
    let line =
        |head: &Head| format!("- [{}]({}): {}", head.title.value, url(shelf, head), shelf.describe(head));
    section("Guides", site.guides.iter().map(|guide| line(&guide.head)).collect());
    section("Tools", site.tools.iter().map(|tool| line(&tool.head)).collect());
    let short = |head: &Head| format!("- [{}]({})", head.title.value, url(shelf, head));
    section("Models", site.models.iter().map(|model| short(&model.head)).collect());
    text
}

/// All error pages, each with its address, one behind the other; their links are absolute, since the text is read apart
/// from the site.
pub(super) fn whole(shelf: &Shelf<'_>) -> String {
    let base = &shelf.order.config.base_url;
    let mut text = opening(shelf);
    text.push_str(&format!(
        "All {} error pages follow; [a map of the site]({base}llms.txt) has the rest.\n",
        shelf.site().errors.len()
    ));
    let page = |error: &Page<ErrorData>| {
        let url = url(shelf, &error.head);
        format!("\n---\n\nPage: {url}\n\n{}", markdown::twin(shelf, error, base))
    };
    // Some at a time, so that the text is not there twice.
    for errors in shelf.site().errors.chunks(AT_ONCE) {
        let pages: Vec<String> = errors.par_iter().map(page).collect();
        pages.iter().for_each(|page| text.push_str(page));
    }
    text
}

/// Name and purpose of the site.
fn opening(shelf: &Shelf<'_>) -> String {
    format!("# {}\n\n> {}\n\n", shelf.order.config.title, shelf.order.config.description)
}

fn url(shelf: &Shelf<'_>, head: &Head) -> String {
    format!("{}{}", shelf.order.config.base_url, head.id.address())
}
