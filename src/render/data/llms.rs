//! Files for language models: a map of the site, and all error pages in one text.

use crate::config::Alternate;
use crate::escape::MarkdownText;
use crate::facts::map as map_all;
use crate::pack::Pack;
use crate::render::data::{CHUNK_SIZE, alternate_path, markdown};
use crate::render::views::{RenderContext, entries_of};
use crate::site::kinds::ErrorData;
use crate::site::{Head, Page};

/// Generated pages with calculators.
const CALCULATORS: [&str; 4] = ["will-it-run/", "compare/", "choose-gpu/", "cost-vs-cloud/"];

/// Returns a map of the site in the format of <https://llmstxt.org>.
pub(super) fn map(cx: &RenderContext<'_>) -> MarkdownText {
    let site = cx.site();
    let base = &cx.inputs.config.base_url;
    let file =
        |text: &str, path: &str| MarkdownText::link(&MarkdownText::plain(text), &format!("{base}{path}"));
    let mut text = opening(cx);
    text.push(&item(&file(cx.tr("All error pages in one text"), "llms-full.txt"), None));
    let mut json = file(cx.tr("The whole knowledge base as JSON"), "kb.json");
    json.push_syntax(", ");
    json.push(&file(cx.tr("its schema"), "schema/kb.json"));
    text.push(&item(&json, None));
    if site.has(Some(Pack::Llm)) {
        let models = file(cx.tr("Memory requirements of all models as JSON"), "data/models.json");
        text.push(&item(&models, None));
    }
    let page = |head: &Head, address: &str, description: Option<&str>| {
        item(&MarkdownText::link(&MarkdownText::plain(&head.title.value), address), description)
    };
    let described = |head: &Head| page(head, &url(cx, head), Some(&cx.describe(head)));
    let errors = site.errors.iter().map(|error| {
        let config = cx.inputs.config;
        let markdown = alternate_path(config, &error.head.id, Alternate::Markdown);
        let address = markdown.unwrap_or_else(|| error.head.id.address());
        page(&error.head, &format!("{base}{address}"), Some(&cx.describe(&error.head)))
    });
    push_section(&mut text, cx.tr("Errors"), errors);
    let calculators = site.listings().filter(|listing| CALCULATORS.contains(&listing.address));
    let calculators = calculators.map(|page| item(&file(cx.tr(page.title), page.address), None));
    push_section(&mut text, cx.tr("Calculators"), calculators);
    push_section(&mut text, cx.tr("Guides"), site.guides.iter().map(|guide| described(&guide.head)));
    push_section(&mut text, cx.tr("Tools"), site.tools.iter().map(|tool| described(&tool.head)));
    for collection in site.collections() {
        let entries = entries_of(cx, &collection.name.value).into_iter();
        push_section(&mut text, &collection.title, entries.map(|entry| described(&entry.head)));
    }
    let models = site.models.iter().map(|model| page(&model.head, &url(cx, &model.head), None));
    push_section(&mut text, cx.tr("Models"), models);
    text
}

/// Adds a list under a heading, unless it is empty.
fn push_section(text: &mut MarkdownText, title: &str, items: impl Iterator<Item = MarkdownText>) {
    let mut items = items.peekable();
    if items.peek().is_none() {
        return;
    }
    text.push_syntax("\n## ");
    text.push(&MarkdownText::plain(title));
    text.push_syntax("\n\n");
    items.for_each(|item| text.push(&item));
}

/// Formats a list item, with a description in plain text.
fn item(text: &MarkdownText, description: Option<&str>) -> MarkdownText {
    let mut item = MarkdownText::default();
    item.push_syntax("- ");
    item.push(text);
    if let Some(description) = description {
        item.push_syntax(": ");
        item.push(&MarkdownText::plain(description));
    }
    item.push_syntax("\n");
    item
}

/// Calls a function with parts of a text of all error pages, each with its address. Links are absolute, since the text is
/// read outside of the site.
pub(super) fn whole(cx: &RenderContext<'_>, send: impl Fn(MarkdownText)) {
    let base = &cx.inputs.config.base_url;
    let mut text = opening(cx);
    text.push(&MarkdownText::checked(&cx.fill(
        "All {n} error pages follow; see [the site map]({address}) for the rest.",
        &[("n", &cx.site().errors.len()), ("address", &format_args!("{base}llms.txt"))],
    )));
    text.push_syntax("\n");
    let page = |error: &Page<ErrorData>| {
        let mut page = MarkdownText::default();
        page.push_syntax("\n---\n\n");
        page.push(&MarkdownText::plain(cx.tr("Page")));
        page.push_syntax(": ");
        page.push(&MarkdownText::plain(&url(cx, &error.head)));
        page.push_syntax("\n\n");
        page.push(&markdown::alternate(cx, error, base));
        page
    };
    send(text);
    for errors in cx.site().errors.chunks(CHUNK_SIZE) {
        map_all(errors, page).into_iter().for_each(&send);
    }
}

/// Formats name and description of the site.
fn opening(cx: &RenderContext<'_>) -> MarkdownText {
    let mut text = MarkdownText::default();
    text.push_syntax("# ");
    text.push(&MarkdownText::plain(&cx.inputs.config.title));
    text.push_syntax("\n\n> ");
    text.push(&MarkdownText::plain(&cx.inputs.config.description));
    text.push_syntax("\n\n");
    text
}

fn url(cx: &RenderContext<'_>, head: &Head) -> String {
    format!("{}{}", cx.inputs.config.base_url, head.id.address())
}
