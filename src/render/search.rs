//! `data/search.js`: the search index of all pages. It is separate from the index of diagnosis, which contains only
//! errors and guides.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::mem;

use kbgen_signature::{Document, TextIndex};
use serde::Serialize;
use serde_json::{Value, json};

use crate::files::Outputs;
use crate::i18n::text;
use crate::markdown::Outline;
use crate::render::parts::{MAX_WHOLE_BYTES, PART_BYTES, PART_DOCUMENTS, add_part, assign};
use crate::render::views::{RenderContext, entries_of, parameters, signature_text};
use crate::site::kinds::{DeviceData, ErrorData, ModelData};
use crate::site::{Head, Kind, Page, PageId};

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

/// Generated pages with a description that is searched, too, and with what readers ask for.
const PURPOSES: [(&str, &str, &str); 15] = [
    ("errors/", text("All errors by category"), ""),
    ("diagnose/", text("Find the page for a log or message"), ""),
    (
        "will-it-run/",
        text("Calculator: the memory that a model needs, and whether it fits"),
        "how much VRAM do I need|how much memory does a model need|does it fit|VRAM calculator",
    ),
    ("compare/", text("Comparison of devices"), "compare GPUs"),
    ("choose-gpu/", text("GPUs that run a model"), "which GPU for a model"),
    (
        "cost-vs-cloud/",
        text("Cost of your own hardware compared with cloud services"),
        "rent a GPU or buy one",
    ),
    ("benchmarks/", text("Reported speeds of models on devices"), "tokens per second|how fast is a model"),
    ("models/", text("All models by family"), ""),
    (
        "models-by-memory/",
        text("Models that fit on GPUs of each size"),
        "what fits in 8 GB|what fits in 24 GB",
    ),
    ("hardware/", text("All devices by manufacturer"), ""),
    ("quants/", text("All weight formats"), ""),
    ("guides/", text("All guides"), ""),
    ("tools/", text("All programs and their errors"), ""),
    ("glossary/", text("All terms"), ""),
    ("changes/", text("Pages by date of their last verification"), ""),
];

/// Returns the English description of a generated page.
pub(super) fn purpose(address: &str) -> Option<&'static str> {
    PURPOSES.iter().find(|(own, ..)| *own == address).map(|(_, purpose, _)| *purpose)
}

/// Data of the file; `notes` and `also` are in the order of the index.
struct Data {
    index: TextIndex,
    notes: Vec<String>,
    also: Vec<String>,
    groups: Vec<Group>,
    /// Pages that use a setting, best first: positions in the index, in base 36, separated by spaces.
    settings: BTreeMap<String, String>,
}

/// Content of the file; `notes` and `also` are divided like the documents of the index.
#[derive(Serialize)]
struct Script<'d, I> {
    index: &'d I,
    notes: &'d [&'d [String]],
    also: &'d [&'d [String]],
    groups: &'d [Group],
    settings: &'d BTreeMap<String, String>,
}

/// A group of results: address, title, and number of pages.
type Group = (String, String, usize);

/// Path of the script.
const INDEX: &str = "data/search.js";

/// Makes `data/search.js`, in parts if it is large. It consists of assignments, so that it also loads from disk.
pub(super) fn file(cx: &RenderContext<'_>) -> Outputs {
    let data = data(cx);
    let mut outputs = Outputs::default();
    if data.index.text_bytes() <= MAX_WHOLE_BYTES {
        let script = data.whole();
        if script.len() <= MAX_WHOLE_BYTES {
            outputs.add(INDEX, script);
            return outputs;
        }
    }
    let mut index = data.index.in_parts(PART_BYTES, PART_DOCUMENTS);
    let (postings, documents) = (mem::take(&mut index.postings), mem::take(&mut index.documents));
    let mut add = |script: String| add_part(&mut outputs, "search", &script);
    let part = |name: &str, at: usize, value: Value| assign(&format!("kbgen.pages.{name}[{at}]"), &value);
    let posting_files: Vec<String> = postings
        .iter()
        .enumerate()
        .map(|(at, text)| add(part("index.postings", at, json!(text)) + "\n"))
        .collect();
    let texts = data.notes.chunks(PART_DOCUMENTS).zip(data.also.chunks(PART_DOCUMENTS));
    let documents = documents.iter().zip(texts).enumerate().map(|(at, (documents, (notes, also)))| {
        part("index.documents", at, json!(documents))
            + &part("notes", at, json!(notes))
            + &part("also", at, json!(also))
            + "\n"
    });
    let document_files: Vec<String> = documents.map(add).collect();
    let mut head = json!(index);
    head["files"] = json!({"postings": posting_files, "documents": document_files});
    outputs.add(INDEX, data.script(&head, &[], &[]));
    outputs
}

