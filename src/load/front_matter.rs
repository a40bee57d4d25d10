//! Parses YAML front matter to nodes with spans. The only module that uses the YAML parser.

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError};

use crate::diag::Diagnostic;
use crate::files::{SourceId, Span, Spanned};
use crate::load::rules::{TAB_INDENTATION, TOO_LARGE, UNQUOTED_HASH, YAML_FEATURE, YAML_SYNTAX};
use crate::load::yaml_faults::{Repair, explain, leading_tabs};
use crate::schema::{Node, NodeKind};

/// Maximum size of front matter, in bytes.
const MAX_BYTES: usize = 32 * 1024;
/// Maximum nesting depth.
const MAX_DEPTH: usize = 16;
/// Maximum number of syntax errors that are repaired to find more.
const MAX_REPAIRS: usize = 16;

/// Parsed front matter.
#[derive(Debug)]
pub(super) struct FrontMatter {
    /// The root node.
    pub node: Node,
    /// Whether a syntax error truncated it, so that missing keys are not reported.
    pub cut: bool,
    /// Values with escaped characters: `"\u202E"`.
    pub escaped: Vec<Spanned<String>>,
}

impl FrontMatter {
    /// Returns the front matter before a syntax error.
    fn cut(node: Node) -> Self {
        Self { node, cut: true, escaped: Vec::new() }
    }
}

/// Parses the front matter `text` at `place`; adds all errors to `found`.
pub(super) fn parse(text: &str, place: Span, found: &mut Vec<Diagnostic>) -> FrontMatter {
    let empty = Node { span: place, kind: NodeKind::Null };
    if text.len() > MAX_BYTES {
        let first = place.part(0, text.chars().next().map_or(0, char::len_utf8));
        found.push(
            Diagnostic::error(&TOO_LARGE, first, format!("front matter of {} bytes", text.len()))
                .help(format!("at most {MAX_BYTES} are allowed; move long text to the body")),
        );
        return FrontMatter::cut(empty);
    }
    let mut text = text.to_string();
    let tabs = leading_tabs(&mut text, place);
    let mut tabbed: Vec<usize> = tabs.iter().map(|tab| tab.span.start - place.start).collect();
    found.extend(tabs);
    let mut left_out = false;
    let (mut repaired, mut skipped) = (Vec::new(), Vec::new());
    for _ in 0..MAX_REPAIRS {
        match tree(&text, place) {
            Ok(Tree { mut node, faults, escaped }) => {
                node.iter_mut().for_each(|node| node.mark_unreadable(&repaired));
                if let Some(Node { kind: NodeKind::Map(pairs), .. }) = &mut node {
                    skipped.iter().for_each(|at| mark_value_at(pairs, place.start + at));
                }
                let cut = left_out || faults.iter().any(|fault| fault.code == TOO_LARGE.code);
                found.extend(faults);
                return FrontMatter { node: node.unwrap_or(empty), cut, escaped };
            }
            Err(fault) => {
                let (finding, repair) =
                    explain(&text, byte_of(&text, fault.marker().index()), fault.info(), place);
                if finding.code == YAML_SYNTAX.code && !tabbed.is_empty() {
                    // The intended indentation of a tab is a guess; if it fails, these lines are skipped.
                    tabbed.iter().for_each(|at| text.replace_range(*at..=*at, "#"));
                    skipped.append(&mut tabbed);
                    left_out = true;
                    continue;
                }
                let at = finding.span.start - place.start;
                let before = text[..at].rsplit('\n').next().unwrap_or_default();
                if finding.code == TAB_INDENTATION.code && before.trim().is_empty() {
                    tabbed.push(at);
                }
                found.push(finding);
                match repair {
                    Repair::Text { text: new, at } => {
                        text = new;
                        repaired.extend(at.map(|at| place.start + at));
                    }
                    Repair::CutAt(end) => {
                        let node = tree(&text[..end], place).ok().and_then(|tree| tree.node);
                        return FrontMatter::cut(node.unwrap_or(empty));
                    }
                }
            }
        }
    }
    FrontMatter::cut(empty)
}

