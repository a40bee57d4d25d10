//! `kbgen diagnose`: the page for an error or a whole log.

use std::io::Read;

use anyhow::Context;
use serde_json::json;

use crate::cli::arguments::{AnswerFormat, Arguments, DiagnoseOptions};
use crate::cli::terminal::{Style, Terminal};
use crate::cli::{Outcome, world};
use crate::config::Config;
use crate::diagnosis::{self, Answer, Compiled, answer, show_figure};
use crate::load::{self, Drafts};

/// Most of a log that is read; longer ones are cut at the front, since the last error matters most.
const LIMIT: usize = 64 * 1024 * 1024;

pub(super) fn run(
    arguments: &Arguments,
    options: &DiagnoseOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = world::root(arguments.root.as_deref())?;
    let (sources, _) = load::read(&root)?;
    let log = log(options)?;
    let (site, _) = load::pages(&sources, Drafts::Exclude);
    let compiled = Compiled::new(&site, &sources);
    let answers: Vec<Answer> = compiled
        .index
        .diagnose(&log)
        .into_iter()
        .filter_map(|found| answer(&site, &compiled, found))
        .take(options.top)
        .collect();
    let answers =
        if answers.is_empty() { diagnosis::near(&site, &sources, &log, options.top) } else { answers };
    match options.format {
        AnswerFormat::Json => {
            let text = serde_json::to_string_pretty(&json!({"matches": answers}))?;
            terminal.print(&format!("{text}\n"));
        }
        AnswerFormat::Human => {
            let (config, _) = Config::read(&sources);
            terminal.print(&describe(&answers, &log, &config, terminal));
        }
    }
    let matched = answers.iter().any(|answer| answer.exact);
    Ok(if matched { Outcome::Fine } else { Outcome::Findings })
}

fn log(options: &DiagnoseOptions) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    let name =
        options.file.as_deref().map_or("standard input".into(), |path| format!("`{}`", path.display()));
    world::input(options.file.as_deref())?
        .read_to_end(&mut bytes)
        .with_context(|| format!("cannot read {name}"))?;
    if bytes.len() > LIMIT {
        bytes.drain(..bytes.len() - LIMIT);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn describe(answers: &[Answer], log: &str, config: &Config, terminal: &Terminal) -> String {
    if log.trim().is_empty() {
        return "the log is empty: give a file, or pipe the output of the program into this command\n"
            .to_string();
    }
    if answers.is_empty() {
        return "no known error stands in this log; if the program works, that is the right answer\n"
            .to_string();
    }
    let mut text = String::new();
    if answers.iter().all(|answer| !answer.exact) {
        text.push_str("no known error stands in this log; these pages are only near it:\n\n");
    }
    for answer in answers {
        text.push_str(&format!("{}\n", terminal.style(Style::Title, &answer.title)));
        if let Some(line) = answer.line {
            let quoted = log.lines().nth(line - 1).unwrap_or_default().trim();
            let short: String = quoted.chars().filter(|c| !c.is_control()).take(160).collect();
            text.push_str(&format!("  line {line}: {}\n", terminal.style(Style::Muted, &short)));
        }
        let figures: Vec<String> = answer
            .figures
            .iter()
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
