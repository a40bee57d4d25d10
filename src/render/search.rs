//! `data/search.js`: the search index of all pages. It is separate from the index of diagnosis, which contains only
//! errors and guides.

use kbgen_signature::{Document, TextIndex};
use serde::Serialize;

use crate::files::Outputs;
use crate::i18n::text;
use crate::render::views::{RenderContext, parameters, signature_text};
use crate::site::kinds::{DeviceData, ErrorData, ModelData};
use crate::site::{Head, Kind, LISTINGS, Page, PageId};

/// A page in the search index.
struct SearchEntry {
    /// Title, address and words.
    document: Document,
    /// Text next to the title in the results.
    note: String,
    /// Synonyms.
    also: Vec<String>,
}

/// Maximum number of characters of a note: one line of a wide window.
const MAX_NOTE_CHARS: usize = 80;

/// Generated pages with a description that is searched, too.
const PURPOSES: [(&str, &str); 15] = [
    ("errors/", text("All errors by category")),
    ("diagnose/", text("Find the page for a log or message")),
    ("will-it-run/", text("Calculator: the memory that a model needs, and whether it fits")),
    ("compare/", text("Comparison of devices")),
    ("choose-gpu/", text("GPUs that run a model")),
    ("cost-vs-cloud/", text("Cost of your own hardware compared with cloud services")),
    ("benchmarks/", text("Reported speeds of models on devices")),
    ("models/", text("All models by family")),
    ("models-by-memory/", text("Models that fit on GPUs of each size")),
    ("hardware/", text("All devices by manufacturer")),
    ("quants/", text("All weight formats")),
    ("guides/", text("All guides")),
    ("tools/", text("All programs and their errors")),
    ("glossary/", text("All terms")),
    ("changes/", text("Pages by date of their last verification")),
];

/// Returns the English description of a generated page.
pub(super) fn purpose(address: &str) -> Option<&'static str> {
    PURPOSES.iter().find(|(own, _)| *own == address).map(|(_, purpose)| *purpose)
}

/// Content of the file; all lists but the last are in the order of the index.
#[derive(Serialize)]
struct Data {
    index: TextIndex,
    notes: Vec<String>,
    also: Vec<String>,
    groups: Vec<Group>,
}

/// A group of results: address, title, and number of pages.
type Group = (&'static str, String, usize);

/// Makes `data/search.js`: a single assignment, so that it also loads from disk.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let entries = entries(cx);
    let (documents, rest): (Vec<_>, Vec<_>) =
        entries.into_iter().map(|entry| (entry.document, (entry.note, entry.also))).unzip();
    let (notes, also): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
    let data = Data {
        index: TextIndex::build(&documents),
        notes,
        also: also.iter().map(|names| names.join("|")).collect(),
        groups: groups(cx),
    };
    let mut outputs = Outputs::default();
    let text = serde_json::to_string(&data).expect("plain data is always JSON");
    outputs.add("data/search.js", format!("kbgen.pages={text};\n"));
    outputs
}

/// Returns the groups of results.
fn groups(cx: &RenderContext<'_>) -> Vec<Group> {
    let site = cx.site();
    [
        ("errors/", site.errors.len()),
        ("models/", site.models.len()),
        ("hardware/", site.devices.len()),
        ("guides/", site.guides.len()),
        ("glossary/", site.terms.len()),
        ("quants/", site.quants.len()),
        ("tools/", site.tools.len()),
    ]
    .into_iter()
    .filter_map(|(address, count)| {
        let listing = LISTINGS.iter().find(|listing| listing.address == address)?;
        Some((address, cx.tr(listing.title).to_string(), count))
    })
    .collect()
}

fn entries(cx: &RenderContext<'_>) -> Vec<SearchEntry> {
    let site = cx.site();
    let mut entries: Vec<SearchEntry> = site.errors.iter().map(|page| error(cx, page)).collect();
    entries.extend(site.models.iter().map(model));
    entries.extend(site.devices.iter().map(device));
    entries.extend(site.guides.iter().map(|page| prose(cx, &page.head, &[])));
    entries.extend(site.terms.iter().map(|page| prose(cx, &page.head, &page.data.also)));
    entries.extend(site.quants.iter().map(|page| {
        prose(cx, &page.head, &[page.data.gguf_type.value.clone(), page.data.family.name().to_string()])
    }));
    entries.extend(site.tools.iter().map(|page| prose(cx, &page.head, &[])));
    entries.extend(site.categories.iter().map(|page| prose(cx, &page.head, &[])));
    entries.extend(site.documents.iter().map(|page| prose(cx, &page.head, &[])));
    entries.extend(LISTINGS.iter().filter_map(|listing| {
        let note = cx.tr(purpose(listing.address)?);
        Some(SearchEntry::new(listing.address.to_string(), cx.tr(listing.title)).with_note(note.to_string()))
    }));
    entries
}

