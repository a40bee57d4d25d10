//! Repairs errors of the written site that depend on whole pages: misleading link texts, letters of mixed scripts, and
//! characters in commands.

use std::path::Path;

use anyhow::Result;

use crate::cli::import::imported_site::{Loss, LossKind};
use crate::cli::rewrite;
use crate::diag::Diagnostic;
use crate::files::{self, Edit, Sources};
use crate::load;

/// Maximum number of passes.
const MAX_PASSES: usize = 4;

/// Repairs the site in a folder, and returns the errors that remain.
pub(super) fn repair(folder: &Path, losses: &mut Vec<Loss>) -> Result<(Vec<Diagnostic>, Sources)> {
    for _ in 0..MAX_PASSES {
        let (sources, faults) = load::read(folder)?;
        let found = rewrite::errors(&sources, faults)?;
        let mut edits = Vec::new();
        for finding in &found {
            let new = edits_of(finding, &sources);
            if !new.is_empty() {
                let source = sources.get(finding.span.source);
                let line = source.position(finding.span.start).line;
                losses.push(Loss::new(
                    &source.path,
                    line,
                    LossKind::Markup,
                    format!("{}: rewritten", finding.message),
                ));
            }
            edits.extend(new);
        }
        if edits.is_empty() {
            return Ok((found, sources));
        }
        for (file, text) in files::apply(edits, &sources) {
            rewrite::write(&folder.join(&sources.get(file).path), &text)?;
        }
    }
    let (sources, faults) = load::read(folder)?;
    Ok((rewrite::errors(&sources, faults)?, sources))
}

fn edits_of(finding: &Diagnostic, sources: &Sources) -> Vec<Edit> {
    if let Some(fix) = &finding.fix {
        return vec![Edit::clone(fix)];
    }
    let span = finding.span;
    let written = sources.text(span);
    match finding.code {
        // Its definition was removed.
        "undefined-reference" => vec![Edit::new(span.part(0, 0), "\\")],
        "mixed-script" => {
            let spelled =
                |c: char| if c.is_ascii() { c.to_string() } else { format!("(U+{:04X})", u32::from(c)) };
            vec![Edit::new(span, written.chars().map(spelled).collect::<String>())]
        }
        "misleading-link" => {
            let text = sources.get(span.source).text.as_str();
            let before = &text[..span.start];
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            // The target follows the text, so that the text is no link.
            match (before.trim_end_matches('<').ends_with("]("), opening(before), text[span.end..].find(')'))
            {
                (true, Some(open), Some(length)) => {
                    let close = before.trim_end_matches('<').len() - 2;
                    vec![
                        Edit::new(span_of(finding, open, open + 1), ""),
                        Edit::new(span_of(finding, close, close + 2), " ([link]("),
                        Edit::new(span_of(finding, span.end + length, span.end + length), ")"),
                    ]
                }
                // Of a definition, only the destination is given; without it, its links become text.
                _ if text[line..].starts_with('[') => {
                    let end = text[span.end..].find('\n').map_or(text.len(), |length| span.end + length);
                    vec![Edit::new(span_of(finding, line, end), "")]
                }
                _ => Vec::new(),
            }
        }
        _ => Vec::new(),
    }
}

fn span_of(finding: &Diagnostic, start: usize, end: usize) -> files::Span {
    files::Span::new(finding.span.source, start, end)
}

/// Returns the offset of the bracket that opens the text of a link whose destination follows.
fn opening(before: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let text = before.trim_end_matches('<').strip_suffix("](")?;
    for (at, c) in text.char_indices().rev() {
        match c {
            ']' => depth += 1,
            '[' if depth == 0 => return Some(at),
            '[' => depth -= 1,
            _ => {}
        }
    }
    None
}
