//! Parses TOML to nodes with spans.

use toml::Spanned as TomlSpanned;
use toml::de::{DeTable, DeValue};

use crate::config::BAD_SETTINGS;
use crate::diag::Diagnostic;
use crate::files::{SourceId, Span, Spanned};
use crate::schema::{Node, NodeKind};
use crate::unicode_safety::invisible_chars;

/// Parses `text` to nodes. Adds every syntax error to `found` and returns all values that can be read.
pub(super) fn parse(text: &str, file: SourceId, found: &mut Vec<Diagnostic>) -> Node {
    let (table, faults) = DeTable::parse_recoverable(text);
    for fault in faults {
        let range = fault.span().unwrap_or(0..0);
        let message = fault.message().trim_end_matches('.').replace('\n', ", ");
        found.push(
            Diagnostic::error(&BAD_SETTINGS, Span::new(file, range.start, range.end), message)
                .help("write one `key = \"value\"` pair per line; see <https://toml.io>"),
        );
    }
    let whole = Span::new(file, 0, text.len());
    let node = Node { span: whole, kind: map(table.get_ref(), file) };
    find_unseen(&node, found);
    node
}

/// Reports invisible characters in strings, literal or escaped: feeds are XML, which does not allow control
/// characters.
fn find_unseen(node: &Node, found: &mut Vec<Diagnostic>) {
    match &node.kind {
        NodeKind::Null | NodeKind::Unreadable => {}
        NodeKind::Scalar { text, .. } => {
            if let Some((_, character, _)) = invisible_chars(text).next() {
                let message = format!("invisible character U+{:04X}", u32::from(character));
                found.push(Diagnostic::error(&BAD_SETTINGS, node.span, message).help("delete it"));
            }
        }
        NodeKind::List(items) => items.iter().for_each(|item| find_unseen(item, found)),
        NodeKind::Map(pairs) => pairs.iter().for_each(|(_, value)| find_unseen(value, found)),
    }
}

fn map(table: &DeTable<'_>, file: SourceId) -> NodeKind {
    let mut pairs: Vec<_> = table
        .iter()
        .map(|(key, value)| (Spanned::new(key.get_ref().to_string(), span(key, file)), node(value, file)))
        .collect();
    pairs.sort_by_key(|(key, _)| key.span);
    NodeKind::Map(pairs)
}

fn node(value: &TomlSpanned<DeValue<'_>>, file: SourceId) -> Node {
    let kind = match value.get_ref() {
        DeValue::String(text) => NodeKind::Scalar { text: text.to_string(), quoted: true },
        DeValue::Integer(number) => NodeKind::Scalar { text: number.as_str().to_string(), quoted: false },
        DeValue::Float(number) => NodeKind::Scalar { text: number.as_str().to_string(), quoted: false },
        DeValue::Boolean(flag) => NodeKind::Scalar { text: flag.to_string(), quoted: false },
        DeValue::Datetime(date) => NodeKind::Scalar { text: date.to_string(), quoted: false },
        DeValue::Array(items) => NodeKind::List(items.iter().map(|item| node(item, file)).collect()),
        DeValue::Table(table) => map(table, file),
    };
    Node { span: span(value, file), kind }
}

fn span<T>(placed: &TomlSpanned<T>, file: SourceId) -> Span {
    let range = placed.span();
    Span::new(file, range.start, range.end)
}
