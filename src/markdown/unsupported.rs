//! Finds syntax of other Markdown dialects, which pages would show as text.

use std::ops::Range;

use pulldown_cmark::Tag;

use crate::markdown::calls::is_escaped;
use crate::markdown::markdown_error::{MarkdownError, MarkdownErrorKind as Kind};

/// Maximum bytes of the name in a wiki link, to bound the search for the closing brackets.
const MAX_NAME: usize = 200;

/// Syntax of other dialects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsupportedSyntax {
    /// Rows of a table without a delimiter row `| --- |`.
    Table,
    /// A delimiter row whose number of columns differs from the header's.
    TableColumns {
        /// Columns of the delimiter row.
        delimiter: usize,
        /// Columns of the header.
        header: usize,
    },
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
    /// `##Heading`.
    Heading,
}

impl UnsupportedSyntax {
    /// Returns the message of the error.
    pub(super) fn message(self) -> String {
        let message = match self {
            Self::TableColumns { delimiter, header } => {
                let columns = if delimiter == 1 { "column" } else { "columns" };
                return format!("the delimiter row has {delimiter} {columns}, the header {header}");
            }
            Self::Table => "table without a delimiter row",
            Self::Container => "container block `:::`",
            Self::Admonition => "admonition `!!!`",
            Self::Math => "math between dollar signs",
            Self::WikiLink => "wiki link `[[…]]`",
            Self::Module => "module import",
            Self::Heading => "heading without a space after `#`",
        };
        message.to_string()
    }

    /// Returns the help with the supported syntax.
    pub(super) fn help(self) -> &'static str {
        match self {
            Self::Table => "add a line such as `| --- | --- |` below the first row",
            Self::TableColumns { .. } => "write one `---` per column of the header",
            Self::Container | Self::Admonition => {
                "write `> [!NOTE]` on its own line, and `> ` before each line of the text"
            }
            Self::Math => "write it in words or in backticks; escape a literal dollar sign as `\\$`",
            Self::WikiLink => "write `[text](../folder/page.md)`; put literal brackets in backticks",
            Self::Module => "remove the line, or put it in a code block",
            Self::Heading => "add the space, as in `## Heading`; write a literal `#` as `\\#`",
        }
    }
}

/// Returns whether an element is not searched for unsupported syntax.
pub(super) fn is_opaque(tag: &Tag<'_>) -> bool {
    use Tag::{CodeBlock, HtmlBlock, Image, Link, Table};
    matches!(tag, CodeBlock(_) | HtmlBlock | Image { .. } | Link { .. } | Table(_))
}

/// Reports unsupported syntax outside the `opaque` ranges: code, links, tables.
pub(super) fn find(source: &str, opaque: &[Range<usize>]) -> Vec<MarkdownError> {
    let mut masked = source.as_bytes().to_vec();
    for range in opaque {
        masked[range.clone()].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = 0);
    }
    let Ok(masked) = String::from_utf8(masked) else { return Vec::new() };
    let mut found = Vec::new();
    let mut report =
        |range: Range<usize>, kind| found.push(MarkdownError { range, kind: Kind::UnsupportedSyntax(kind) });
    let mut at = 0;
    let mut in_rows = false;
    let mut lines = masked.split('\n').peekable();
    while let Some(line) = lines.next() {
        let text = line.trim_end();
        let start = at + text.len() - text.trim_start().len();
        let text = text.trim_start();
        if let Some(kind) = line_syntax(text) {
            let next = at + line.len() + 1;
            let delimiter = lines.peek().map(|line| line.trim()).filter(|line| is_delimiter(line));
            // The rows of one table are one error.
            if kind != UnsupportedSyntax::Table {
                report(start..start + text.len(), kind);
            } else if !in_rows && let Some(delimiter) = delimiter {
                let from = next + source[next..].len() - source[next..].trim_start().len();
                let header = columns(&source[start..start + text.len()]);
                match columns(delimiter) {
                    count if count == header => report(start..start + text.len(), kind),
                    count => report(
                        from..from + delimiter.len(),
                        UnsupportedSyntax::TableColumns { delimiter: count, header },
                    ),
                }
            } else if !in_rows {
                report(start..start + text.len(), kind);
            }
        }
        in_rows = is_row(text) || (in_rows && is_delimiter(text));
        for (range, kind) in inline_syntax(text) {
            report(start + range.start..start + range.end, kind);
        }
        at += line.len() + 1;
    }
    found
}

