//! Findings as a person reads them in a terminal: title, place, line, caret, help.

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};

use crate::diag::finding::{Diagnostic, Severity};
use crate::files::{Sources, Span};

/// Whether text is colored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// Escape sequences for a terminal.
    On,
    /// Plain text.
    Off,
}

/// Every finding with its source line and caret, an empty line between two.
pub fn human(found: &[Diagnostic], sources: &Sources, colour: Colour) -> String {
    let renderer = match colour {
        Colour::On => Renderer::styled(),
        Colour::Off => Renderer::plain(),
    }
    .term_width(110);
    let mut text = String::new();
    for finding in found {
        // The renderer shows most controls as pictures, but not the second set of them.
        let second = |c: char| ('\u{80}'..='\u{9F}').contains(&c);
        text.push_str(&renderer.render(&[group(finding, sources)]).replace(second, "\u{FFFD}"));
        text.push_str("\n\n");
    }
    text
}

/// `2 errors, 1 warning in 3 files`.
pub fn summary(found: &[Diagnostic]) -> String {
    let count = |severity| found.iter().filter(|finding| finding.severity == severity).count();
    let mut files: Vec<_> = found.iter().map(|finding| finding.span.source).collect();
    files.sort_unstable();
    files.dedup();
    let mut parts = Vec::new();
    for severity in [Severity::Error, Severity::Warning] {
        let number = count(severity);
        if number > 0 {
            parts.push(format!("{number} {}{}", severity.name(), plural(number)));
        }
    }
    format!("{} in {} file{}", parts.join(", "), files.len(), plural(files.len()))
}

fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}

fn group<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let group =
        level.primary_title(finding.message.as_str()).id(finding.code).elements(snippets(finding, sources));
    match &finding.help {
        Some(help) => group.element(Level::HELP.message(visible(help))),
        None => group,
    }
}

fn snippets<'a>(finding: &'a Diagnostic, sources: &'a Sources) -> Vec<Element<'a>> {
    let here = finding.span.source;
    let mut first = snippet(sources, finding.span)
        .annotation(AnnotationKind::Primary.span(window(sources, finding.span)));
    let mut others = Vec::new();
    for (span, note) in &finding.related {
        let mark = AnnotationKind::Context.span(window(sources, *span)).label(visible(note));
        if span.source == here {
            first = first.annotation(mark);
        } else {
            others.push(snippet(sources, *span).annotation(mark).into());
        }
    }
    std::iter::once(first.into()).chain(others).collect()
}

fn snippet(sources: &Sources, span: Span) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
    let source = sources.get(span.source);
    Snippet::source(source.text.as_str()).path(visible(&source.path))
}

/// Text without orders to a terminal, which a page may carry and a help quote. The renderer sees to titles and lines alone.
fn visible(text: &str) -> Cow<'_, str> {
    let is_order = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    match text.contains(is_order) {
        true => text.replace(is_order, "\u{FFFD}").into(),
        false => text.into(),
    }
}

/// A span that stays on its first line and within the text, and shows at least a caret.
fn window(sources: &Sources, span: Span) -> std::ops::Range<usize> {
    let text = &sources.get(span.source).text;
    let start = span.start.min(text.len());
    let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
    start..span.end.min(line_end).max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Rule;

    #[test]
    fn no_text_of_a_page_gives_orders_to_a_terminal() {
        let rule = Rule { code: "some-rule", demands: "", why: "" };
        let mut sources = Sources::default();
        let file = sources.add("a\u{1b}[31m.md", "b\u{1b}[32mc\n");
        let finding = Diagnostic::error(&rule, Span::top(file), "d\u{1b}[33m")
            .help("e\u{1b}[34m")
            .related(Span::new(file, 0, 1), "f\u{1b}[35m");
        let text = human(&[finding], &sources, Colour::Off);
        assert!(["31m.md", "32mc", "33m", "34m", "35m"].iter().all(|part| text.contains(part)), "{text}");
        assert!(!text.contains('\u{1b}'), "{text:?}");
    }
}
