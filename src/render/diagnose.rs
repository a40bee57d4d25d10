//! Data for diagnosis in the browser, as scripts that also load from disk.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use kbgen_signature::{PatternPartition, TextIndex};
use serde::Serialize;
use serde_json::{Value, json};

use crate::diagnosis;
use crate::engine::Kind;
use crate::files::Outputs;
use crate::markdown::Fence;
use crate::render::parts::{MAX_WHOLE_BYTES, PART_BYTES, PART_DOCUMENTS, add_part, assign, extend, json};
use crate::render::views::{FIRST_STEP, RenderContext, asks_for_memory};
use crate::site::kinds::{ErrorData, ModelData};
use crate::site::{Head, Page};

/// Data in addition to the signatures.
#[derive(Serialize)]
struct Tables {
    pairs: [(&'static str, &'static str); diagnosis::SHORTAGE_PAIRS.len()],
    counts: [&'static str; diagnosis::COUNT_NAMES.len()],
    /// Names of all figures that pages use.
    figures: BTreeSet<String>,
}

/// Models, devices and quantizations that a log can name, for links to the calculator.
#[derive(Serialize)]
struct Catalog<'s> {
    /// Each model in the calculator, with its [`repository`].
    models: Vec<CatalogEntry<'s, Option<&'s str>>>,
    /// Each device, with the bytes of its memory.
    devices: Vec<CatalogEntry<'s, u64>>,
    quants: Vec<&'s str>,
}

/// Title, data and slug of a page of the catalog. The slug is left out if [`slug_of_title`] gives it.
#[derive(Serialize)]
struct CatalogEntry<'s, T>(&'s str, T, #[serde(skip_serializing_if = "Option::is_none")] Option<&'s str>);

impl<'s, T> CatalogEntry<'s, T> {
    fn new(head: &'s Head, data: T) -> Self {
        let (title, slug) = (title(head), slug(head));
        Self(title, data, (slug_of_title(title) != slug).then_some(slug))
    }
}

/// Data of a page except for its first commands, which are read from its body.
#[derive(Serialize)]
struct PageEntry<'s> {
    title: &'s str,
    description: String,
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    causes: serde_json::Map<String, Value>,
    /// Whether the error depends on memory, so that the calculator can help.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    fits: bool,
}

/// Path of the script with the signatures.
const TABLE: &str = "data/diagnose.js";
/// Path of the script with the texts of pages. A table in parts has them beside the signatures.
const PAGE_TEXTS: &str = "data/page-texts.js";
/// Path of the script with the [`Catalog`].
const CATALOG: &str = "data/catalog.js";
/// Path of the script with the texts of readings.
const READING_TEXTS: &str = "data/reading-texts.js";
/// Path of the script with the text index, which is loaded for questions.
const INDEX: &str = "data/similar.js";

/// Makes the scripts; in parts if one is large. The catalog and the texts of pages and of readings are files of their own, which
/// are loaded for an answer: which file is loaded does not depend on the text of the reader.
pub(super) fn tables(cx: &RenderContext<'_>) -> Outputs {
    let index = text_index(cx);
    let text_bytes = [cx.inputs.compiled().index.table().text_bytes(), index.text_bytes()];
    if text_bytes.into_iter().all(|bytes| bytes <= MAX_WHOLE_BYTES) {
        let whole = with_index(cx, &index);
        let is_large = |path| whole.get(path).is_some_and(|script| script.len() > MAX_WHOLE_BYTES);
        if ![TABLE, PAGE_TEXTS, INDEX].into_iter().any(is_large) {
            return whole;
        }
    }
    let mut outputs = table_in_parts(cx);
    outputs.append(index_in_parts(&index));
    outputs
}

/// Makes the scripts as a whole.
pub(super) fn whole_tables(cx: &RenderContext<'_>) -> Outputs {
    with_index(cx, &text_index(cx))
}

fn with_index(cx: &RenderContext<'_>, index: &TextIndex) -> Outputs {
    let inputs = cx.inputs;
    let signatures = inputs
        .engine
        .query(Kind::Gathered, "table", || json(&inputs.compiled().index.table().without_texts()));
    let mut outputs = Outputs::default();
    outputs.add(TABLE, format!("kbgen.tables={{\"match\":{signatures},{}}};\n", without_braces(&fields(cx))));
    outputs.add(PAGE_TEXTS, format!("kbgen.pageTexts={};\n", object(pages(cx))));
    outputs.append(texts_and_catalog(cx));
    outputs.add(INDEX, assign(SIMILAR, &index.whole()) + "\n");
    outputs
}

/// Makes the scripts with the texts of readings and with the catalog.
fn texts_and_catalog(cx: &RenderContext<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    let texts = cx.inputs.compiled().index.table().reading_texts();
    outputs.add(READING_TEXTS, assign("kbgen.readingTexts", &texts) + "\n");
    outputs.add(CATALOG, assign("kbgen.catalog", &catalog(cx)) + "\n");
    outputs
}

/// Joins values in JSON to an object.
fn object<'s>(values: impl Iterator<Item = (&'s str, String)>) -> String {
    let fields: Vec<String> = values.map(|(name, value)| format!("{}:{value}", json(&name))).collect();
    format!("{{{}}}", fields.join(","))
}

