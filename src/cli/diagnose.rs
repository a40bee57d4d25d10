//! `kbgen diagnose`: the page for an error or a whole log.

use std::cell::LazyCell;

use serde_json::json;

use crate::cli::arguments::{AnswerFormat, Arguments, DiagnoseOptions};
use crate::cli::kept::Kept;
use crate::cli::terminal::{Style, Terminal};
use crate::cli::{Outcome, world};
use crate::config::Config;
use crate::diagnosis::{self, Answer, Book, answer, show_figure};
use crate::files::{Key, Sources};
use crate::load::{self, Drafts};
use crate::store::Kind;

/// Figures that only the rules need.
const INTERNAL: [&str; 2] = ["own", "verdict"];
/// So many bytes at the end of a log are looked at for pages that are only near; the page's script does the same.
const NEAR_END: usize = 256 * 1024;

pub(super) fn run(
    arguments: &Arguments,
    options: &DiagnoseOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let sources = load::read_content(&root)?;
    let kept = Kept::open(&root, &options.cache, terminal);
    let store = kept.store();
    let content = content(&sources);
    let site = LazyCell::new(|| load::pages(&sources, Drafts::Exclude).0);
    let book =
        store.get_or(Kind::Diagnosis, || Key::of([b"book", content.as_ref()]), || Book::new(&site, &sources));
    let index = book.index();
    let mut stream = index.stream();
    let mut end = Vec::new();
    world::read_pieces(options.file.as_deref(), |piece| {
        stream.feed(piece);
        end.extend_from_slice(piece.as_bytes());
        end.drain(..end.len().saturating_sub(NEAR_END));
    })?;
    let end = String::from_utf8_lossy(&end).into_owned();
    let found = stream.finish();
    let quotes: Vec<String> = found.iter().map(|found| found.quote.clone()).collect();
    let mut answers: Vec<Answer> =
        found.into_iter().filter_map(|found| answer(&book, found)).take(options.top).collect();
    if answers.is_empty() && !is_binary(&end) {
        let words = store.get_or(
            Kind::Diagnosis,
            || Key::of([b"words", content.as_ref()]),
            || diagnosis::words(&site, &sources, &store),
        );
        answers = diagnosis::near(&book, &words, &end, options.top);
    }
    // A knowledge base that cannot be written to answers as well, only later.
    let _ = kept.cache().map(|cache| cache.keep(&store));
    match options.format {
        AnswerFormat::Json => {
            let text = serde_json::to_string_pretty(&json!({"matches": answers}))?;
            terminal.print(&format!("{text}\n"));
        }
        AnswerFormat::Human => {
            let (config, _) = Config::read(&sources);
            terminal.print(&describe(&answers, &quotes, &end, &config, terminal));
        }
    }
    let matched = answers.iter().any(|answer| answer.exact);
    Ok(if matched { Outcome::Fine } else { Outcome::Findings })
}

/// The key of all that pages are made of: whoever reads a file sees every edit of it.
fn content(sources: &Sources) -> Key {
    Key::of(sources.under("content/").flat_map(|(_, source)| [&source.path, &source.text]))
}

/// Whether more than a tenth of a text are characters that no program prints.
fn is_binary(text: &str) -> bool {
    let strange =
        |c: &char| *c == char::REPLACEMENT_CHARACTER || c.is_control() && !"\n\r\t\u{1b}".contains(*c);
    text.chars().filter(strange).count() * 10 > text.chars().count()
}

/// `quotes` are the lines of the exact answers, `end` is the end of the log.
fn describe(
    answers: &[Answer],
    quotes: &[String],
    end: &str,
    config: &Config,
    terminal: &Terminal,
) -> String {
    if answers.is_empty() && end.trim().is_empty() {
        return "the log is empty: give a file, or pipe the output of the program into this command\n"
            .to_string();
    }
    if answers.is_empty() && is_binary(end) {
        return "this is no text: give what the program printed, not a file that it works with\n".to_string();
    }
    if answers.is_empty() {
        return "no known error stands in this log; if the program works, that is the right answer\n"
            .to_string();
    }
    let mut text = String::new();
    if answers.iter().all(|answer| !answer.exact) {
        text.push_str("no known error stands in this log; these pages are only near it:\n\n");
    }
    for (at, answer) in answers.iter().enumerate() {
        text.push_str(&format!("{}\n", terminal.style(Style::Title, &answer.title)));
        if let Some(line) = answer.line {
            let short: String = quotes[at].chars().filter(|c| !c.is_control()).take(160).collect();
            text.push_str(&format!("  line {line}: {}\n", terminal.style(Style::Muted, &short)));
        }
        let figures: Vec<String> = answer
            .figures
            .iter()
            .filter(|(name, _)| !INTERNAL.contains(name))
            .map(|(name, figure)| format!("{} {}", name.replace('_', " "), show_figure(name, figure)))
            .collect();
        if !figures.is_empty() {
            text.push_str(&format!("  figures: {}\n", figures.join(", ")));
        }
        if let Some(conclusion) = &answer.conclusion {
            text.push_str(&format!("  {}\n", terminal.style(Style::Strong, conclusion)));
        }
        text.push_str(&format!("  kbgen explain {}\n", answer.slug));
        text.push_str(&format!("  {}{}\n\n", config.base_url, answer.url.trim_start_matches('/')));
    }
    text
}
