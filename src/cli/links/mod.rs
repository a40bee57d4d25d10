//! `kbgen links`: checks external links. Separate from `check`, because the result depends on other sites.

mod addresses;
mod fetch;
mod history;
mod host;

use std::sync::Arc;

use anyhow::ensure;
use serde::Serialize;

use crate::cli::arguments::upkeep::LinksOptions;
use crate::cli::arguments::{Arguments, OutputFormat};
use crate::cli::build_cache::BuildCache;
use crate::cli::links::addresses::addresses;
use crate::cli::links::fetch::{FetchResult, Network, fetch_all};
use crate::cli::links::history::LinkHistory;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::escape::{Style, TerminalText, one_line};
use crate::load::{self, Drafts};
use crate::pipeline::{self, SiteOptions};
use crate::progress::NoProgress;
use crate::render::Audience;
use crate::site::format_count;

/// Result of a link that needs attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum LinkState {
    /// The page or the host does not exist.
    Gone,
    /// The redirects fail.
    Broken,
    /// The page redirects to another URL.
    Moved,
    /// No response, or a response that says nothing about the page.
    Unsure,
}

/// Link that needs attention, with the first place that uses it.
#[derive(Debug, Serialize)]
struct LinkReport {
    file: String,
    line: usize,
    column: usize,
    url: String,
    state: LinkState,
    /// HTTP status or error.
    why: String,
    /// Target of a moved link.
    to: Option<String>,
}

pub(super) fn run(
    arguments: &Arguments,
    options: &LinksOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let (sources, faults) = load::read(&root)?;
    let today = options.date.unwrap_or_else(environment::today);
    let cache = BuildCache::open(&root, &options.cache, terminal);
    let site_options = SiteOptions {
        today,
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
        engine: Arc::new(cache.engine()),
    };
    let analysis = pipeline::analyze(&sources, faults, &site_options, &NoProgress)?;
    let places = addresses(&analysis.site, &analysis.links, &sources);
    let mut history = LinkHistory::open(cache.store(), today, options.fresh);
    let unknown: Vec<&str> = places.keys().map(String::as_str).filter(|url| !history.is_fresh(url)).collect();
    terminal.message(&match unknown.len() {
        0 if places.is_empty() => "the content has no external links".to_string(),
        0 => format!("all {} links were checked recently", format_count(places.len() as u64)),
        count => {
            format!("checking {} of {} links", format_count(count as u64), format_count(places.len() as u64))
        }
    });
    let answers = fetch_all(&unknown, &Network::public())?;
    let is_answer =
        |answer: &FetchResult| matches!(answer, FetchResult::Status { .. } | FetchResult::Broken(_));
    // Offline, every host name lookup fails.
    ensure!(
        answers.is_empty() || answers.iter().any(|(_, answer)| is_answer(answer)),
        "none of {} links responded; check the network connection",
        answers.len()
    );
    let mut found = Vec::new();
    for (url, answer) in answers {
        let Some(span) = places.get(&url) else { continue };
        match classify(&url, answer) {
            None => history.answered(&url),
            Some((state, why, to)) => {
                let source = sources.get(span.source);
                let position = source.position(span.start);
                let (line, column) = (position.line, position.column);
                found.push(LinkReport { file: source.path.clone(), line, column, url, state, why, to });
            }
        }
    }
    history.keep()?;
    found.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    match options.format {
        OutputFormat::Json => terminal.print_json(&found),
        OutputFormat::Human if unknown.is_empty() => {}
        OutputFormat::Human => print_reports(&found, terminal),
    }
    let is_bad = |found: &LinkReport| matches!(found.state, LinkState::Gone | LinkState::Broken);
    Ok(if found.iter().any(is_bad) { Outcome::Findings } else { Outcome::Success })
}

/// Classifies a result, or returns `None` if the link works. Hosts that reject automated requests answer 401, 403 or
/// 429, which says nothing about the page.
fn classify(url: &str, answer: FetchResult) -> Option<(LinkState, String, Option<String>)> {
    let (code, to) = match answer {
        FetchResult::Status { code, to } => (code, to.filter(|to| to != url)),
        FetchResult::Broken(why) => return Some((LinkState::Broken, why, None)),
        FetchResult::NoHost => return Some((LinkState::Gone, "host not found".to_string(), None)),
        FetchResult::Silent(why) => return Some((LinkState::Unsure, why.to_string(), None)),
    };
    let status = format!("status {code}");
    match code {
        404 | 410 => Some((LinkState::Gone, status, None)),
        200..=299 if to.is_some() => Some((LinkState::Moved, status, to)),
        200..=299 | 304 => None,
        _ => Some((LinkState::Unsure, status, None)),
    }
}

fn print_reports(found: &[LinkReport], terminal: &Terminal) {
    if found.is_empty() {
        return terminal.message("no broken links");
    }
    for found in found {
        let word = match found.state {
            LinkState::Gone => "gone",
            LinkState::Broken => "broken",
            LinkState::Moved => "moved",
            LinkState::Unsure => "unsure",
        };
        let to = found.to.as_ref().map_or(String::new(), |to| format!(", now {to}"));
        let LinkReport { file, line, column, url, why, .. } = found;
        let mut text = TerminalText::from(format!("{}:{line}:{column}: ", one_line(file)));
        text.push(TerminalText::styled(Style::Strong, word));
        text.push(one_line(&format!(": {url} ({why}{to})")).as_ref());
        text.push("\n");
        terminal.print(text);
    }
    let count = |state| found.iter().filter(|found| found.state == state).count();
    let (gone, broken) = (count(LinkState::Gone), count(LinkState::Broken));
    let (moved, unsure) = (count(LinkState::Moved), count(LinkState::Unsure));
    terminal.message(format!("{gone} gone, {broken} broken, {moved} moved, {unsure} unsure"));
}