/// Marks the value of the key above a skipped line as unreadable: without that line, it may be of another kind.
fn mark_value_at(pairs: &mut [(Spanned<String>, Node)], at: usize) {
    if let Some((_, value)) = pairs.iter_mut().rev().find(|(key, _)| key.span.start <= at) {
        value.kind = NodeKind::Unreadable;
    }
}

/// Converts a character index of the parser to a byte offset.
fn byte_of(text: &str, character: usize) -> usize {
    text.char_indices().nth(character).map_or(text.len(), |(at, _)| at)
}

struct Builder<'t> {
    byte_at: Vec<usize>,
    place: Span,
    source: SourceId,
    faults: Vec<Diagnostic>,
    escaped: Vec<Spanned<String>>,
    text: &'t str,
}

/// A collection that is still open.
enum Open {
    List { start: usize, items: Vec<Node> },
    Map { start: usize, pairs: Vec<(Spanned<String>, Node)>, key: Option<Spanned<String>> },
}

/// The parsed tree, and the first syntax error.
struct Tree {
    node: Option<Node>,
    faults: Vec<Diagnostic>,
    escaped: Vec<Spanned<String>>,
}

fn tree(text: &str, place: Span) -> Result<Tree, ScanError> {
    let byte_at = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let mut builder =
        Builder { byte_at, place, source: place.source, faults: Vec::new(), escaped: Vec::new(), text };
    let mut open: Vec<Open> = Vec::new();
    let mut root = None;
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event?;
        let (start, end) = (builder.byte(span.start.index()), builder.byte(span.end.index()));
        match event {
            Event::DocumentStart(_) => {
                documents += 1;
                if documents > 1 {
                    builder.refuse(start, end, "a second document");
                    break;
                }
            }
            Event::Alias(_) => {
                builder.refuse(start, end, "an alias");
                let node = builder.node(start, end, NodeKind::Null);
                place_node(&mut open, &mut root, node);
            }
            Event::Scalar(value, style, anchor, tag) => {
                builder.refuse_decorated(start, end, anchor, tag.is_some());
                let node = builder.scalar(&value, style, start, end);
                place_node(&mut open, &mut root, node);
            }
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                let place = builder.span(start, end);
                builder.faults.push(
                    Diagnostic::error(&TOO_LARGE, place, format!("nested more than {MAX_DEPTH} levels deep"))
                        .help("reduce the nesting"),
                );
                return Ok(builder.finish(root));
            }
            Event::SequenceStart(anchor, tag) => {
                builder.refuse_decorated(start, end, anchor, tag.is_some());
                open.push(Open::List { start, items: Vec::new() });
            }
            Event::MappingStart(anchor, tag) => {
                builder.refuse_decorated(start, end, anchor, tag.is_some());
                open.push(Open::Map { start, pairs: Vec::new(), key: None });
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let node = match open.pop() {
                    Some(Open::List { start, items }) => builder.node(start, end, NodeKind::List(items)),
                    Some(Open::Map { start, pairs, .. }) => builder.node(start, end, NodeKind::Map(pairs)),
                    None => continue,
                };
                place_node(&mut open, &mut root, node);
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => {}
        }
    }
    Ok(builder.finish(root))
}

/// Adds a finished node to its parent: as a key, a value, an item, or the root.
fn place_node(open: &mut [Open], root: &mut Option<Node>, node: Node) {
    match open.last_mut() {
        None => *root = Some(node),
        Some(Open::List { items, .. }) => items.push(node),
        Some(Open::Map { pairs, key, .. }) => match key.take() {
            Some(key) => pairs.push((key, node)),
            None => {
                let text = match node.kind {
                    NodeKind::Scalar { text, .. } => text,
                    _ => String::new(),
                };
                *key = Some(Spanned::new(text, node.span));
            }
        },
    }
}

