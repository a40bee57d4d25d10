//! `kbgen links`: asks for every web address that the content names, apart from `check`, since other sites come and go.

mod addresses;
mod ask;
mod host;
mod memory;

use std::sync::Arc;

use anyhow::ensure;
use serde::Serialize;

use crate::cli::arguments::{AnswerFormat, Arguments, LinksOptions};
use crate::cli::kept::Kept;
use crate::cli::links::addresses::addresses;
use crate::cli::links::ask::{Answer, Network, ask};
use crate::cli::links::memory::Memory;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, world};
use crate::escape::{Style, TerminalText, one_line};
use crate::load::{self, Drafts};
use crate::pipeline::{self, SiteOptions};
use crate::progress::NoProgress;
use crate::render::Audience;

/// What became of an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// There is no such page, or no such host.
    Gone,
    /// Its redirects lead nowhere.
    Broken,
    /// It answers from another address now.
    Moved,
    /// It did not answer, or to programs it does not: nothing follows from that.
    Unsure,
}

/// An address that needs a look, with one place that names it.
#[derive(Debug, Serialize)]
struct Found {
    file: String,
    line: usize,
    column: usize,
    url: String,
    state: State,
    /// The status, or what went wrong on the way.
    why: String,
    /// Where a moved one is now.
    to: Option<String>,
}

pub(super) fn run(
    arguments: &Arguments,
    options: &LinksOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (sources, faults) = load::read(&root)?;
    let today = options.date.unwrap_or_else(world::today);
    let kept = Kept::open(&root, &options.cache, terminal);
    let order = SiteOptions {
        today,
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
        engine: Arc::new(kept.engine()),
    };
    let draft = pipeline::analyze(&sources, faults, &order, &NoProgress)?;
    let places = addresses(&draft.site, &draft.links, &sources);
    let mut memory = Memory::open(kept.cache(), today, options.fresh);
    let unknown: Vec<&str> = places.keys().map(String::as_str).filter(|url| !memory.is_fresh(url)).collect();
    terminal.say(&match unknown.len() {
        0 if places.is_empty() => "the content names no web address".to_string(),
        0 => format!("all {} addresses answered lately", places.len()),
        asked => format!("asking for {asked} of {} addresses", places.len()),
    });
    let answers = ask(&unknown, &Network::public())?;
    let is_answer = |answer: &Answer| matches!(answer, Answer::Status { .. } | Answer::Broken(_));
    // Without a network every host is unknown.
    ensure!(
        answers.is_empty() || answers.iter().any(|(_, answer)| is_answer(answer)),
        "could not check: none of {} addresses answered; is this machine connected to the network?",
        answers.len()
    );
    let mut found = Vec::new();
    for (url, answer) in answers {
        let Some(span) = places.get(&url) else { continue };
        match judge(&url, answer) {
            None => memory.answered(&url),
            Some((state, why, to)) => {
                let source = sources.get(span.source);
                let position = source.position(span.start);
                let (line, column) = (position.line, position.column);
                found.push(Found { file: source.path.clone(), line, column, url, state, why, to });
            }
        }
    }
    memory.keep()?;
    found.sort_by(|a, b| (&a.file, a.line, a.column).cmp(&(&b.file, b.line, b.column)));
    match options.format {
        AnswerFormat::Json => terminal.print_json(&found),
        AnswerFormat::Human if unknown.is_empty() => {}
        AnswerFormat::Human => tell(&found, terminal),
    }
    let is_bad = |found: &Found| matches!(found.state, State::Gone | State::Broken);
    Ok(if found.iter().any(is_bad) { Outcome::Findings } else { Outcome::Fine })
}

/// What an answer means; none when all is well. Hosts that turn programs away answer 401, 403, 429 and the like, which
/// says nothing about the page.
fn judge(url: &str, answer: Answer) -> Option<(State, String, Option<String>)> {
    let (code, to) = match answer {
        Answer::Status { code, to } => (code, to.filter(|to| to != url)),
        Answer::Broken(why) => return Some((State::Broken, why, None)),
        Answer::NoHost => return Some((State::Gone, "there is no such host".to_string(), None)),
        Answer::Silent(why) => return Some((State::Unsure, why.to_string(), None)),
    };
    let status = format!("status {code}");
    match code {
        404 | 410 => Some((State::Gone, status, None)),
        200..=299 if to.is_some() => Some((State::Moved, status, to)),
        200..=299 | 304 => None,
        _ => Some((State::Unsure, status, None)),
    }
}

fn tell(found: &[Found], terminal: &Terminal) {
    if found.is_empty() {
        return terminal.say("none of them is gone");
    }
    for found in found {
        let word = match found.state {
            State::Gone => "gone",
            State::Broken => "broken",
            State::Moved => "moved",
            State::Unsure => "unsure",
        };
        let to = found.to.as_ref().map_or(String::new(), |to| format!(", now {to}"));
        let Found { file, line, column, url, why, .. } = found;
        let mut text = TerminalText::from(format!("{}:{line}:{column}: ", one_line(file)));
        text.push(TerminalText::styled(Style::Strong, word));
        text.push(one_line(&format!(": {url} ({why}{to})")).as_ref());
        text.push("\n");
        terminal.print(text);
    }
    let count = |state| found.iter().filter(|found| found.state == state).count();
    let (gone, broken) = (count(State::Gone), count(State::Broken));
    let (moved, unsure) = (count(State::Moved), count(State::Unsure));
    terminal.say(format!("{gone} gone, {broken} broken, {moved} moved, {unsure} unsure"));
}
