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
    text.push_str(&format!("- [{}]({base}llms-full.txt)\n", shelf.say("All error pages in one text")));
    text.push_str(&format!(
        "- [{}]({base}kb.json), [{}]({base}schema/kb.json)\n",
        shelf.say("The whole knowledge base as JSON"),
        shelf.say("its schema")
    ));
    text.push_str(&format!("- [{}]({base}data/models.json)\n", shelf.say("What every model needs, as JSON")));
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            text.push_str(&format!("\n## {title}\n\n{}\n", lines.join("\n")));
        }
    };
    let errors = site.errors.iter().map(|error| {
        let address = format!("{}errors/{}.md", config.base_url, error.head.id.slug);
        format!("- [{}]({address}): {}", error.head.title.value, shelf.describe(&error.head))
    });
    section(shelf.say("Errors"), errors.collect());
    let calculators = LISTINGS.iter().filter(|listing| CALCULATORS.contains(&listing.address));
    let calculators =
        calculators.map(|page| format!("- [{}]({}{})", shelf.say(page.title), config.base_url, page.address));
    section(shelf.say("Calculators"), calculators.collect());
    let line =
        |head: &Head| format!("- [{}]({}): {}", head.title.value, url(shelf, head), shelf.describe(head));
    section(shelf.say("Guides"), site.guides.iter().map(|guide| line(&guide.head)).collect());
    section(shelf.say("Tools"), site.tools.iter().map(|tool| line(&tool.head)).collect());
    let short = |head: &Head| format!("- [{}]({})", head.title.value, url(shelf, head));
    section(shelf.say("Models"), site.models.iter().map(|model| short(&model.head)).collect());
    text
}

/// All error pages, each with its address, one behind the other; their links are absolute, since the text is read apart
/// from the site.
pub(super) fn whole(shelf: &Shelf<'_>) -> String {
    let base = &shelf.order.config.base_url;
    let mut text = opening(shelf);
    text.push_str(&shelf.fill(
        "All {n} error pages follow; [a map of the site]({address}) has the rest.",
        &[("n", &shelf.site().errors.len()), ("address", &format_args!("{base}llms.txt"))],
    ));
    text.push('\n');
    let page = |error: &Page<ErrorData>| {
        let url = url(shelf, &error.head);
        (format!("\n---\n\n{}: {url}\n\n", shelf.say("Page")), markdown::twin(shelf, error, base))
    };
    // Some at a time, so that the text is not there twice.
    for errors in shelf.site().errors.chunks(AT_ONCE) {
        let pages: Vec<(String, String)> = errors.par_iter().map(page).collect();
        for (head, page) in pages {
            text.push_str(&head);
            text.push_str(&page);
        }
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
