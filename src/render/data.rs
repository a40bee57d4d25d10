//! The same knowledge as data: `kb.json`, a Markdown and a JSON twin of each error, `llms.txt`.

use std::ops::Range;

use serde_json::{Value, json};

use crate::files::{Outputs, Placed};
use crate::markdown::outline_inline;
use crate::render::prose::lead;
use crate::render::views::Shelf;
use crate::site::kinds::{ErrorData, SignatureText};
use crate::site::{Head, LISTINGS, Page};

/// Version of the form of `kb.json`; grows when a reader of it would have to change.
const VERSION: u32 = 1;

/// All data files.
pub(super) fn files(shelf: &Shelf<'_>) -> Outputs {
    let mut outputs = Outputs::default();
    for error in &shelf.site().errors {
        let slug = &error.head.id.slug;
        outputs.add(format!("errors/{slug}.json"), text(&error_data(shelf, error)));
        outputs.add(format!("errors/{slug}.md"), twin(shelf, error));
    }
    outputs.add("kb.json", text(&knowledge_base(shelf)));
    outputs.add("llms.txt", llms(shelf));
    outputs
}

fn text(value: &Value) -> String {
    let mut text = serde_json::to_string(value).expect("plain data is always JSON");
    text.push('\n');
    text
}

fn url(shelf: &Shelf<'_>, head: &Head) -> String {
    format!("{}{}", shelf.order.config.base_url, head.id.address())
}

fn path(head: &Head) -> String {
    format!("/{}", head.id.address())
}

