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
    /// What is wrong with the cut itself; then the rest of the front matter is a guess.
    pub fault: Option<Diagnostic>,
}

/// Cuts a page. Without front matter all is body; without its end, it ends at the first empty line or heading.
pub(super) fn split(source: &Source, file: SourceId) -> Split {
    let text = &source.text;
    let start = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let mut lines = lines(text, start);
    let first = lines.next();
    let Some((_, _, after)) = first.filter(|(_, line, _)| line.trim_end() == "---") else {
        let fault = Diagnostic::error(
            &NO_FRONT_MATTER,
            Span::new(file, start, start),
            "the page has no front matter",
        )
        .help(
            "begin the file with a line `---`, then `title: …` and the other keys, then another line `---`",
        );
        let front = Span::new(file, start, start);
        return Split { front, body: Span::new(file, start, text.len()), fault: Some(fault) };
    };
    let mut guess = None;
    for (at, line, next) in lines {
        let trimmed = line.trim_end();
        if trimmed == "---" || trimmed == "..." {
            return Split {
                front: Span::new(file, after, at),
                body: Span::new(file, next, text.len()),
                fault: None,
            };
        }
        if guess.is_none() && (trimmed.is_empty() || trimmed.starts_with("# ") || trimmed.starts_with("## "))
        {
            guess = Some(at);
        }
    }
    let end = guess.unwrap_or(text.len());
    let fault = Diagnostic::error(
        &FRONT_MATTER_NOT_CLOSED,
        Span::new(file, start, start + 3),
        "the front matter that opens here is never closed",
    )
    .help("put a line `---` between the last key and the text");
    Split { front: Span::new(file, after, end), body: Span::new(file, end, text.len()), fault: Some(fault) }
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