/// Makes `data/search.js` as a whole.
pub(super) fn whole_file(cx: &RenderContext<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    outputs.add(INDEX, data(cx).whole());
    outputs
}

impl Data {
    /// Formats everything as one part.
    fn whole(&self) -> String {
        self.script(&self.index.whole(), &[&self.notes], &[&self.also])
    }

    fn script(&self, index: &impl Serialize, notes: &[&[String]], also: &[&[String]]) -> String {
        let (groups, settings) = (&self.groups, &self.settings);
        assign("kbgen.pages", &Script { index, notes, also, groups, settings }) + "\n"
    }
}

fn data(cx: &RenderContext<'_>) -> Data {
    let entries = entries(cx);
    let settings = settings(cx, &entries);
    let (documents, rest): (Vec<_>, Vec<_>) =
        entries.into_iter().map(|entry| (entry.document, (entry.note, entry.also))).unzip();
    let (notes, also): (Vec<_>, Vec<_>) = rest.into_iter().unzip();
    Data {
        index: TextIndex::build(&documents),
        notes,
        also: also.iter().map(|names| names.join("|")).collect(),
        groups: groups(cx),
        settings,
    }
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
        let listing = site.listings().find(|listing| listing.address == address)?;
        Some((address.to_string(), cx.tr(listing.title).to_string(), count))
    })
    .chain(site.collections().iter().map(|collection| {
        let count = entries_of(cx, &collection.name.value).len();
        (collection.address(), collection.title.clone(), count)
    }))
    .collect()
}

fn entries(cx: &RenderContext<'_>) -> Vec<SearchEntry> {
    let site = cx.site();
    let mut entries: Vec<SearchEntry> = site.models.iter().map(model).collect();
    entries.extend(site.devices.iter().map(device));
    entries.extend(
        site.guides.iter().map(|page| prose(cx, &page.head, &[]).with_questions(&page.data.questions)),
    );
    entries.extend(site.terms.iter().map(|page| prose(cx, &page.head, &page.data.also)));
    entries.extend(site.quants.iter().map(|page| {
        prose(cx, &page.head, &[page.data.gguf_type.value.clone(), page.data.family.name().to_string()])
    }));
    entries.extend(site.tools.iter().map(|page| prose(cx, &page.head, &[])));
    entries.extend(site.categories.iter().map(|page| prose(cx, &page.head, &[])));
    entries.extend(site.documents.iter().map(|page| prose(cx, &page.head, &[])));
    entries.extend(site.entries.iter().map(|page| prose(cx, &page.head, &[])));
    entries.extend(site.collections().iter().map(|collection| {
        SearchEntry::new(collection.address(), &collection.title).with_note(collection.description.clone())
    }));
    entries.extend(site.listings().filter_map(|listing| {
        let (address, purpose, names) = PURPOSES.iter().find(|(own, ..)| *own == listing.address)?;
        let names: Vec<String> = names.split_terminator('|').map(str::to_string).collect();
        let entry = SearchEntry::new(address.to_string(), cx.tr(listing.title));
        Some(entry.with_note(cx.tr(purpose).to_string()).with_synonyms(&names))
    }));
    // Errors come last: only the first part of a large index is compared with names.
    entries.extend(site.errors.iter().map(|page| error(cx, page)));
    entries
}

/// Maximum number of pages of a setting.
const MAX_SETTING_PAGES: usize = 4;
/// Points of a guide, and of a tool or a term, in the order of the pages of a setting; an error has none, and each
/// mention counts one point.
const GUIDE_POINTS: usize = 5;
const REFERENCE_POINTS: usize = 3;
/// Maximum points of a page for mentions.
const MAX_MENTION_POINTS: usize = 6;

