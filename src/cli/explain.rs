//! `kbgen explain`: prints an error page or a guide in the terminal.

use std::collections::BTreeSet;

use anyhow::bail;
use serde::Serialize;

use crate::cli::Outcome;
use crate::cli::arguments::{Arguments, ExplainOptions, OutputFormat};
use crate::cli::knowledge_base::KnowledgeBase;
use crate::cli::terminal::Terminal;
use crate::config::Config;
use crate::diag::nearest;
use crate::diagnosis::slug_of_address;
use crate::engine::Engine;
use crate::escape::{Style, TerminalText, one_line};
use crate::files::{Sources, Spanned};
use crate::load::{self, Drafts};
use crate::site::kinds::ErrorData;
use crate::site::{Head, Kind, ProseCall};
use crate::{fit, markdown};

/// A page, as written to JSON.
#[derive(Debug, Serialize)]
pub(super) struct Explanation {
    /// That of a guide starts with `guides/`.
    slug: String,
    title: String,
    /// Address from the root of the site, with a leading slash.
    url: String,
    #[serde(flatten)]
    error: Option<ExplainedError>,
    tools: Vec<String>,
    /// Date of the last verification.
    verified: Option<String>,
    /// Markdown with the figures of the estimator filled in.
    body: String,
}

/// The fields that only an error has.
#[derive(Debug, Serialize)]
struct ExplainedError {
    severity: String,
    kind: &'static str,
    samples: Vec<String>,
    /// Most likely first.
    causes: Vec<ExplainedCause>,
}

#[derive(Debug, Serialize)]
struct ExplainedCause {
    id: String,
    title: String,
    /// How to find out whether this is the cause.
    check: String,
    /// Ids of the headings of the solutions.
    solutions: Vec<String>,
}

pub(super) fn run(
    arguments: &Arguments,
    options: &ExplainOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let base = KnowledgeBase::find(arguments)?;
    base.announce(terminal);
    let page = explain(base.sources(), &options.slug)?;
    match options.format {
        OutputFormat::Json => terminal.print_json(&base.answer(page)),
        OutputFormat::Human => terminal.print(describe(&page)),
    }
    Ok(Outcome::Success)
}

/// Returns an error by its slug or address, or a guide by its address.
///
/// # Errors
/// If there is no such page.
pub(super) fn explain(sources: &Sources, name: &str) -> anyhow::Result<Explanation> {
    let name = name.trim_matches('/');
    let (kind, slug) = match name.split_once('/') {
        Some(("guides", slug)) => (Kind::Guide, slug),
        Some(("errors", slug)) => (Kind::Error, slug),
        _ => (Kind::Error, name),
    };
    let folder = format!("content/{}/", kind.folder());
    let is_page = |path: &str| path.starts_with(&folder) && slug_of(path) == Some(slug);
    let declared = Config::read(sources).0.declared;
    let (site, _) = load::pages_declared(&sources.only(is_page), Drafts::Include, declared);
    let tools = |tools: &[Spanned<String>]| tools.iter().map(|tool| tool.value.clone()).collect();
    let page = |head: &Head, tools, error| Explanation {
        slug: slug_of_address(&head.id.address()).to_string(),
        title: head.title.value.clone(),
        url: format!("/{}", head.id.address()),
        error,
        tools,
        verified: head.verified.as_ref().map(|date| date.value.to_string()),
        body: body(sources, head),
    };
    if let Some(error) = site.errors.first() {
        let data = &error.data;
        return Ok(page(&error.head, tools(&data.tools), Some(explained_error(data))));
    }
    if let Some(guide) = site.guides.first() {
        return Ok(page(&guide.head, tools(&guide.data.tools), None));
    }
    let slugs = sources.under(&folder).filter_map(|(_, source)| slug_of(&source.path));
    let (what, prefix) = if kind == Kind::Guide { ("guide", "guides/") } else { ("error page", "") };
    match nearest(slug, slugs.filter(|slug| *slug != "_index")) {
        Some(near) => bail!("no {what} `{slug}`; did you mean `{prefix}{near}`?"),
        None => bail!("no {what} `{slug}`; `kbgen diagnose` finds pages by message"),
    }
}

