//! `kbgen diagnose`: finds the error pages for a log.

use serde_json::json;

use crate::cli::arguments::{Arguments, DiagnoseOptions, OutputFormat};
use crate::cli::build_cache::BuildCache;
use crate::cli::terminal::Terminal;
use crate::cli::{Outcome, environment};
use crate::config::Config;
use crate::diagnosis::{
    self, DiagnosedPage, DiagnosisDb, DiagnosisInput, Evidence, LogReading, format_figure,
};
use crate::engine::{Engine, Kind};
use crate::escape::{Style, TerminalText, one_line};
use crate::load::{self, Drafts};

/// Figures that only conditions use; they are not printed.
const INTERNAL: [&str; 2] = ["own", "verdict"];
/// Bytes at the end of a log that are searched for similar pages. The script of the page uses the same limit.
const SIMILARITY_BYTES: usize = 256 * 1024;

pub(super) fn run(
    arguments: &Arguments,
    options: &DiagnoseOptions,
    terminal: &Terminal,
) -> anyhow::Result<Outcome> {
    let root = environment::root(arguments.root.as_deref())?;
    let sources = load::read_content(&root)?;
    let cache = BuildCache::open(&root, &options.cache, terminal);
    let engine = cache.engine();
    engine.register(&sources);
    let site = || load::pages(&sources, Drafts::Exclude).0;
    let db = engine.query(Kind::Diagnosis, "book", || DiagnosisDb::new(&site(), &sources));
    let index = db.index();
    let mut stream = index.stream();
    let mut end = Vec::new();
    let mut skipped_lines = 0;
    environment::read_chunks(options.file.as_deref(), |piece| {
        stream.feed(piece);
        end.extend_from_slice(piece.as_bytes());
        let skipped = end.drain(..end.len().saturating_sub(SIMILARITY_BYTES));
        skipped_lines += skipped.filter(|byte| *byte == b'\n').count();
    })?;
    let end = String::from_utf8_lossy(&end).into_owned();
    let found = stream.finish();
    if let Some(line) = found.skipped {
        terminal.message(format!(
            "warning: step limit reached near line {line}, some signatures were skipped; run `kbgen check`"
        ));
    }
    let words = || {
        engine.query(Kind::Diagnosis, "words", || {
            diagnosis::text_index(&site(), &sources, &Engine::without_cache())
        })
    };
    let input = DiagnosisInput { index: &index, diagnosis: &found, text: &end, limit: options.top };
    let (answers, readings) = match found.matches.is_empty() && (is_binary(&end) || end.trim().is_empty()) {
        true => (Vec::new(), Vec::new()),
        false => {
            let mut answers = diagnosis::rank_pages(&db, words, &input);
            let readings = diagnosis::read_log(&db, &index, &found, (&end, skipped_lines), &answers);
            // Of 20 draws with a reading and pages that only share words with the log, 4 pages were right.
            answers.retain(|answer| answer.found_by != Evidence::Words || readings.is_empty());
            (answers, readings)
        }
    };
    let quote = |answer: &DiagnosedPage| found.matches.iter().find(|found| found.slug == answer.slug);
    let quotes: Vec<&str> =
        answers.iter().map(|answer| quote(answer).map_or("", |found| found.quote.as_str())).collect();
    // The cache only saves time.
    let _ = cache.store().map(|cache| cache.save(&engine));
    match options.format {
        OutputFormat::Json => terminal.print_json(&json!({"matches": answers, "readings": readings})),
        OutputFormat::Human => {
            let (config, _) = Config::read(&sources);
            terminal.print(describe(&answers, &readings, &quotes, &end, &config));
        }
    }
    let matched = answers.iter().any(|answer| answer.exact);
    Ok(if matched { Outcome::Success } else { Outcome::Findings })
}