impl SearchEntry {
    fn new(address: String, title: &str) -> Self {
        let document = Document { address, title: title.to_string(), ..Document::default() };
        Self { document, note: String::new(), also: Vec::new() }
    }

    /// Adds a note, which is searched, too.
    fn with_note(mut self, note: String) -> Self {
        self.document.body.push_str(&note);
        self.note = one_line(&note);
        self
    }

    /// Adds synonyms.
    fn with_synonyms(mut self, names: &[String]) -> Self {
        self.document.signatures.push_str(&names.join(" "));
        self.also = names.to_vec();
        self
    }

    /// Adds words that are searched but not shown.
    fn with_words(mut self, words: &[&str]) -> Self {
        for word in words {
            self.document.body.push('\n');
            self.document.body.push_str(word);
        }
        self
    }
}

/// Creates the entry of a text page: summary and headings.
fn prose(cx: &RenderContext<'_>, head: &Head, names: &[String]) -> SearchEntry {
    let headings: Vec<&str> = cx.summary(head).toc.iter().map(|entry| entry.title.as_str()).collect();
    SearchEntry::new(head.id.address(), &head.title.value)
        .with_note(cx.describe(head))
        .with_synonyms(names)
        .with_words(&headings)
}

/// Creates the entry of an error, with its messages.
fn error(cx: &RenderContext<'_>, page: &Page<ErrorData>) -> SearchEntry {
    let data = &page.data;
    let wordings: Vec<String> =
        data.signatures.iter().map(|signature| signature_text(signature.text())).collect();
    let category = cx.head(&PageId::new(Kind::Category, data.category.as_str()));
    let tools = cx.tool_titles(page);
    let mut words: Vec<&str> = tools.iter().map(String::as_str).collect();
    words.extend(category.map(|head| head.title.value.as_str()));
    let mut entry = prose(cx, &page.head, &[]).with_words(&words);
    if let Some(first) = wordings.first() {
        entry.note = one_line(first);
    }
    entry.document.signatures = wordings.join("\n");
    entry
}

fn model(page: &Page<ModelData>) -> SearchEntry {
    let data = &page.data;
    let size = data.parameters.as_ref().map(|count| parameters(count.value));
    let note: Vec<&str> = [Some(data.family.as_str()), size.as_deref()].into_iter().flatten().collect();
    let mut entry =
        SearchEntry::new(page.head.id.address(), &page.head.title.value).with_note(note.join(", "));
    entry.document.signatures = data.hf_id.clone().unwrap_or_default();
    entry
}

fn device(page: &Page<DeviceData>) -> SearchEntry {
    let data = &page.data;
    let memory = format!("{} GB", data.memory_gb);
    let facts = [Some(data.vendor.name()), Some(&memory), data.memory_type.as_deref()];
    let note: Vec<&str> = facts.into_iter().flatten().collect();
    let line = [&data.architecture, &data.generation].into_iter().flatten();
    let words: Vec<&str> = line.map(String::as_str).collect();
    SearchEntry::new(page.head.id.address(), &page.head.title.value)
        .with_note(note.join(", "))
        .with_words(&words)
}

/// Returns the words of a text that fit in one line.
fn one_line(text: &str) -> String {
    if text.chars().count() <= MAX_NOTE_CHARS {
        return text.to_string();
    }
    let start: String = text.chars().take(MAX_NOTE_CHARS).collect();
    let end = start.rfind(' ').unwrap_or(start.len());
    format!("{} …", start[..end].trim_end_matches([',', ';', ':', '.', ' ', '…']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_one_line_of_whole_words() {
        assert_eq!(one_line("CUDA out of memory"), "CUDA out of memory");
        let long = one_line(&"allocating … on device, ".repeat(9));
        assert!(long.chars().count() <= MAX_NOTE_CHARS + 2, "{long}");
        assert!(long.ends_with("device …") || long.ends_with("allocating …"), "{long}");
    }
}
