//! Splits a page into front matter and body.

use crate::diag::Diagnostic;
use crate::files::{Source, SourceId, Span};
use crate::load::rules::{FRONT_MATTER_NOT_CLOSED, NO_FRONT_MATTER};

/// The two parts of a page.
#[derive(Debug)]
pub(super) struct Split {
    /// Span between the two delimiter lines.
    pub front: Span,
    /// Span below them.
    pub body: Span,
    /// Errors in the delimiter lines.
    pub faults: Vec<Diagnostic>,
    /// Whether the boundaries are certain in spite of errors.
    pub certainty: Certainty,
}

/// Whether the boundaries of the two parts are certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// Both parts are as intended.
    Known,
    /// A delimiter line is missing.
    Guessed,
}

/// Splits a page. A delimiter with the wrong number of hyphens is accepted and reported. Without front matter,
/// everything is body; without its closing line, front matter ends at the first empty line or heading.
pub(super) fn split(source: &Source, file: SourceId) -> Split {
    let text = &source.text;
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut faults = Vec::new();
    let Some((delimiter, after)) = opening(text, start, file, &mut faults) else {
        let fault =
            Diagnostic::error(&NO_FRONT_MATTER, Span::new(file, start, start), "missing front matter").help(
                "start the file with a line `---`, then `title: …` and the other keys, then a line `---`",
            );
        let (front, body) = (Span::new(file, start, start), Span::new(file, start, text.len()));
        return Split { front, body, faults: vec![fault], certainty: Certainty::Guessed };
    };
    let mut guess = None;
    for (at, line, next) in lines(text, after) {
        let trimmed = line.trim_end();
        if is_delimiter(trimmed) || trimmed == "..." {
            if !matches!(trimmed, "---" | "...") {
                faults.push(
                    Diagnostic::error(
                        &FRONT_MATTER_NOT_CLOSED,
                        Span::new(file, at, at + trimmed.len()),
                        format!("front matter is closed by `{trimmed}`"),
                    )
                    .help("write `---`"),
                );
            }
            let (front, body) = (Span::new(file, after, at), Span::new(file, next, text.len()));
            return Split { front, body, faults, certainty: Certainty::Known };
        }
        if guess.is_none() && (trimmed.is_empty() || trimmed.starts_with("# ") || trimmed.starts_with("## "))
        {
            guess = Some(at);
        }
    }
    let end = guess.unwrap_or(text.len());
    faults.push(
        Diagnostic::error(&FRONT_MATTER_NOT_CLOSED, delimiter, "unclosed front matter")
            .help("add a line `---` between the last key and the text"),
    );
    let (front, body) = (Span::new(file, after, end), Span::new(file, end, text.len()));
    Split { front, body, faults, certainty: Certainty::Guessed }
}

/// Returns the first line with text and the start of the front matter; `None` if there is none.
fn opening(text: &str, start: usize, file: SourceId, faults: &mut Vec<Diagnostic>) -> Option<(Span, usize)> {
    let (at, first, after) = lines(text, start).find(|(_, line, _)| !line.trim().is_empty())?;
    let first = first.trim_end();
    let place = Span::new(file, at, at + first.len());
    let mut refuse = |message: String, help: &str| {
        faults.push(Diagnostic::error(&NO_FRONT_MATTER, place, message).help(help));
    };
    if !is_delimiter(first) {
        let is_closed = || lines(text, after).any(|(_, line, _)| line.trim_end() == "---");
        if !is_key(first) || !is_closed() {
            return None;
        }
        refuse("missing `---` before the front matter".into(), "add a line `---` above this line");
        return Some((place, at));
    }
    if first != "---" {
        refuse(format!("front matter is opened by `{first}`"), "write `---`");
    } else if at > start {
        refuse("empty lines above the front matter".into(), "remove them");
    }
    Some((place, after))
}

/// Returns whether a line consists of hyphens, or of dashes that an editor substituted.
fn is_delimiter(line: &str) -> bool {
    let is_dash = |c: char| matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}');
    line.len() >= 2 && line.chars().all(is_dash)
}

/// Returns whether a line begins with a front-matter key: `title: `.
fn is_key(line: &str) -> bool {
    let key = line.split_once(':').filter(|(_, value)| value.is_empty() || value.starts_with(' '));
    key.is_some_and(|(key, _)| !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
}

/// Iterates over the lines from an offset: start, text, and start of the next line.
fn lines(text: &str, start: usize) -> impl Iterator<Item = (usize, &str, usize)> {
    let mut at = start;
    text[start..].split_inclusive('\n').map(move |line| {
        let here = at;
        at += line.len();
        (here, line, at)
    })
}
