//! `kbgen diagnose`: finds the error pages for a log, or for the output of a command that fails.

mod human;
mod watched_command;

use std::cell::OnceCell;

use kbgen_signature::{LogEnd, TextIndex};
use serde::Serialize;

use crate::cli::arguments::{Arguments, DiagnoseOptions, OutputFormat};
use crate::cli::build_cache::BuildCache;
use crate::cli::diagnose::watched_command::{CommandEnd, watch};
use crate::cli::knowledge_base::KnowledgeBase;
use crate::cli::terminal::{Terminal, faulty_files_warning};
use crate::cli::{Outcome, environment};
use crate::config::Config;
use crate::diag;
use crate::diagnosis::{self, DiagnosedPage, DiagnosisDb, DiagnosisInput, Evidence, LogReading};
use crate::engine::Engine;
use crate::escape::{self, TerminalText};
use crate::files::Sources;
use crate::load::{self, Drafts};
use crate::site::Site;

/// Bytes at the end of a log that are searched for similar pages. The script of the page uses the same limit.
const SIMILARITY_BYTES: usize = 256 * 1024;
/// Folders of the pages that a diagnosis uses.
const FOLDERS: [&str; 4] = ["content/errors/", "content/extractors/", "content/guides/", "content/readings/"];

pub(super) fn run(
    arguments: &Arguments,
    options: &DiagnoseOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let base = KnowledgeBase::find_pages(arguments, is_used)?;
    let ended = match options.command.split_first() {
        Some((program, rest)) => Some(watch(program, rest, terminal)?),
        None => None,
    };
    if let Some(CommandEnd { code, failure: None }) = ended {
        return Ok(Outcome::Command(code));
    }
    base.announce(terminal);
    let cache = base.cache(&options.cache, terminal);
    let diagnoser = Diagnoser::new(&base, cache.engine());
    let found = match ended.as_ref().and_then(|ended| ended.failure.as_deref()) {
        Some(output) => diagnoser.diagnose_text(output, options.top),
        None => {
            diagnoser.diagnose(options.top, |take| environment::read_chunks(options.file.as_deref(), take))?
        }
    };
    if diagnoser.faulty_files > 0 {
        terminal.message(faulty_files_warning(diagnoser.faulty_files));
    }
    if let Some(line) = found.skipped_near {
        terminal.message(format!(
            "warning: too much to match near line {line}, so later messages may be missing; try a part of the log"
        ));
    }
    diagnoser.save(&cache);
    // The process ends soon; freeing each signature would only take time.
    std::mem::forget(diagnoser);
    if options.format == OutputFormat::Json
        && let Some(problem) = human::unusable(&found)
    {
        terminal.message(problem);
    }
    let text: TerminalText = match options.format {
        OutputFormat::Json => escape::json(&base.answer(&found)).into(),
        OutputFormat::Human => human::describe(&found, &base.config()),
    };
    if let Some(ended) = ended {
        // Standard output is that of the command, and its last line may be unfinished.
        terminal.message(format!("\nexit code {}; diagnosis of the output:\n", ended.code));
        terminal.message(text);
        return Ok(Outcome::Command(ended.code));
    }
    terminal.print(text);
    let has_match = found.matches.iter().any(|page| page.exact);
    Ok(if has_match { Outcome::Success } else { Outcome::Findings })
}

/// Finds the pages for logs.
pub(super) struct Diagnoser<'b> {
    base: &'b KnowledgeBase,
    engine: Engine,
    pages: OnceCell<(Site, usize)>,
    db: DiagnosisDb,
    /// Number of files with errors, which may be missing from the database.
    pub faulty_files: usize,
    text_index: OnceCell<TextIndex>,
}

/// Result of a diagnosis, as written to JSON.
#[derive(Debug, Serialize)]
pub(super) struct LogDiagnosis {
    matches: Vec<DiagnosedPage>,
    readings: Vec<LogReading>,
    /// Matching line of each match.
    #[serde(skip)]
    quotes: Vec<String>,
    /// End of the log.
    #[serde(skip)]
    end: String,
    #[serde(skip)]
    is_binary: bool,
    /// Line near which signatures were skipped, because matching took too many steps or found too many messages.
    #[serde(skip)]
    skipped_near: Option<usize>,
}