impl Builder<'_> {
    fn byte(&self, character: usize) -> usize {
        self.byte_at.get(character).copied().unwrap_or(self.text.len())
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.source, self.place.start + start, self.place.start + end)
    }

    fn node(&self, start: usize, end: usize, kind: NodeKind) -> Node {
        let trimmed = start + self.text[start..end.max(start)].trim_end().len();
        Node { span: self.span(start, trimmed), kind }
    }

    fn finish(self, node: Option<Node>) -> Tree {
        Tree { node, faults: self.faults, escaped: self.escaped }
    }

    fn scalar(&mut self, value: &str, style: ScalarStyle, start: usize, end: usize) -> Node {
        let (written, place) = (&self.text[start..end.max(start)], self.span(start, end));
        let is_escaped = |character: char| {
            (!character.is_ascii() || character.is_control()) && !written.contains(character)
        };
        if value.contains(is_escaped) {
            self.escaped.push(Spanned::new(value.to_string(), place));
        }
        let quoted = style != ScalarStyle::Plain;
        if !quoted {
            self.refuse_cut(start, end);
        }
        let kind = match value {
            "" | "~" | "null" | "Null" | "NULL" if !quoted => NodeKind::Null,
            _ => NodeKind::Scalar { text: value.to_string(), quoted },
        };
        self.node(start, end, kind)
    }

    /// Reports text after ` #`, which YAML ignores, as in `stopped at step #3`. A comment has a space after `#`.
    fn refuse_cut(&mut self, start: usize, end: usize) {
        let line = self.text[start..].split('\n').next().unwrap_or_default().trim_end();
        let value = self.text[start..end.max(start)].trim_end();
        let rest = line.get(value.len()..).unwrap_or_default();
        let is_text =
            rest.trim_start().strip_prefix('#').is_some_and(|rest| rest.starts_with(char::is_alphanumeric));
        if is_text && rest.starts_with(char::is_whitespace) && value.contains(char::is_whitespace) {
            let at = start + line.len() - rest.trim_start().len();
            let place = self.span(at, start + line.len());
            let quoted = line.replace('\\', "\\\\").replace('"', "\\\"");
            self.faults.push(
                Diagnostic::error(&UNQUOTED_HASH, place, "text after ` #` is a comment and ignored")
                    .help(format!("quote the value: `\"{quoted}\"`")),
            );
        }
    }

    fn refuse(&mut self, start: usize, end: usize, what: &str) {
        let place = self.span(start, end);
        self.faults.push(
            Diagnostic::error(&YAML_FEATURE, place, format!("{what} in front matter"))
                .help("write the value in full, in quotes if it starts with `&`, `*` or `!`"),
        );
    }

    fn refuse_decorated(&mut self, start: usize, end: usize, anchor: usize, tagged: bool) {
        if anchor > 0 {
            self.refuse(start, end, "an anchor");
        } else if tagged {
            self.refuse(start, end, "a tag");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Sources;

    fn read(text: &str) -> (Vec<String>, FrontMatter) {
        let mut sources = Sources::default();
        let file = sources.add("a.md", text);
        let mut found = Vec::new();
        let front = parse(text, Span::new(file, 0, text.len()), &mut found);
        let source = sources.get(file);
        let places = found
            .iter()
            .map(|finding| {
                let at = source.position(finding.span.start);
                format!("{}:{} {}", at.line, at.column, finding.code)
            })
            .collect();
        (places, front)
    }

    #[test]
    fn spans_count_bytes_after_wide_characters() {
        let (found, front) = read("größe: ü\ntitle: second\n");
        assert!(found.is_empty());
        let NodeKind::Map(pairs) = front.node.kind else { panic!("a mapping") };
        assert_eq!(pairs[1].0.span.start, "größe: ü\n".len());
        assert_eq!(pairs[1].1.span.end, "größe: ü\ntitle: second".len());
    }

    #[test]
    fn reports_several_syntax_errors() {
        let (found, front) = read("title: vLLM: out of memory\ntell: `x` y\nother: a: b\n\tx: 1\n");
        assert_eq!(
            found,
            ["4:1 tab-indentation", "1:12 unquoted-colon", "2:7 yaml-syntax", "3:9 unquoted-colon"]
        );
        assert!(front.cut, "the line with the tab is left out");
    }

    #[test]
    fn rejects_anchors_aliases_and_tags() {
        let (found, _) = read("a: &x 1\nb: *x\nc: !!str 2\n");
        assert_eq!(found.len(), 3, "{found:?}");
    }
}