/// Returns the pages of each environment variable, flag and parameter that commands use.
fn settings(cx: &RenderContext<'_>, entries: &[SearchEntry]) -> BTreeMap<String, String> {
    let points_of = |kind| match kind {
        Kind::Guide => Some(GUIDE_POINTS),
        Kind::Tool | Kind::Term => Some(REFERENCE_POINTS),
        Kind::Error => Some(0),
        _ => None,
    };
    let positions: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(at, entry)| (entry.document.address.as_str(), at)).collect();
    let mut pages_of: BTreeMap<String, Vec<(usize, usize)>> = BTreeMap::new();
    for head in cx.site().heads() {
        let (Some(kind_points), Some(at)) = (points_of(head.id.kind), positions.get(&*head.id.address()))
        else {
            continue;
        };
        for (name, mentions) in setting_names(cx.inputs.sources.text(head.body.span), &head.body.outline) {
            let points = kind_points + mentions.min(MAX_MENTION_POINTS);
            // A single mention on an error page is incidental.
            if points > 1 {
                pages_of.entry(name).or_default().push((points, *at));
            }
        }
    }
    let listed = |(name, mut pages): (String, Vec<(usize, usize)>)| {
        let titled = |at: usize| {
            let title = entries[at].document.title.to_lowercase();
            name.split('_').filter(|word| title.contains(*word)).count()
        };
        pages.sort_by_key(|(points, at)| (Reverse((*points, titled(*at))), *at));
        let pages = pages.iter().take(MAX_SETTING_PAGES).map(|(_, at)| base_36(*at));
        (name, pages.collect::<Vec<_>>().join(" "))
    };
    pages_of.into_iter().map(listed).collect()
}

/// Returns the settings in the code of a body with the number of their mentions: `OLLAMA_HOST`,
/// `--ctx-size`, `-ngl`, and in code spans also `num_ctx`. Names are in lower case without leading `--` and with `_`
/// for `-`, as `static/js/names.js` looks them up.
fn setting_names(text: &str, outline: &Outline) -> BTreeMap<String, usize> {
    let mut names = BTreeMap::new();
    let spans = outline.code.iter().map(|range| (range, false));
    let blocks = outline.fences.iter().map(|fence| (&fence.range, true));
    for (range, in_fence) in spans.chain(blocks) {
        let is_separator = |c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-');
        for word in text[range.clone()].split(is_separator) {
            let name = word.strip_prefix("--").unwrap_or(word);
            let parts: Vec<&str> = name.split(['_', '-']).collect();
            let all = |allowed: fn(&u8) -> bool| {
                let allowed = |byte: u8| allowed(&byte) || byte.is_ascii_digit();
                name.starts_with(|c: char| c.is_ascii_alphabetic())
                    && parts.iter().all(|part| !part.is_empty() && part.bytes().all(allowed))
            };
            let is_snake = name.contains('_') && !name.contains('-');
            let is_setting = match name.len() < word.len() {
                true => all(u8::is_ascii_lowercase),
                false if is_snake => {
                    all(u8::is_ascii_uppercase) || (!in_fence && all(u8::is_ascii_lowercase))
                }
                false => {
                    let short = word.strip_prefix('-').unwrap_or_default();
                    (1..=4).contains(&short.len()) && short.bytes().all(|byte| byte.is_ascii_lowercase())
                }
            };
            if is_setting {
                *names.entry(name.replace('-', "_").to_ascii_lowercase()).or_default() += 1;
            }
        }
    }
    names
}

fn base_36(number: usize) -> String {
    let digits = std::iter::successors(Some(number), |rest| (*rest >= 36).then_some(rest / 36));
    let digits: Vec<char> = digits.filter_map(|rest| char::from_digit((rest % 36) as u32, 36)).collect();
    digits.into_iter().rev().collect()
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

    /// Adds the questions that lead to the page.
    fn with_questions(mut self, questions: &[String]) -> Self {
        for question in questions {
            self.document.signatures.push('\n');
            self.document.signatures.push_str(question);
        }
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
    entry.with_questions(&data.questions)
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
    use crate::markdown::outline;

    #[test]
    fn settings_are_found_in_code() {
        let text = "Set `OLLAMA_HOST` or `num_ctx`, not NUM_GPU.\n```bash\nllama-server --ctx-size=4096 -ngl 20 my_file\n```\n";
        let names: Vec<String> = setting_names(text, &outline(text)).into_keys().collect();
        assert_eq!(names, ["_ngl", "ctx_size", "num_ctx", "ollama_host"]);
    }

    #[test]
    fn positions_are_in_base_36() {
        assert_eq!([0, 35, 36, 1295].map(base_36), ["0", "z", "10", "zz"]);
    }

    #[test]
    fn notes_are_one_line_of_whole_words() {
        assert_eq!(one_line("CUDA out of memory"), "CUDA out of memory");
        let long = one_line(&"allocating … on device, ".repeat(9));
        assert!(long.chars().count() <= MAX_NOTE_CHARS + 2, "{long}");
        assert!(long.ends_with("device …") || long.ends_with("allocating …"), "{long}");
    }
}
