//! `kbgen mine`: compares the messages in a program's source with the signatures.

mod coverage;
pub(super) mod literals;
mod message;
mod site;

use std::path::Path;

use anyhow::{Context as _, Result, anyhow, bail};

use crate::cli::arguments::upkeep::MineOptions;
use crate::cli::arguments::{Arguments, OutputFormat};
pub(super) use crate::cli::mine::coverage::CheckedSignature;
use crate::cli::mine::coverage::{MinedSource, Report};
use crate::cli::mine::literals::{Language, literals};
use crate::cli::mine::message::Message;
use crate::cli::terminal::{Terminal, counted};
use crate::cli::{Outcome, environment};
use crate::escape::one_line;
use crate::files::Sources;
use crate::load::{self, Drafts};
use crate::site::Site;

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
    let sources = mined(&source_files(&options.source)?);
    let content = load::read_content(&root, |_| true)?;
    let (site, _) = load::pages(&content, Drafts::Include);
    let report = Report::new(&site, &content, &sources, options.repo.as_deref());
    match options.format {
        OutputFormat::Json => terminal.print_json(&report),
        OutputFormat::Human => print(&report, options.top, terminal),
    }
    Ok(Outcome::Success)
}

/// A source file of a program.
pub(super) struct SourceFile {
    /// Path relative to the folder.
    pub(super) path: String,
    /// Language; `None` for scripts and settings of the build.
    pub(super) language: Option<Language>,
    pub(super) text: String,
}

/// Returns whether a file is a script, or settings of the build, which declare variables.
fn is_build_file(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    matches!(extension, "cmake" | "sh" | "ps1" | "bat" | "ts" | "js")
        || path.file_name().is_some_and(|name| name == "CMakeLists.txt" || name == "Dockerfile")
}

/// Compares all signatures of a site with the messages of source files.
pub(super) fn checked_signatures(
    site: &Site,
    content: &Sources,
    files: &[SourceFile],
) -> Vec<CheckedSignature> {
    Report::new(site, content, &mined(files), None).signatures
}

/// Reads the messages of source files.
fn mined(files: &[SourceFile]) -> Vec<MinedSource> {
    let mined = |file: &SourceFile| {
        let language = file.language?;
        let messages = literals(&file.text, language).into_iter().flat_map(|literal| {
            let all = Message::all_of(&literal.text, language).into_iter();
            all.map(move |message| (literal.line, literal.site, message))
        });
        Some(MinedSource { path: file.path.clone(), messages: messages.collect() })
    };
    files.iter().filter_map(mined).collect()
}

/// Reads all source files below a folder, sorted by path.
///
/// # Errors
/// If a file cannot be read, or there is none.
pub(super) fn source_files(root: &Path) -> Result<Vec<SourceFile>> {
    let is_read = |entry: &walkdir::DirEntry| {
        let name = entry.file_name().to_string_lossy();
        entry.depth() == 0 || !name.starts_with('.') && !SKIPPED.contains(&&*name)
    };
    let mut files = Vec::new();
    for entry in walkdir::WalkDir::new(root).sort_by_file_name().into_iter().filter_entry(is_read) {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).display().to_string();
            let reason =
                error.into_io_error().map_or("it contains itself".to_string(), |error| error.to_string());
            anyhow!("cannot read `{path}`: {reason}")
        })?;
        let language = Language::of(entry.path());
        let is_read = language.is_some() || is_build_file(entry.path());
        if !is_read || !entry.file_type().is_file() || entry.metadata()?.len() > MAX_FILE_BYTES {
            continue;
        }
        let cannot_read = || format!("cannot read `{}`", entry.path().display());
        let bytes = std::fs::read(entry.path()).with_context(cannot_read)?;
        let path = match entry.depth() {
            0 => Path::new(entry.file_name()),
            _ => entry.path().strip_prefix(root).unwrap_or(entry.path()),
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        files.push(SourceFile { path: path.to_string_lossy().into_owned(), language, text });
    }
    if files.iter().all(|file| file.language.is_none()) {
        bail!("`{}` has no source file in C, C++, Go, Python or Rust", root.display());
    }
    Ok(files)
}

fn print(report: &Report, top: usize, terminal: &Terminal) {
    let Report { files, messages, covered, uncovered, missing, signatures: _ } = report;
    terminal.print(format!(
        "{}, {}, {covered} with a signature\n",
        counted(*files, "file"),
        counted(*messages, "error message")
    ));
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
