//! A page's text is cut into front matter and body.

use crate::diag::Diagnostic;
use crate::files::{Source, SourceId, Span};
use crate::load::rules::{FRONT_MATTER_NOT_CLOSED, NO_FRONT_MATTER};

/// The two parts of a page, as places in its file.
#[derive(Debug)]
pub(super) struct Split {
    /// Between the two lines of `---`.
    pub front: Span,
    /// Below them.
    pub body: Span,
    /// Faults of the two delimiter lines.
    pub faults: Vec<Diagnostic>,
    /// Whether the parts are known in spite of the faults.
    pub certainty: Certainty,
}

/// Whether it is known where the parts of a page begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Certainty {
    /// Both parts are as they were meant.
    Known,
    /// A line that separates them is missing.
    Guessed,
}

/// Splits a page. A delimiter with the wrong number of hyphens counts as one and is reported. Without front matter all is
/// body; without its end, it ends at the first empty line or heading.
pub(super) fn split(source: &Source, file: SourceId) -> Split {
    let text = &source.text;
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut faults = Vec::new();
    let Some(after) = opening(text, start, file, &mut faults) else {
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
        Diagnostic::error(
            &FRONT_MATTER_NOT_CLOSED,
            Span::new(file, start, start + 3),
            "unclosed front matter",
        )
        .help("add a line `---` between the last key and the text"),
    );
    let (front, body) = (Span::new(file, after, end), Span::new(file, end, text.len()));
    Split { front, body, faults, certainty: Certainty::Guessed }
}

/// Where the front matter begins; none if the text has none.
fn opening(text: &str, start: usize, file: SourceId, faults: &mut Vec<Diagnostic>) -> Option<usize> {
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
        return Some(at);
    }
    if first != "---" {
        refuse(format!("front matter is opened by `{first}`"), "write `---`");
    } else if at > start {
        refuse("empty lines above the front matter".into(), "remove them");
    }
    Some(after)
}

/// Whether a line consists of hyphens, or of dashes that an editor made of them.
fn is_delimiter(line: &str) -> bool {
    let is_dash = |c: char| matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}');
    line.len() >= 2 && line.chars().all(is_dash)
}

/// Whether a line begins with a key of front matter: `title: `.
fn is_key(line: &str) -> bool {
    let key = line.split_once(':').filter(|(_, value)| value.is_empty() || value.starts_with(' '));
    key.is_some_and(|(key, _)| !key.is_empty() && key.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
}

/// Lines from a byte on: where each begins, its text, where the next begins.
fn lines(text: &str, start: usize) -> impl Iterator<Item = (usize, &str, usize)> {
    let mut at = start;
    text[start..].split_inclusive('\n').map(move |line| {
        let here = at;
        at += line.len();
        (here, line, at)
    })
}