fn knowledge_base(shelf: &Shelf<'_>) -> Value {
    let config = shelf.order.config;
    let site = shelf.site();
    json!({
        "version": VERSION,
        "generated_for": config.base_url,
        "title": config.title,
        "licence": config.licence,
        "errors": site.errors.iter().map(|error| error_data(shelf, error)).collect::<Vec<_>>(),
        "models": site.models.iter().map(|model| json!({
            "slug": model.head.id.slug,
            "title": model.head.title.value,
            "url": path(&model.head),
            "family": model.data.family,
            "hf_id": model.data.hf_id,
            "licence": model.data.licence,
            "released": model.data.released.map(|date| date.to_string()),
            "parameters": model.data.parameters.as_ref().map(|count| count.value),
            "max_ctx": model.data.architecture.count("max_ctx"),
            "sources": model.data.evidence.sources.iter().map(|source| &source.value).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "hardware": site.devices.iter().map(|device| json!({
            "slug": device.head.id.slug,
            "title": device.head.title.value,
            "url": path(&device.head),
            "vendor": device.data.vendor,
            "class": device.data.class,
            "memory_bytes": device.data.memory_bytes(),
            "unified": device.data.unified,
            "bandwidth_gbps": device.data.bandwidth_gbps,
            "released": device.data.released.map(|date| date.to_string()),
            "sources": device.data.evidence.sources.iter().map(|source| &source.value).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "tools": site.tools.iter().map(|tool| json!({
            "slug": tool.head.id.slug,
            "title": tool.head.title.value,
            "url": path(&tool.head),
            "homepage": tool.data.homepage,
        })).collect::<Vec<_>>(),
        "guides": site.guides.iter().map(|guide| json!({
            "slug": guide.head.id.slug,
            "title": guide.head.title.value,
            "url": path(&guide.head),
            "related": guide.data.related.iter().map(|slug| &slug.value).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
    })
}

fn error_data(shelf: &Shelf<'_>, error: &Page<ErrorData>) -> Value {
    let data = &error.data;
    let pairs = |pairs: &[(String, String)]| -> Value {
        pairs
            .iter()
            .map(|(name, value)| (name.clone(), json!(value)))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let plain =
        |placed: &[Placed<String>]| placed.iter().map(|placed| placed.value.clone()).collect::<Vec<_>>();
    json!({
        "slug": error.head.id.slug,
        "title": error.head.title.value,
        "url": path(&error.head),
        "description": shelf.describe(&error.head),
        "category": data.category,
        "kind": data.kind.name(),
        "severity": data.severity.name(),
        "status": data.status.name(),
        "retired": data.retired,
        "tools": plain(&data.tools),
        "platforms": data.platforms,
        "signatures": data.signatures.iter().map(|signature| {
            let mut entry = serde_json::Map::new();
            match &signature.text {
                SignatureText::Pattern(pattern) => { entry.insert("pattern".into(), json!(pattern.value)); }
                SignatureText::All(all) => { entry.insert("all".into(), json!(plain(all))); }
                SignatureText::Unclear => {}
            }
            if !signature.not.is_empty() {
                entry.insert("not".into(), json!(plain(&signature.not)));
            }
            entry.insert("extract".into(), json!(signature.extract.as_ref().map(|name| &name.value)));
            entry.insert("when".into(), json!(signature.when.as_ref().map(|when| &when.value)));
            entry.insert("source".into(), json!(signature.source));
            entry.insert("versions".into(), pairs(&signature.versions));
            entry.insert("samples".into(), json!(plain(&signature.samples)));
            Value::Object(entry)
        }).collect::<Vec<_>>(),
        "causes": data.causes.iter().map(|cause| json!({
            "id": cause.id.value,
            "title": cause.title,
            "tell": cause.tell.value,
            "when": cause.when.as_ref().map(|when| &when.value),
            "case": cause.case.as_ref().map(|case| &case.value),
            "solutions": plain(&cause.solutions),
        })).collect::<Vec<_>>(),
        "solutions": data.solutions.iter().map(|solution| json!({
            "id": solution.id.value,
            "title": solution.title,
            "cost": solution.cost,
        })).collect::<Vec<_>>(),
        "related": plain(&data.related),
        "verified": error.head.verified.as_ref().map(|date| date.value.to_string()),
        "verified_with": pairs(&data.evidence.verified_with),
        "sources": plain(&data.evidence.sources),
        "aliases": plain(&error.head.aliases),
    })
}

/// The page as Markdown: title and what the front matter says in words, then the body with its figures filled in.
fn twin(shelf: &Shelf<'_>, error: &Page<ErrorData>) -> String {
    let data = &error.data;
    let mut text = format!("# {}\n\n", error.head.title.value);
    for signature in &data.signatures {
        for sample in &signature.samples {
            let fence = "`".repeat(longest_run(&sample.value, '`').max(2) + 1);
            text.push_str(&format!("{fence}text\n{}\n{fence}\n\n", sample.value.trim_end()));
        }
    }
    text.push_str("## Causes\n\n");
    for (cause, number) in data.causes.iter().zip(1..) {
        let solutions: Vec<String> = cause.solutions.iter().map(|id| format!("`{}`", id.value)).collect();
        text.push_str(&format!(
            "{number}. **{}** How to tell: {} Solutions: {}.\n",
            cause.title,
            line_from_here(shelf, &error.head, &cause.tell.value),
            solutions.join(", ")
        ));
    }
    text.push('\n');
    text.push_str(body_from_here(shelf, &error.head).trim());
    text.push_str("\n\n## Sources\n\n");
    for source in &data.evidence.sources {
        text.push_str(&format!("- <{}>\n", source.value));
    }
    if let Some(verified) = &error.head.verified {
        text.push_str(&format!("\nVerified: {}\n", verified.value));
    }
    text
}

fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|c| c != wanted).map(str::len).max().unwrap_or(0)
}

/// The way from `errors/<slug>.md` to the root of the site.
const ROOT: &str = "../";

/// The body with its figures filled in, and its links leading from where the twin lies.
fn body_from_here(shelf: &Shelf<'_>, head: &Head) -> String {
    let body = shelf.order.sources.text(head.body.span);
    let place = |range: &Range<usize>| head.body.span.part(range.start, range.end);
    let figures = head.body.outline.calls.iter().filter_map(|call| {
        let figure = shelf.order.fits.prose.get(&place(&call.range))?;
        Some((call.range.clone(), figure.text.clone()))
    });
    let links = head.body.outline.links.iter().filter_map(|link| {
        let target = shelf.order.links.targets.get(&place(&link.range))?;
        (body[link.range.clone()] == link.destination)
            .then(|| (link.range.clone(), lead(ROOT, target, shelf.assets)))
    });
    replaced(body, figures.chain(links).collect())
}

/// One line of Markdown, its links leading from where the twin lies.
fn line_from_here(shelf: &Shelf<'_>, head: &Head, line: &str) -> String {
    let links = outline_inline(line).links.into_iter().filter_map(|link| {
        let target = shelf.order.links.lines.get(&(head.id.clone(), link.destination.clone()))?;
        (line[link.range.clone()] == link.destination).then(|| (link.range, lead(ROOT, target, shelf.assets)))
    });
    replaced(line, links.collect())
}

/// The text with these ranges replaced; of two that overlap the first counts.
fn replaced(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let mut after = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in changes.into_iter().filter(|(range, _)| range.end <= text.len()) {
        if range.start >= at {
            after.push_str(&text[at..range.start]);
            after.push_str(&new);
            at = range.end;
        }
    }
    after.push_str(&text[at..]);
    after
}

/// Pages that compute what a reader asks.
const CALCULATORS: [&str; 4] = ["will-it-run/", "compare/", "choose-gpu/", "cost-vs-cloud/"];

/// A map of the site for language models, as <https://llmstxt.org> describes it.
fn llms(shelf: &Shelf<'_>) -> String {
    let config = shelf.order.config;
    let site = shelf.site();
    let mut text = format!("# {}\n\n> {}\n\n", config.title, config.description);
    text.push_str(&format!("- [The whole knowledge base as JSON]({}kb.json)\n", config.base_url));
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