fn explained_error(data: &ErrorData) -> ExplainedError {
    let plain = markdown::plain_inline;
    let causes = data.causes.iter().map(|cause| ExplainedCause {
        id: cause.id.value.clone(),
        title: plain(&cause.title.value),
        check: plain(&cause.tell.value),
        solutions: cause.solutions.iter().map(|id| id.value.clone()).collect(),
    });
    let samples = data.signatures.iter().flat_map(|signature| &signature.samples);
    ExplainedError {
        severity: data.severity.clone(),
        kind: data.kind.name(),
        samples: samples.map(|sample| sample.value.clone()).collect(),
        causes: causes.collect(),
    }
}

/// Returns the file name of a page without `.md`.
fn slug_of(path: &str) -> Option<&str> {
    path.rsplit('/').next()?.strip_suffix(".md")
}

/// Returns the Markdown source of the body with its figures filled in.
fn body(sources: &Sources, head: &Head) -> String {
    let written = sources.text(head.body.span);
    let calls = &head.body.outline.calls;
    let mut slugs = BTreeSet::new();
    for call in calls.iter().filter_map(|call| ProseCall::parse(&call.source).ok()) {
        slugs.insert(call.model.value);
        slugs.extend(call.gpu.map(|gpu| gpu.value));
    }
    let is_used = |path: &str| match path.strip_prefix("content/").and_then(|path| path.split_once('/')) {
        Some(("models" | "hardware", _)) => slug_of(path).is_some_and(|slug| slugs.contains(slug)),
        Some(("quants", _)) => !slugs.is_empty(),
        Some(("includes", _)) => true,
        _ => path == head.path,
    };
    let (site, _) = load::pages(&sources.only(is_used), Drafts::Include);
    let (table, _) = fit::table(&site, &Engine::without_cache());
    let figures = fit::prose_figures(&site, &table, &mut Vec::new());
    let figures = figures.get(head.path.as_str());
    let mut text = String::new();
    let mut at = 0;
    for call in calls {
        let figure = figures.and_then(|figures| figures.get(&call.range.start));
        let included = || Some(sources.text(site.included(call)?.body.span).trim());
        if let Some(new) = figure.map(|figure| figure.text.as_str()).or_else(included) {
            text.push_str(&written[at..call.range.start]);
            text.push_str(new);
            at = call.range.end;
        }
    }
    text.push_str(&written[at..]);
    text.trim().to_string()
}

/// Number of messages of a page that are printed.
const SHOWN_SAMPLES: usize = 2;
/// Number of lines of each.
const SHOWN_LINES: usize = 4;

fn describe(page: &Explanation) -> TerminalText {
    let mut text = TerminalText::styled(Style::Title, &one_line(&page.title));
    text.push("\n");
    let tools = page.tools.join(", ");
    match &page.error {
        Some(error) => text.push(format!("{}, {}; {tools}\n", error.severity, error.kind)),
        None if tools.is_empty() => {}
        None => text.push(tools + "\n"),
    }
    if let Some(verified) = &page.verified {
        text.push(format!("verified {verified}\n"));
    }
    if let Some(error) = &page.error {
        describe_error(error, &mut text);
    }
    text.push("\n");
    for line in page.body.lines() {
        text.push(match line.strip_prefix("## ") {
            Some(heading) => {
                let (title, _id) = heading.rsplit_once(" {#").unwrap_or((heading, ""));
                TerminalText::styled(Style::Strong, title)
            }
            None => line.into(),
        });
        text.push("\n");
    }
    text
}

fn describe_error(error: &ExplainedError, text: &mut TerminalText) {
    for sample in error.samples.iter().take(SHOWN_SAMPLES) {
        let mut lines: Vec<&str> = sample.trim_end().lines().collect();
        if lines.len() > SHOWN_LINES {
            lines.truncate(SHOWN_LINES);
            lines.push("…");
        }
        text.push("\n    ");
        text.push(TerminalText::styled(Style::Muted, &lines.join("\n    ")));
        text.push("\n");
    }
    match error.samples.len().saturating_sub(SHOWN_SAMPLES) {
        0 => {}
        1 => text.push("\n    and another message\n"),
        more => text.push(format!("\n    and {more} other messages\n")),
    }
    text.push("\n");
    text.push(TerminalText::styled(Style::Strong, "Causes, most likely first"));
    text.push("\n");
    for (cause, number) in error.causes.iter().zip(1..) {
        text.push(format!(
            "{number:>3}. {}\n     check: {}\n     fixes: {}\n",
            one_line(&cause.title),
            one_line(&cause.check),
            cause.solutions.join(", ")
        ));
    }
    text.push("If none of these causes applies, your error has another cause.\n");
}