/// Variable of the text index.
const SIMILAR: &str = "kbgen.similar";

/// Makes a head, and parts with postings and documents.
fn index_in_parts(index: &TextIndex) -> Outputs {
    let mut outputs = Outputs::default();
    let mut index = index.in_parts(PART_BYTES, PART_DOCUMENTS);
    let (postings, documents) = (mem::take(&mut index.postings), mem::take(&mut index.documents));
    let mut part = |name: &str, at: usize, value: Value| {
        add_part(&mut outputs, "similar", &(assign(&format!("{SIMILAR}.{name}[{at}]"), &value) + "\n"))
    };
    let posting_files: Vec<String> =
        postings.iter().enumerate().map(|(at, text)| part("postings", at, json!(text))).collect();
    let document_files: Vec<String> =
        documents.iter().enumerate().map(|(at, list)| part("documents", at, json!(list))).collect();
    let mut head = json!(index);
    head["files"] = json!({"postings": posting_files, "documents": document_files});
    outputs.add(INDEX, assign(SIMILAR, &head) + "\n");
    outputs
}

/// Makes a head, parts with patterns, and parts with pages and their texts.
fn table_in_parts(cx: &RenderContext<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    let mut add = |script: String| add_part(&mut outputs, "diagnose", &script);
    let pages: BTreeMap<&str, String> = pages(cx).collect();
    let mut page_parts: Vec<Vec<(&str, String)>> = Vec::new();
    let mut left = 0;
    for (slug, page) in pages {
        if left == 0 {
            page_parts.push(Vec::new());
            left = PART_BYTES;
        }
        // The signatures of a page are about as long as its entry.
        left = left.saturating_sub(2 * page.len());
        page_parts.last_mut().expect("a part was added").push((slug, page));
    }
    let slugs: Vec<&str> = page_parts.iter().map(|part| part[0].0).collect();
    let page_part = |slug: &str| slugs.partition_point(|first| *first <= slug).saturating_sub(1);
    let table = cx.inputs.compiled().index.table().in_parts(PART_BYTES, page_part);
    let pattern_files: Vec<String> = table
        .patterns
        .iter()
        .enumerate()
        .map(|(at, part)| add(patterns(part) + &format!("kbgen.tables.match.parts.patterns[{at}]=1;\n")))
        .collect();
    let page_script = |(at, part): (usize, &Vec<(&str, String)>)| {
        let texts = object(part.iter().cloned());
        let matched = part.iter().filter_map(|(slug, _)| table.pages.get(*slug));
        let matched: BTreeMap<usize, _> = matched.copied().collect();
        let matched = extend("kbgen.tables.match.pages", &matched);
        format!("Object.assign(kbgen.pageTexts,{texts});{matched}kbgen.tables.match.parts.pages[{at}]=1;\n")
    };
    let page_files: Vec<String> = page_parts.iter().enumerate().map(page_script).map(&mut add).collect();
    let mut head = table.head;
    head.extend([
        ("patterns".to_string(), json!([])),
        ("anchors".to_string(), json!([])),
        ("uses".to_string(), json!({})),
        ("pages".to_string(), json!([])),
    ]);
    let parts = json!({
        "keys": table.keys,
        "starts": table.starts,
        "slugs": slugs,
        "patterns": [],
        "pages": [],
        "files": {"patterns": pattern_files, "pages": page_files},
    });
    head.insert("parts".to_string(), parts);
    let head = format!(
        "kbgen.pageTexts={{}};kbgen.tables={{\"match\":{},{}}};{}{}\n",
        json(&head),
        without_braces(&fields(cx)),
        patterns(&table.always),
        extend("kbgen.tables.match.pages", &table.readings),
    );
    outputs.add(TABLE, head);
    outputs.append(texts_and_catalog(cx));
    outputs
}

/// Formats the statements that add patterns to the table.
fn patterns(part: &PatternPartition<'_>) -> String {
    let table = "kbgen.tables.match";
    [
        extend(&format!("{table}.patterns"), &part.patterns),
        extend(&format!("{table}.anchors"), &part.anchors),
        extend(&format!("{table}.uses"), &part.uses),
    ]
    .concat()
}

fn text_index(cx: &RenderContext<'_>) -> TextIndex {
    diagnosis::text_index(cx.inputs.site, cx.inputs.sources, cx.inputs.engine)
}

/// Returns everything but the signatures and the pages as JSON.
fn fields(cx: &RenderContext<'_>) -> String {
    let extractors = diagnosis::shared_extractors(cx.site(), cx.inputs.sources);
    let causes = cx.site().errors.iter().flat_map(|error| &error.data.causes);
    let figures = causes
        .filter(|cause| cause.when.is_some())
        .flat_map(|cause| diagnosis::relevant_figures(cause, &extractors))
        .collect();
    json(&Tables { pairs: diagnosis::SHORTAGE_PAIRS, counts: diagnosis::COUNT_NAMES, figures })
}

