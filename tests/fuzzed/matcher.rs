//! Fuzzes patterns and a log: matches are in the log, their letters are in order, and a message generated from a
//! pattern is found.
//!
//! The input consists of patterns, one per line, an empty line, and the log. Without a pattern, the log is matched
//! against the table of `tests/data/matches.json`

use std::fs;
use std::sync::OnceLock;

use kbgen_signature::{Cause, Expression, Index, Kind, Match, Page, Pattern, Signature, Table};
use serde_json::{Value, json};

use super::place::repository;

/// Patterns and a log, which can also be run by the script of the page.
pub struct Case {
    index: Option<Index>,
    patterns: Vec<(String, Pattern)>,
    pub log: String,
}

/// Matches the patterns against the log.
pub fn hold(data: &[u8]) {
    let case = Case::of(data);
    for found in case.matches() {
        stands_in(&case.log, &found);
        if let Some((_, pattern)) = case.patterns.iter().find(|(slug, _)| *slug == found.slug) {
            has_letters_in_order(pattern, &case.log);
        }
    }
    for (_, pattern) in &case.patterns {
        finds_its_own(pattern);
    }
}

impl Case {
    /// Parses the input.
    pub fn of(data: &[u8]) -> Self {
        let text = String::from_utf8_lossy(data);
        let (head, log) = text.split_once("\n\n").unwrap_or(("", &text));
        let mut pages: Vec<Page> = Vec::new();
        let mut patterns = Vec::new();
        for line in head.lines().take(8) {
            add(line, &mut pages, &mut patterns);
        }
        let index = (!pages.is_empty()).then(|| Index::build(&pages, &[]));
        Self { index, patterns, log: log.to_string() }
    }

    /// Returns the matches.
    pub fn matches(&self) -> Vec<Match> {
        match &self.index {
            Some(index) => index.diagnose(&self.log).matches,
            None => shared().diagnose(&self.log).matches,
        }
    }

    /// Returns log, table and matches in the format of the script's test, without a table for the shared one.
    pub fn vector(&self) -> Value {
        let table = self.index.as_ref().map(Index::table);
        json!({"text": self.log, "table": table, "expected": self.matches()})
    }
}

/// Returns the table of `tests/data/matches.json`.
fn shared() -> &'static Index {
    static SHARED: OnceLock<Index> = OnceLock::new();
    SHARED.get_or_init(|| {
        let vectors = fs::read(repository("tests/data/matches.json")).expect("the vectors are there");
        let mut vectors: Value = serde_json::from_slice(&vectors).expect("the vectors are JSON");
        let table: Table = serde_json::from_value(vectors["table"].take()).expect("they have a table");
        Index::from_table(table)
    })
}

/// Parses a line of the head: a pattern; `and`, `not` or `when` with a further condition of the page before it; or
/// `warning` or `wrapper` and a pattern of such a page.
fn add(line: &str, pages: &mut Vec<Page>, patterns: &mut Vec<(String, Pattern)>) {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    if let Some(Page { slug, signatures, causes, .. }) = pages.last_mut() {
        match word {
            "and" => return signatures[0].all.extend(Pattern::parse(rest)),
            "not" => return signatures[0].not.extend(Pattern::parse(rest)),
            "when" => return signatures[0].when = Expression::parse(rest).ok(),
            "cause" => {
                let id = format!("cause-{}", causes.len());
                return causes.extend(Expression::parse(rest).map(|when| Cause { id, when }));
            }
            "or" => {
                // Only a page with one signature can be compared with the letters of its pattern.
                patterns.retain(|(known, _)| known != slug);
                return signatures.extend(Pattern::parse(rest).map(Signature::of));
            }
            _ => {}
        }
    }
    let (kind, text) = match word {
        "warning" => (Kind::Warning, rest),
        "wrapper" => (Kind::Wrapper, rest),
        _ => (Kind::Cause, line),
    };
    let Ok(pattern) = Pattern::parse(text).inspect_err(|fault| {
        assert!(text.get(fault.range.clone()).is_some(), "{fault:?} is no place of {text}");
    }) else {
        return;
    };
    let slug = format!("page-{}", pages.len());
    patterns.push((slug.clone(), pattern.clone()));
    pages.push(Page { slug, kind, signatures: vec![Signature::of(pattern)], causes: Vec::new() });
}

fn stands_in(log: &str, found: &Match) {
    let line = log.split('\n').nth(found.line - 1);
    let line = line.unwrap_or_else(|| panic!("line {} of {log:?}", found.line));
    assert!((1..=line.chars().count() + 1).contains(&found.column), "column {} of {line:?}", found.column);
    assert!(log.contains(&found.quote.line), "the quote is not of the log: {:?}", found.quote);
}

/// Returns whether the letters of the pattern occur in order, which is necessary for a match.
fn has_letters_in_order(pattern: &Pattern, log: &str) {
    // Escapes, entities and full-width letters are not decoded here.
    if !log.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n') && !b"\\&".contains(&byte)) {
        return;
    }
    let mut rest = log.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_ascii_lowercase());
    for letter in literals(pattern).iter().flat_map(|text| text.chars()).filter(|c| *c != ' ') {
        assert!(rest.any(|c| c == letter), "`{letter}` of {pattern:?} is not in {log:?}");
    }
}

/// Returns the normalized literal parts of a pattern.
fn literals(pattern: &Pattern) -> Vec<String> {
    let parts = serde_json::to_value(pattern).expect("a pattern is plain data");
    parts.as_array().into_iter().flatten().filter_map(|part| Some(part.as_str()?.to_string())).collect()
}

/// Checks that a pattern of plain words matches a message generated from it.
fn finds_its_own(pattern: &Pattern) {
    let parts = serde_json::to_value(pattern).expect("a pattern is plain data");
    let parts = parts.as_array().expect("a pattern is a list");
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_lowercase() || c == ' ');
    if literals(pattern).iter().any(|text| !is_plain(text)) {
        return;
    }
    let mut message = String::new();
    for (at, part) in parts.iter().enumerate() {
        let Some(text) = part.as_str().map(str::to_string).or_else(|| instance(part[0].as_str()?)) else {
            return;
        };
        if at > 0 && !message.ends_with(' ') && !text.starts_with(' ') {
            return;
        }
        message.push_str(&text);
    }
    let log = format!("It went on:\nthen {message} .\nThat is all.\n");
    let page = Page {
        slug: "own".into(),
        kind: Kind::Cause,
        signatures: vec![Signature::of(pattern.clone())],
        causes: Vec::new(),
    };
    assert_eq!(
        Index::build(&[page], &[]).diagnose(&log).matches.len(),
        1,
        "{pattern:?} does not find {log:?}"
    );
}

/// Returns a value for a placeholder of this type.
fn instance(hole: &str) -> Option<String> {
    let text = match hole {
        "bytes" => "2.50 GiB",
        "mib" | "gib" | "int" => "17",
        "float" => "0.25",
        "version" => "12.8.1",
        "hex" => "0x7f",
        "word" => "=w=",
        "path" => "/W/1",
        "quoted" => "'W'",
        "any" => "1 2 3",
        _ => return None,
    };
    Some(text.to_string())
}