impl<'b> Diagnoser<'b> {
    /// Compiles the signatures, or reads them from the cache of the engine.
    pub fn new(base: &'b KnowledgeBase, engine: Engine) -> Self {
        let pages = OnceCell::new();
        let read = |sources: &Sources| {
            let (site, faulty) = pages.get_or_init(|| self::pages(sources));
            (DiagnosisDb::new(site, sources), *faulty)
        };
        let (db, faulty_files) = base.query(&engine, "signatures", read);
        Self { base, engine, pages, db, faulty_files, text_index: OnceCell::new() }
    }

    /// Returns the text index of errors and guides.
    pub fn text_index(&self) -> &TextIndex {
        self.text_index.get_or_init(|| {
            self.base.query(&self.engine, "words", |sources| {
                let (site, _) = self.pages.get_or_init(|| pages(sources));
                diagnosis::text_index(site, sources, &Engine::without_cache())
            })
        })
    }

    /// Stores compiled signatures for the next run. Ignores errors, because the cache only saves time.
    pub fn save(&self, cache: &BuildCache) {
        let _ = cache.store().map(|cache| cache.save(&self.engine));
    }

    /// Diagnoses a log.
    pub fn diagnose_text(&self, log: &str, top: usize) -> LogDiagnosis {
        let found = self.diagnose(top, |take| {
            take(log);
            Ok(())
        });
        found.expect("text in memory can be read")
    }

    /// Diagnoses a log of any length, which `read` passes on in pieces. Lists at most `top` pages.
    ///
    /// # Errors
    /// As `read`.
    fn diagnose(
        &self,
        top: usize,
        read: impl FnOnce(&mut dyn FnMut(&str)) -> anyhow::Result<()>,
    ) -> anyhow::Result<LogDiagnosis> {
        let mut stream = self.db.index.stream();
        let mut end = Vec::new();
        let mut skipped_lines = 0;
        read(&mut |piece| {
            stream.feed(piece);
            end.extend_from_slice(piece.as_bytes());
            let skipped = end.drain(..end.len().saturating_sub(SIMILARITY_BYTES));
            skipped_lines += skipped.filter(|byte| *byte == b'\n').count();
        })?;
        let end = String::from_utf8_lossy(&end).into_owned();
        let found = stream.finish();
        let is_binary = is_binary(&end);
        let (mut matches, mut readings) = (Vec::new(), Vec::new());
        if !found.matches.is_empty() || !is_binary && !end.trim().is_empty() {
            let input = DiagnosisInput { diagnosis: &found, text: &end, limit: top };
            matches = diagnosis::rank_pages(&self.db, || self.text_index(), &input);
            let log = LogEnd::new(&end, skipped_lines);
            readings = diagnosis::read_log(&self.db, &found, &log, &mut matches);
            // Of 20 draws with a reading and pages that only share words with the log, 4 pages were right.
            // A text that a reading explains is whole, not the beginning of a message.
            let is_explained = readings.iter().any(|reading| reading.names_cause || reading.explains);
            matches.retain(|page| match page.found_by {
                Evidence::Words => readings.is_empty(),
                Evidence::Beginning => !is_explained,
                _ => true,
            });
        }
        let quote = |page: &DiagnosedPage| found.matches.iter().find(|found| found.slug == page.slug);
        let quotes = matches
            .iter()
            .map(|page| quote(page).map_or(String::new(), |found| found.quote.short()))
            .collect();
        Ok(LogDiagnosis { matches, readings, quotes, end, is_binary, skipped_near: found.skipped })
    }
}

/// Returns the pages, and the number of those with errors.
fn pages(sources: &Sources) -> (Site, usize) {
    let declared = Config::read(sources).0.declared;
    let (site, found) = load::front_matter_pages(&sources.only(is_used), Drafts::Exclude, declared);
    (site, diag::faulty_files(&found))
}

/// Returns whether a diagnosis uses the page at a path.
fn is_used(path: &str) -> bool {
    FOLDERS.iter().any(|folder| path.starts_with(folder))
}

/// Returns whether more than a tenth of the characters are control characters, or more than half are unprintable: of a text in
/// another encoding, many are not UTF-8.
pub(super) fn is_binary(text: &str) -> bool {
    let is_control = |c: &char| c.is_control() && !"\n\r\t\u{1b}".contains(*c);
    let controls = text.chars().filter(is_control).count();
    let unreadable = text.chars().filter(|c| *c == char::REPLACEMENT_CHARACTER).count();
    let count = text.chars().count();
    controls * 10 > count || (controls + unreadable) * 2 > count
}
