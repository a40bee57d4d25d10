//! Syntax of other Markdown dialects, which would be shown as it is written.

use std::ops::Range;

use pulldown_cmark::Tag;

use crate::markdown::fault::{Fault, FaultKind};

/// Most bytes of the name in a wiki link: brackets without end are not looked through for each of them.
const MAX_NAME: usize = 200;

/// Syntax that bodies do not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// Rows of a table without a line `| --- |` below the first.
    Table,
    /// `:::note`.
    Container,
    /// `!!! note`.
    Admonition,
    /// `$x^2$`.
    Math,
    /// `[[page]]`.
    WikiLink,
    /// `import x from "y"`.
    Module,
}

impl Foreign {
    /// Its name, as a noun phrase.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::Table => "table without a delimiter row",
            Self::Container => "container block `:::`",
            Self::Admonition => "admonition `!!!`",
            Self::Math => "math between dollar signs",
            Self::WikiLink => "wiki link `[[…]]`",
            Self::Module => "import of a module",
        }
    }

    /// The replacement that the help suggests.
    pub(super) fn help(self) -> &'static str {
        match self {
            Self::Table => "write a line such as `| --- | --- |` below the first row",
            Self::Container | Self::Admonition => {
                "write `> [!NOTE]` on a line of its own, and `> ` before each line of the text below it"
            }
            Self::Math => "write it in words or in backticks; escape a literal dollar sign as `\\$`",
            Self::WikiLink => "write `[text](../folder/page.md)`; put literal brackets in backticks",
            Self::Module => "delete the line, or put it in a code block: pages run no code",
        }
    }
}

/// Whether syntax of other dialects is not looked for in a part of a text.
pub(super) fn is_opaque(tag: &Tag<'_>) -> bool {
    use Tag::{CodeBlock, HtmlBlock, Image, Link, Table};
    matches!(tag, CodeBlock(_) | HtmlBlock | Image { .. } | Link { .. } | Table(_))
}

/// Every place of such syntax in a text, outside the ranges that hold something else: code, links, tables.
pub(super) fn find(source: &str, opaque: &[Range<usize>]) -> Vec<Fault> {
    let mut masked = source.as_bytes().to_vec();
    for range in opaque {
        masked[range.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = 0);
    }
    let Ok(masked) = String::from_utf8(masked) else { return Vec::new() };
    let mut found = Vec::new();
    let mut report = |range: Range<usize>, kind| found.push(Fault { range, kind: FaultKind::Foreign(kind) });
    let mut at = 0;
    let mut in_rows = false;
    for line in masked.split('\n') {
        let text = line.trim_end();
        let start = at + text.len() - text.trim_start().len();
        let text = text.trim_start();
        if let Some(kind) = of_line(text) {
            // The rows of one table are one mistake.
            if kind != Foreign::Table || !in_rows {
                report(start..start + text.len(), kind);
            }
        }
        in_rows = is_row(text);
        for (range, kind) in inline(text) {
            report(start + range.start..start + range.end, kind);
        }
        at += line.len() + 1;
    }
    found
}

fn of_line(text: &str) -> Option<Foreign> {
    let is_word = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic());
    if is_row(text) {
        return Some(Foreign::Table);
    }
    if text.strip_prefix(":::").is_some_and(|rest| is_word(rest.trim_start_matches([':', '{']))) {
        return Some(Foreign::Container);
    }
    if ["!!! ", "??? ", "???+ "].iter().any(|mark| text.strip_prefix(mark).is_some_and(is_word)) {
        return Some(Foreign::Admonition);
    }
    let quoted = |rest: &str| rest.trim_end_matches(';').ends_with(['"', '\'']);
    let module = text.strip_prefix("import ").filter(|rest| quoted(rest));
    let is_module = module.is_some_and(|rest| rest.starts_with(['"', '\'']) || rest.contains(" from "));
    let is_export =
        ["export const ", "export default ", "export function "].iter().any(|word| text.starts_with(word));
    (is_module || is_export).then_some(Foreign::Module)
}

fn is_row(text: &str) -> bool {
    text.len() > 2
        && text.starts_with('|')
        && text.ends_with('|')
        && text.contains(|c: char| !"|-: \0".contains(c))
}

fn inline(text: &str) -> Vec<(Range<usize>, Foreign)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("[[").filter(|(at, _)| !is_escaped(text, *at)) {
        let inner = &text[at + 2..];
        let end = inner.bytes().take(MAX_NAME).position(|byte| byte == b']');
        let Some(end) = end.filter(|end| inner[*end..].starts_with("]]")) else { continue };
        if inner.starts_with(char::is_alphabetic) && !inner[..end].contains(['[', '\0']) {
            found.push((at..at + end + 4, Foreign::WikiLink));
        }
    }
    let mut from = 0;
    while let Some(range) = math(text, from) {
        from = range.end;
        found.push((range, Foreign::Math));
    }
    found
}

/// The first formula between dollar signs behind a byte. Sums of money and variables of a shell are none: a formula has a
/// command, an operator, an index, or is a single letter.
fn math(text: &str, from: usize) -> Option<Range<usize>> {
    let is_beside_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
    let mut start = from;
    loop {
        start += text[start..].find('$')?;
        let mark = if text[start..].starts_with("$$") { 2 } else { 1 };
        let inner_start = start + mark;
        let length = text[inner_start..].find('$')?;
        let (inner, end) = (&text[inner_start..inner_start + length], inner_start + length + mark);
        let is_closed = text[inner_start + length..].starts_with(&"$$"[..mark]);
        let is_formula = inner.contains(['\\', '^', '_', '=', '+']) || inner.len() == 1;
        let is_whole = !inner.is_empty()
            && inner.trim() == inner
            && !inner.contains('\0')
            && !is_beside_word(text[..start].chars().next_back())
            && !is_beside_word(text.get(end..).and_then(|rest| rest.chars().next()));
        let is_variable = inner.starts_with(|c: char| c.is_ascii_uppercase() || "({_".contains(c))
            && inner.len() > 1
            && !inner.contains('\\');
        if is_closed && is_formula && is_whole && !is_variable && !is_escaped(text, start) {
            return Some(start..end);
        }
        start = inner_start;
    }
}

fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}