fn line_syntax(text: &str) -> Option<UnsupportedSyntax> {
    let is_word = |rest: &str| rest.trim_start().starts_with(|c: char| c.is_ascii_alphabetic());
    if is_row(text) {
        return Some(UnsupportedSyntax::Table);
    }
    if text.strip_prefix(":::").is_some_and(|rest| is_word(rest.trim_start_matches([':', '{']))) {
        return Some(UnsupportedSyntax::Container);
    }
    if ["!!! ", "??? ", "???+ "].iter().any(|mark| text.strip_prefix(mark).is_some_and(is_word)) {
        return Some(UnsupportedSyntax::Admonition);
    }
    let rest = text.trim_start_matches('#');
    if (2..=6).contains(&(text.len() - rest.len())) && rest.starts_with(char::is_alphanumeric) {
        return Some(UnsupportedSyntax::Heading);
    }
    let quoted = |rest: &str| rest.trim_end_matches(';').ends_with(['"', '\'']);
    let module = text.strip_prefix("import ").filter(|rest| quoted(rest));
    let is_module = module.is_some_and(|rest| rest.starts_with(['"', '\'']) || rest.contains(" from "));
    let is_export =
        ["export const ", "export default ", "export function "].iter().any(|word| text.starts_with(word));
    (is_module || is_export).then_some(UnsupportedSyntax::Module)
}

fn is_row(text: &str) -> bool {
    text.len() > 2
        && text.starts_with('|')
        && text.ends_with('|')
        && text.contains(|c: char| !"|-: \0".contains(c))
}

fn is_delimiter(text: &str) -> bool {
    text.starts_with('|') && text.contains('-') && text.chars().all(|c| "|-: ".contains(c))
}

/// Returns the number of columns of a row.
fn columns(row: &str) -> usize {
    let bars = row.match_indices('|').filter(|(at, _)| *at > 0 && !is_escaped(row, *at)).count();
    if row.len() > 1 && row.ends_with('|') && !is_escaped(row, row.len() - 1) { bars } else { bars + 1 }
}

fn inline_syntax(text: &str) -> Vec<(Range<usize>, UnsupportedSyntax)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("[[").filter(|(at, _)| !is_escaped(text, *at)) {
        let inner = &text[at + 2..];
        let end = inner.bytes().take(MAX_NAME).position(|byte| byte == b']');
        let Some(end) = end.filter(|end| inner[*end..].starts_with("]]")) else { continue };
        if inner.starts_with(char::is_alphabetic) && !inner[..end].contains(['[', '\0']) {
            found.push((at..at + end + 4, UnsupportedSyntax::WikiLink));
        }
    }
    let mut from = 0;
    while let Some(range) = find_math(text, from) {
        from = range.end;
        found.push((range, UnsupportedSyntax::Math));
    }
    found
}

/// Returns the first formula between dollar signs after byte `from`. A formula has a command, an operator or an index, or is a
/// single letter, unlike amounts of money and shell variables.
fn find_math(text: &str, from: usize) -> Option<Range<usize>> {
    let is_word_char = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
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
            && !is_word_char(text[..start].chars().next_back())
            && !is_word_char(text.get(end..).and_then(|rest| rest.chars().next()));
        let is_variable = inner.starts_with(|c: char| c.is_ascii_uppercase() || "({_".contains(c))
            && inner.len() > 1
            && !inner.contains('\\');
        if is_closed && is_formula && is_whole && !is_variable && !is_escaped(text, start) {
            return Some(start..end);
        }
        start = inner_start;
    }
}