fn catalog<'s>(cx: &'s RenderContext<'_>) -> Catalog<'s> {
    let devices = cx.site().devices.iter();
    Catalog {
        models: models(cx),
        devices: devices.map(|device| CatalogEntry::new(&device.head, device.data.memory_bytes())).collect(),
        quants: cx.inputs.fits.quants.iter().map(String::as_str).collect(),
    }
}

/// Returns the entries of all errors as JSON, by slug.
fn pages<'s>(cx: &'s RenderContext<'_>) -> impl Iterator<Item = (&'s str, String)> {
    let entries = cx.inputs.engine.query(Kind::Gathered, "entries", || entries(cx));
    cx.site().errors.iter().zip(entries).map(|(error, entry)| {
        let commands = json(&first_commands(cx, error));
        (slug(&error.head), format!("{{{},\"first_commands\":{commands}}}", without_braces(&entry)))
    })
}

/// Returns the models with figures.
fn models<'s>(cx: &'s RenderContext<'_>) -> Vec<CatalogEntry<'s, Option<&'s str>>> {
    let known = cx.site().models.iter().filter(|model| cx.inputs.fits.figures(&model.head.id.slug).is_some());
    known.map(|model| CatalogEntry::new(&model.head, repository(title(&model.head), &model.data))).collect()
}

/// Returns the Hugging Face id of a model; only its owner if the name is that of the page, apart from separators.
fn repository<'s>(title: &str, model: &'s ModelData) -> Option<&'s str> {
    let id = model.hf_id.as_deref()?;
    let squeezed = |name: &str| name.to_lowercase().replace(|c: char| !is_plain(c), "");
    Some(
        id.split_once('/')
            .filter(|(_, name)| squeezed(name) == squeezed(title))
            .map_or(id, |(owner, _)| owner),
    )
}

/// Returns the slug that most pages of the catalog have, as `static/js/case.js` does.
fn slug_of_title(title: &str) -> String {
    let title = title.to_lowercase();
    title.split(|c: char| !is_plain(c)).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

fn is_plain(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit() || c == '.'
}

fn slug(head: &Head) -> &str {
    &head.id.slug
}

fn title(head: &Head) -> &str {
    &head.title.value
}

/// Returns the entries of all errors as JSON.
fn entries(cx: &RenderContext<'_>) -> Vec<String> {
    let extractors = diagnosis::shared_extractors(cx.site(), cx.inputs.sources);
    let entry = |error: &Page<ErrorData>| {
        let causes = error.data.causes.iter().filter(|cause| cause.when.is_some()).map(|cause| {
            let names = diagnosis::relevant_figures(cause, &extractors);
            (cause.id.value.clone(), json!({"title": cause.title.value, "names": names}))
        });
        json(&PageEntry {
            title: &error.head.title.value,
            description: cx.describe(&error.head),
            causes: causes.collect(),
            fits: asks_for_memory(error),
        })
    };
    cx.site().errors.iter().map(entry).collect()
}

/// Returns the text between the braces of an object.
fn without_braces(object: &str) -> &str {
    &object[1..object.len() - 1]
}

/// Languages of code blocks with commands.
const TYPED: [&str; 3] = ["bash", "powershell", "console"];

/// Returns the commands to try first, by the cause that a log shows: that of its first solution. The key is empty for a log
/// that shows no cause: that of the first step.
fn first_commands<'s>(cx: &RenderContext<'_>, error: &'s Page<ErrorData>) -> BTreeMap<&'s str, String> {
    let known = error.data.causes.iter().filter(|cause| cause.when.is_some());
    let sections =
        known.filter_map(|cause| Some((cause.id.value.as_str(), cause.solutions.first()?.value.as_str())));
    let sections = sections.chain([("", FIRST_STEP)]);
    sections.filter_map(|(cause, section)| Some((cause, only_command(cx, error, section)?))).collect()
}

/// Returns the command of the first code block in a section. None if the block has several lines, which belong together, or
/// if another block is for another tool.
fn only_command(cx: &RenderContext<'_>, error: &Page<ErrorData>, section: &str) -> Option<String> {
    let outline = &error.head.body.outline;
    let mut headings = outline.headings.iter().skip_while(|heading| heading.id != section);
    let own = headings.next()?;
    let end = headings.find(|next| next.level <= own.level).map_or(usize::MAX, |next| next.range.start);
    let is_own = |fence: &&Fence| (own.range.end..end).contains(&fence.range.start);
    let is_typed = |fence: &&Fence| TYPED.contains(&fence.language.as_str());
    let mut fences = outline.fences.iter().filter(is_own).filter(is_typed);
    let fence = fences.next().filter(|first| fences.all(|fence| fence.tool == first.tool))?;
    let text = cx.inputs.sources.text(error.head.body.span).get(fence.range.clone())?;
    let mut lines = text.lines().skip(1).map(str::trim).filter(|line| {
        !line.is_empty() && !line.starts_with('#') && !line.starts_with("```") && !line.starts_with("~~~")
    });
    let line = lines.next().filter(|_| lines.next().is_none())?;
    Some(line.trim_start_matches("$ ").trim_start_matches("PS> ").to_string())
}
