//! Footnotes: checks of labels, and the list at the end of a page.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::markdown::html::escape;
use crate::markdown::markdown_error::{MarkdownError, MarkdownErrorKind as Kind};

/// Maximum length of a label; longer text in brackets is not a footnote.
const MAX_LABEL: usize = 100;

/// Labels that a text uses and defines.
#[derive(Debug, Default)]
pub(crate) struct FootnoteLabels {
    used: HashSet<String>,
    defined: Vec<(String, Range<usize>)>,
    known: HashSet<String>,
    /// References to footnotes, in order.
    pub references: Vec<Range<usize>>,
}

impl FootnoteLabels {
    /// Adds a reference `[^label]`.
    pub fn refer(&mut self, label: &str, range: Range<usize>) {
        self.references.push(range);
        self.used.insert(label.to_lowercase());
    }

    /// Adds a definition `[^label]: …` and reports a duplicate.
    pub fn define(
        &mut self,
        label: &str,
        range: Range<usize>,
        source: &str,
        errors: &mut Vec<MarkdownError>,
    ) {
        let mark_length = source[range.clone()].find("]:").map_or(range.len(), |at| at + 1);
        let mark = range.start..range.start + mark_length;
        if self.known.insert(label.to_lowercase()) {
            self.defined.push((label.to_string(), mark));
        } else {
            errors.push(MarkdownError { range: mark, kind: Kind::DuplicateFootnote(label.to_string()) });
        }
    }

    /// Reports `[^label]` in text, which has no definition.
    pub fn find_undefined(&self, source: &str, range: &Range<usize>, errors: &mut Vec<MarkdownError>) {
        for (at, _) in source[range.clone()].match_indices('[') {
            let start = range.start + at;
            // A text event after an escaping backslash starts after it.
            let escaped = at == 0 && start > 0 && source.as_bytes()[start - 1] == b'\\';
            let Some(rest) = source[start + 1..].strip_prefix('^').filter(|_| !escaped) else { continue };
            let end = rest.bytes().take(MAX_LABEL).position(|byte| matches!(byte, b']' | b'[' | b'\n'));
            let Some(length) = end.filter(|end| *end > 0 && rest.as_bytes()[*end] == b']') else { continue };
            let kind = Kind::UndefinedFootnote(rest[..length].to_string());
            errors.push(MarkdownError { range: start..start + length + 3, kind });
        }
    }

    /// Returns the ranges of the labels of all definitions.
    pub fn definitions(&self) -> Vec<Range<usize>> {
        self.defined.iter().map(|(_, range)| range.clone()).collect()
    }

    /// Reports definitions without a reference.
    pub fn finish(&self, errors: &mut Vec<MarkdownError>) {
        for (label, range) in &self.defined {
            if !self.used.contains(&label.to_lowercase()) {
                let kind = Kind::UnusedFootnote(label.clone());
                errors.push(MarkdownError { range: range.clone(), kind });
            }
        }
    }
}

/// Collects references to footnotes and their HTML.
#[derive(Debug, Default)]
pub(crate) struct FootnoteList {
    numbers: HashMap<String, usize>,
    references: Vec<usize>,
    texts: HashMap<String, String>,
}

impl FootnoteList {
    /// Returns the mark of a reference: a number in the order of first use, with its own id. `name` is its label, with `{n}` for
    /// the number.
    pub fn reference(&mut self, label: &str, name: &str) -> String {
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(label.to_lowercase()).or_insert(next);
        if number == next {
            self.references.push(0);
        }
        self.references[number - 1] += 1;
        let id = reference_id(number, self.references[number - 1]);
        let name = escape(&name.replace("{n}", &number.to_string()));
        format!(
            "<sup class=\"footnote-ref\"><a href=\"#fn-{number}\" id=\"{id}\" aria-label=\"{name}\">{number}</a></sup>"
        )
    }

    /// Adds the HTML of a footnote; ignores duplicate labels.
    pub fn insert(&mut self, label: &str, html: String) {
        self.texts.entry(label.to_lowercase()).or_insert(html);
    }

    /// Returns the list of referenced footnotes with the label `name`, each with links labeled `back` to its references; empty
    /// without any.
    pub fn list(&self, back: &str, name: &str) -> String {
        let (back_label, name) = (escape(back), escape(name));
        let mut labels: Vec<_> = self.numbers.iter().map(|(label, number)| (*number, label)).collect();
        labels.sort_unstable();
        let mut items = String::new();
        for (number, label) in labels {
            let Some(text) = self.texts.get(label) else { continue };
            let mut back = String::new();
            for count in 1..=self.references[number - 1] {
                let id = reference_id(number, count);
                back.push_str(&format!(
                    " <a class=\"footnote-back\" href=\"#{id}\" aria-label=\"{back_label}\">\u{21A9}</a>"
                ));
            }
            // The back links belong to the last paragraph of the footnote.
            let text = text.trim_end();
            let (before, close) = text.strip_suffix("</p>").map_or((text, ""), |before| (before, "</p>"));
            items.push_str(&format!("<li id=\"fn-{number}\">{before}{back}{close}</li>\n"));
        }
        if items.is_empty() {
            return items;
        }
        format!("<section class=\"footnotes\" aria-label=\"{name}\">\n<ol>\n{items}</ol>\n</section>\n")
    }
}

fn reference_id(number: usize, count: usize) -> String {
    if count == 1 { format!("fnref-{number}") } else { format!("fnref-{number}-{count}") }
}