/// Returns whether more than a tenth of the characters are unprintable.
fn is_binary(text: &str) -> bool {
    let strange =
        |c: &char| *c == char::REPLACEMENT_CHARACTER || c.is_control() && !"\n\r\t\u{1b}".contains(*c);
    text.chars().filter(strange).count() * 10 > text.chars().count()
}

/// Formats the matches and readings. `quotes` are the matching lines, `end` is the end of the log.
fn describe(
    answers: &[DiagnosedPage],
    readings: &[LogReading],
    quotes: &[&str],
    end: &str,
    config: &Config,
) -> TerminalText {
    if answers.is_empty() && end.trim().is_empty() {
        return "the log is empty; pass a file or pipe the output of the program into this command\n".into();
    }
    if answers.is_empty() && is_binary(end) {
        return "input looks binary; pass the log output of the program\n".into();
    }
    if answers.is_empty() && readings.is_empty() {
        return "no known error found\n".into();
    }
    let mut text = TerminalText::default();
    let is_asserted = answers.first().is_some_and(|first| first.exact || first.found_by == Evidence::Title);
    let readings_name_cause = readings.iter().any(|reading| reading.names_cause);
    let pages_first =
        is_asserted && (answers.iter().any(|answer| answer.names_cause) || !readings_name_cause);
    if !is_asserted {
        push_readings(&mut text, "no page matches this error; what the log says:\n\n", readings);
    } else if !pages_first {
        push_readings(&mut text, "what the log says:\n\n", readings);
        text.push("pages of messages that do not name the cause:\n\n");
    }
    let found_nothing = if is_asserted || readings.is_empty() { "no known error found; " } else { "" };
    match answers.first().map_or(Evidence::Signature, |first| first.found_by) {
        Evidence::Signature => {}
        Evidence::Weak => {
            text.push(format!("{found_nothing}these pages match only unspecific messages:\n\n"));
        }
        Evidence::Title => text.push("no signature matches; the text is the title of a page:\n\n"),
        Evidence::Beginning => {
            text.push("no signature matches; messages of these pages contain this text:\n\n")
        }
        Evidence::Words => text.push(format!("{found_nothing}similar pages:\n\n")),
    }
    for (at, answer) in answers.iter().enumerate() {
        text.push(TerminalText::styled(Style::Title, &one_line(&answer.title)));
        text.push("\n");
        if let Some(line) = answer.line {
            let short: String = quotes[at].chars().filter(|c| !c.is_control()).take(160).collect();
            text.push(format!("  line {line}: "));
            text.push(TerminalText::styled(Style::Muted, &short));
            text.push("\n");
        }
        let figures: Vec<String> = answer
            .figures
            .iter()
            .filter(|(name, _)| !INTERNAL.contains(name))
            .map(|(name, figure)| format!("{} {}", name.replace('_', " "), format_figure(name, figure)))
            .collect();
        if !figures.is_empty() {
            text.push(format!("  figures: {}\n", one_line(&figures.join(", "))));
        }
        if let Some(conclusion) = &answer.conclusion {
            text.push("  ");
            text.push(TerminalText::styled(Style::Strong, &one_line(conclusion)));
            text.push("\n");
        }
        text.push(format!("  kbgen explain {}\n", answer.slug));
        text.push(format!("  {}{}\n\n", config.base_url, answer.url.trim_start_matches('/')));
    }
    if pages_first {
        push_readings(&mut text, "what the log says:\n\n", readings);
    }
    text
}

fn push_readings(text: &mut TerminalText, heading: &'static str, readings: &[LogReading]) {
    for (at, reading) in readings.iter().enumerate() {
        if at == 0 {
            text.push(heading);
        }
        text.push(TerminalText::styled(Style::Strong, &one_line(&reading.says)));
        text.push(format!("\n  line {}\n  next: {}\n", reading.line, one_line(&reading.next)));
        for page in &reading.pages {
            text.push(format!("  kbgen explain {}\n", page.slug));
        }
        text.push("\n");
    }
}
