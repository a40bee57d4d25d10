//! `kbgen mine`: compares the messages in a program's source with the signatures.

mod coverage;
mod literals;
mod message;
mod site;

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::cli::arguments::{Arguments, MineOptions, OutputFormat};
use crate::cli::mine::coverage::{MinedSource, Report};
use crate::cli::mine::literals::{Language, literals};
use crate::cli::mine::message::Message;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::escape::one_line;
use crate::load::{self, Drafts};

/// Folders without messages for users.
const SKIPPED: [&str; 9] = [
    "test",
    "tests",
    "testing",
    "third_party",
    "3rdparty",
    "vendor",
    "node_modules",
    "benchmark",
    "benchmarks",
];
/// Maximum bytes of a file; larger ones are generated.
const MAX_FILE_BYTES: u64 = 4 * 1024 * 1024;

pub(super) fn run(arguments: &Arguments, options: &MineOptions, terminal: &Terminal) -> Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let sources = read(&options.source)?;
    if sources.is_empty() {
        bail!("`{}` has no source file in C, C++, Go, Python or Rust", options.source.display());
    }
    let content = load::read_content(&root, |_| true)?;
    let (site, _) = load::pages(&content, Drafts::Include);
    let report = Report::new(&site, &content, &sources, options.repo.as_deref());
    match options.format {
        OutputFormat::Json => terminal.print_json(&report),
        OutputFormat::Human => print(&report, options.top, terminal),
    }
    Ok(Outcome::Success)
}

/// Reads the messages of all files below a folder, sorted by path.
fn read(root: &Path) -> Result<Vec<MinedSource>> {
    let is_read = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !name.starts_with('.') && !SKIPPED.contains(&&*name)
    };
    let mut sources = Vec::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_read) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).display().to_string();
            let reason =
                error.into_io_error().map_or("it contains itself".to_string(), |error| error.to_string());
            anyhow!("cannot read `{path}`: {reason}")
        })?;
        let Some(language) = Language::of(entry.path()).filter(|_| entry.file_type().is_file()) else {
            continue;
        };
        if entry.metadata()?.len() > MAX_FILE_BYTES {
            continue;
        }
        let cannot_read = || format!("cannot read `{}`", entry.path().display());
        let bytes = std::fs::read(entry.path()).with_context(cannot_read)?;
        let path = match entry.depth() {
            0 => Path::new(entry.file_name()),
            _ => entry.path().strip_prefix(root).unwrap_or(entry.path()),
        };
        let found = literals(&String::from_utf8_lossy(&bytes), language).into_iter();
        let messages = found.flat_map(|literal| {
            let all = Message::all_of(&literal.text, language).into_iter();
            all.map(move |message| (literal.line, literal.site, message))
        });
        sources.push(MinedSource { path: path.to_string_lossy().into_owned(), messages: messages.collect() });
    }
    Ok(sources)
}

fn print(report: &Report, top: usize, terminal: &Terminal) {
    let Report { files, messages, covered, uncovered, missing } = report;
    terminal.print(format!("{files} files, {messages} error messages, {covered} with a signature\n"));
    if !uncovered.is_empty() {
        terminal.print(format!(
            "\nwithout a signature, {} of {}:\n",
            top.min(uncovered.len()),
            uncovered.len()
        ));
    }
    for message in uncovered.iter().take(top) {
        let text = one_line(&message.text);
        terminal.print(format!("{}:{}: {text}\n", one_line(&message.file), message.line));
    }
    if !missing.is_empty() {
        terminal.print("\nsignatures that this source does not print:\n".to_string());
    }
    for signature in missing {
        let (file, pattern) = (one_line(&signature.file), one_line(&signature.pattern));
        terminal.print(format!("{file}:{}: {pattern}\n", signature.line));
    }
}
