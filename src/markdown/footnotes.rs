//! Footnotes: which labels are defined and used, and the list at the end of a page.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::markdown::fault::{Fault, FaultKind};
use crate::markdown::html::escape;

/// How long a label may be; what is longer between brackets is no footnote.
const MAX_LABEL: usize = 100;

/// The labels met while a text is read.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    used: HashSet<String>,
    defined: Vec<(String, Range<usize>)>,
    known: HashSet<String>,
    /// Where a footnote is referred to, in order.
    pub references: Vec<Range<usize>>,
}

impl Labels {
    /// Notes `[^label]`.
    pub fn refer(&mut self, label: &str, range: Range<usize>) {
        self.references.push(range);
        self.used.insert(label.to_lowercase());
    }

    /// Notes `[^label]: …` in `range`.
    pub fn define(&mut self, label: &str, range: Range<usize>, source: &str, faults: &mut Vec<Fault>) {
        let mark_length = source[range.clone()].find("]:").map_or(range.len(), |at| at + 1);
        let mark = range.start..range.start + mark_length;
        if self.known.insert(label.to_lowercase()) {
            self.defined.push((label.to_string(), mark));
        } else {
            faults.push(Fault { range: mark, kind: FaultKind::DuplicateFootnote(label.to_string()) });
        }
    }

    /// Finds `[^label]` that stayed text, because nothing defines it.
    pub fn look_for_undefined(&self, source: &str, range: &Range<usize>, faults: &mut Vec<Fault>) {
        for (at, _) in source[range.clone()].match_indices('[') {
            let start = range.start + at;
            // A text event that follows an escaping backslash begins after it.
            let escaped = at == 0 && start > 0 && source.as_bytes()[start - 1] == b'\\';
            let Some(rest) = source[start + 1..].strip_prefix('^').filter(|_| !escaped) else { continue };
            let end = rest.bytes().take(MAX_LABEL).position(|byte| matches!(byte, b']' | b'[' | b'\n'));
            let Some(length) = end.filter(|end| *end > 0 && rest.as_bytes()[*end] == b']') else { continue };
            let kind = FaultKind::UndefinedFootnote(rest[..length].to_string());
            faults.push(Fault { range: start..start + length + 3, kind });
        }
    }

    /// Where they are defined.
    pub fn places(&self) -> Vec<Range<usize>> {
        self.defined.iter().map(|(_, range)| range.clone()).collect()
    }

    /// Says which definitions nothing refers to.
    pub fn finish(&self, faults: &mut Vec<Fault>) {
        for (label, range) in &self.defined {
            if !self.used.contains(&label.to_lowercase()) {
                faults.push(Fault { range: range.clone(), kind: FaultKind::UnusedFootnote(label.clone()) });
            }
        }
    }
}

/// The notes of a page being written.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    numbers: HashMap<String, usize>,
    references: Vec<usize>,
    texts: HashMap<String, String>,
}

impl Notes {
    /// The mark for a reference: a number in the order of first use, with an address of its own; `name` has `{n}` for it.
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

    /// Keeps the HTML of a note; a second one of the same label is left out.
    pub fn keep(&mut self, label: &str, html: String) {
        self.texts.entry(label.to_lowercase()).or_insert(html);
    }

    /// The list of the notes that are referred to, called `name`, each with its ways `back`; empty without any.
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
            // The way back belongs to the last line of the note.
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
