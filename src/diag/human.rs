//! Findings as text with source lines.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use annotate_snippets::{AnnotationKind, Element, Group, Level, Renderer, Snippet};

use crate::diag::finding::{Diagnostic, Severity};
use crate::escape::{ColorChoice, TerminalText, one_line, replace_invisible, visible};
use crate::files::{Source, SourceId, Sources, Span};
use crate::unicode_safety::invisible_chars;

/// Formats findings with their source lines, separated by empty lines.
pub fn report(found: &[Diagnostic], sources: &Sources) -> TerminalText {
    let renderer = Renderer::styled().term_width(110);
    let places = found.iter().flat_map(|finding| {
        finding.related.iter().map(|(span, _)| span).chain([&finding.span]).map(|span| span.source)
    });
    let shown: Shown<'_> = places.map(|source| (source, ShownSource::new(source, sources))).collect();
    let mut text = String::new();
    for finding in found {
        text.push_str(&renderer.render(&[group(finding, &shown)]));
        text.push_str("\n\n");
    }
    TerminalText::colored_by_renderer(&text)
}

/// Renders the [`report`] for a terminal.
pub fn human(found: &[Diagnostic], sources: &Sources, color: ColorChoice) -> String {
    report(found, sources).render(color)
}

/// Formats a summary such as `2 errors, 1 warning in 3 files`.
pub fn summary(found: &[Diagnostic]) -> String {
    let count = |severity| found.iter().filter(|finding| finding.severity == severity).count();
    let files = count_files(found);
    let mut parts = Vec::new();
    for severity in [Severity::Error, Severity::Warning] {
        let number = count(severity);
        if number > 0 {
            parts.push(format!("{number} {}{}", severity.name(), plural(number)));
        }
    }
    format!("{} in {} file{}", parts.join(", "), files, plural(files))
}

/// Returns the number of files with an error.
pub fn faulty_files(found: &[Diagnostic]) -> usize {
    count_files(found.iter().filter(|finding| finding.severity == Severity::Error))
}

fn count_files<'d>(found: impl IntoIterator<Item = &'d Diagnostic>) -> usize {
    let files: BTreeSet<_> = found.into_iter().map(|finding| finding.span.source).collect();
    files.len()
}

fn plural(number: usize) -> &'static str {
    if number == 1 { "" } else { "s" }
}

/// Replacement for unsafe characters.
const REPLACEMENT: char = '\u{FFFD}';

/// Sources with unsafe characters replaced.
type Shown<'s> = BTreeMap<SourceId, ShownSource<'s>>;

/// Source with unsafe characters replaced so that columns stay, and the resulting shift of byte offsets.
struct ShownSource<'s> {
    path: Cow<'s, str>,
    text: Cow<'s, str>,
    raw: &'s Source,
    /// Byte offset of each unsafe character in the raw text, and the total shift after it.
    added: Vec<(usize, isize)>,
}

impl<'s> ShownSource<'s> {
    fn new(id: SourceId, sources: &'s Sources) -> Self {
        let source = sources.get(id);
        let added = invisible_chars(&source.text).scan(0, |sum, (at, character, _)| {
            *sum += REPLACEMENT.len_utf8() as isize - character.len_utf8() as isize;
            Some((at, *sum))
        });
        let added: Vec<(usize, isize)> = added.collect();
        let text = replace_invisible(&source.text, |_| REPLACEMENT.into());
        Self { path: one_line(&source.path), text, raw: source, added }
    }

    fn place(&self, byte: usize) -> usize {
        let before = self.added.partition_point(|(at, _)| *at < byte);
        byte.saturating_add_signed(before.checked_sub(1).map_or(0, |last| self.added[last].1))
    }

    /// Limits a span to its first line, to the text and to whole characters, and keeps room for a caret.
    fn window(&self, span: Span) -> std::ops::Range<usize> {
        let (start, text) = (self.raw.floor_char(span.start), &self.raw.text);
        let line_end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        self.place(start)..self.place(self.raw.floor_char(span.end.min(line_end)).max(start))
    }

    fn snippet(&self) -> Snippet<'_, annotate_snippets::Annotation<'_>> {
        Snippet::source(self.text.as_ref()).path(self.path.as_ref())
    }
}

fn group<'a>(finding: &'a Diagnostic, shown: &'a Shown<'_>) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let group =
        level.primary_title(visible(&finding.message)).id(finding.code).elements(snippets(finding, shown));
    match &finding.help {
        Some(help) => group.element(Level::HELP.message(visible(help))),
        None => group,
    }
}

fn snippets<'a>(finding: &'a Diagnostic, shown: &'a Shown<'_>) -> Vec<Element<'a>> {
    let here = &shown[&finding.span.source];
    let mut first = here.snippet().annotation(AnnotationKind::Primary.span(here.window(finding.span)));
    let mut others = Vec::new();
    for (span, note) in &finding.related {
        let source = &shown[&span.source];
        let mark = AnnotationKind::Context.span(source.window(*span)).label(visible(note));
        if span.source == finding.span.source {
            first = first.annotation(mark);
        } else {
            others.push(source.snippet().annotation(mark).into());
        }
    }
    std::iter::once(first.into()).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::Rule;

    #[test]
    fn content_neither_acts_on_a_terminal_nor_commands_a_workflow() {
        let rule = Rule { code: "some-rule", requirement: "", why: "" };
        let mut sources = Sources::default();
        let file = sources.add("a\u{1b}[31m\n::stop-commands::x.md", "b\u{1b}[32m\u{9b}\u{202e}c\n");
        let finding = Diagnostic::error(&rule, Span::new(file, 8, 11), "d\u{1b}[33m\n::error::y")
            .help("e\u{1b}[34m\n::error::z ##[group]")
            .related(Span::new(file, 0, 1), "f\u{1b}[35m");
        let text = human(std::slice::from_ref(&finding), &sources, ColorChoice::Off);
        assert!(["31m", "32m", "33m", "34m", "35m"].iter().all(|part| text.contains(part)), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}']), "{text:?}");
        assert!(
            !text.lines().any(|line| line.trim_start().starts_with("::")) && !text.contains("##["),
            "{text}"
        );
        assert!(text.contains("b\u{fffd}[32m\u{fffd}\u{fffd}c\n"), "{text}");
        let colored = human(&[finding], &sources, ColorChoice::On);
        assert!(colored.contains("\u{1b}[") && !colored.contains("\u{1b}[3"), "{colored:?}");
    }

    #[test]
    fn a_span_within_a_character_marks_the_whole_character() {
        let rule = Rule { code: "some-rule", requirement: "", why: "" };
        let mut sources = Sources::default();
        let file = sources.add("a.md", "é: x\n");
        for (start, end) in [(0, 1), (1, 2), (1, 1)] {
            let finding = Diagnostic::error(&rule, Span::new(file, start, end), "x");
            assert!(human(&[finding], &sources, ColorChoice::Off).contains("a.md:1:1\n"), "{start}..{end}");
        }
    }
}
