//! Parses the YAML that front matter usually consists of, several times as fast as the general parser.
//!
//! Accepts block mappings and lists of values that end on their line, with plain or quoted keys and common escapes. For
//! anything else the result is `None`, and the general parser decides and reports. A test compares the nodes of both.

use std::borrow::Cow;

use crate::files::Spanned;
use crate::load::front_matter::Builder;
use crate::schema::{Node, NodeKind};

/// Maximum nesting; the general parser reports deeper texts.
const MAX_DEPTH: usize = 12;

/// Parses a block mapping; `None` if the text contains anything else.
pub(super) fn parse(builder: &mut Builder<'_>) -> Option<Node> {
    let is_strange = |character: char| {
        character.is_control() && character != '\n' || "\u{2028}\u{2029}\u{feff}".contains(character)
    };
    let text = builder.text;
    if text.contains(is_strange) {
        return None;
    }
    let mut parser = Parser { builder, text, at: 0 };
    let root = (parser.next_indent() == Some(0)).then(|| parser.map(0, 0)).flatten()?;
    parser.next_indent().is_none().then_some(root)
}

struct Parser<'b, 't> {
    builder: &'b mut Builder<'t>,
    text: &'t str,
    at: usize,
}

impl<'t> Parser<'_, 't> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn skip_spaces(&mut self) {
        while self.byte(0) == Some(b' ') {
            self.at += 1;
        }
    }

    /// Moves to the first character of the next line that is not empty, and returns its column; `None` at the end.
    fn next_indent(&mut self) -> Option<usize> {
        loop {
            let start = self.at;
            self.skip_spaces();
            match self.byte(0)? {
                b'\n' => self.at += 1,
                _ => return Some(self.at - start),
            }
        }
    }

    /// Moves to the next line; `None` unless this line ends here.
    fn end_line(&mut self) -> Option<()> {
        match self.byte(0) {
            Some(b'\n') => self.at += 1,
            Some(_) => return None,
            None => {}
        }
        Some(())
    }

    /// Moves to the next entry of a collection at a column. Returns whether there is one.
    fn next_entry(&mut self, column: usize, is_item: bool) -> Option<bool> {
        let start = self.at;
        let next = self.next_indent();
        if next.is_some_and(|next| next > column) {
            return None;
        }
        let is_next = next == Some(column) && is_item == self.is_at_item();
        if !is_next {
            self.at = start;
        }
        Some(is_next)
    }

    fn is_at_item(&self) -> bool {
        self.byte(0) == Some(b'-') && self.byte(1) == Some(b' ')
    }

    /// Parses a mapping whose first key is at this position and column.
    fn map(&mut self, column: usize, depth: usize) -> Option<Node> {
        let start = self.at;
        let mut pairs = Vec::new();
        loop {
            let key = self.key()?;
            let value = match self.byte(0) {
                Some(b' ') => self.value()?,
                Some(b'\n') => self.nested(column, depth + 1)?,
                _ => return None,
            };
            pairs.push((key, value));
            let end = self.at;
            if !self.next_entry(column, false)? {
                return Some(self.builder.node(start, end, NodeKind::Map(pairs)));
            }
        }
    }

    /// Parses the collection below a key at a column.
    fn nested(&mut self, column: usize, depth: usize) -> Option<Node> {
        let next = self.next_indent()?;
        match self.is_at_item() {
            _ if depth > MAX_DEPTH => None,
            true if next > column => self.list(next, depth),
            true if next == column => {
                let mut list = self.list(next, depth)?;
                // The general parser reports such a list from its first item.
                if let NodeKind::List(items) = &list.kind {
                    list.span.start = items.first()?.span.start;
                }
                Some(list)
            }
            false if next > column => self.map(next, depth),
            _ => None,
        }
    }

    /// Parses a list whose first item is at this position and column.
    fn list(&mut self, column: usize, depth: usize) -> Option<Node> {
        let start = self.at;
        let mut items = Vec::new();
        loop {
            let item = self.at;
            self.at += 1;
            self.skip_spaces();
            let inner = column + self.at - item;
            let item = if self.is_at_key() { self.map(inner, depth + 1)? } else { self.value()? };
            items.push(item);
            let end = self.at;
            if !self.next_entry(column, true)? {
                return Some(self.builder.node(start, end, NodeKind::List(items)));
            }
        }
    }

    fn is_at_key(&self) -> bool {
        let length = self.plain_key_length();
        length > 0 && self.byte(length) == Some(b':') && matches!(self.byte(length + 1), Some(b' ' | b'\n'))
    }

    fn plain_key_length(&self) -> usize {
        let is_first = self.byte(0).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let rest = self.text.as_bytes()[self.at..].iter();
        let is_key = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if is_first { rest.take_while(is_key).count() } else { 0 }
    }

    /// Parses a key and its colon.
    fn key(&mut self) -> Option<Spanned<String>> {
        let start = self.at;
        let node = if matches!(self.byte(0), Some(b'"' | b'\'')) {
            self.quoted()?
        } else {
            self.at += self.plain_key_length();
            let text = &self.text[start..self.at];
            (!text.is_empty()).then(|| self.builder.scalar(text, false, start, self.at))?
        };
        let NodeKind::Scalar { text, .. } = node.kind else { return None };
        (self.byte(0)? == b':').then(|| self.at += 1)?;
        Some(Spanned::new(text, node.span))
    }

    /// Parses a value that ends on its line.
    fn value(&mut self) -> Option<Node> {
        self.skip_spaces();
        let node = match self.byte(0)? {
            b'"' | b'\'' => self.quoted()?,
            b'[' | b'{' => self.flow(0)?,
            _ => {
                let line = self.text[self.at..].split('\n').next().unwrap_or_default();
                let is_plain = is_plain_start(line)
                    && !line.contains(": ")
                    && !line.ends_with([':', ' '])
                    && !line.contains(" #");
                is_plain.then(|| self.plain(line.len()))?
            }
        };
        self.end_line()?;
        Some(node)
    }

    fn plain(&mut self, length: usize) -> Node {
        let start = self.at;
        self.at += length;
        self.builder.scalar(&self.text[start..self.at], false, start, self.at)
    }

    fn quoted(&mut self) -> Option<Node> {
        let (start, quote) = (self.at, self.byte(0)?);
        let mut value = Cow::Borrowed("");
        self.at += 1;
        loop {
            let rest = &self.text[self.at..];
            let length = rest.bytes().position(|byte| byte == quote || matches!(byte, b'\\' | b'\n'))?;
            value += &rest[..length];
            self.at += length + 1;
            match (rest.as_bytes()[length], self.byte(0)) {
                (b'\n', _) => return None,
                (b'\'', Some(b'\'')) => {
                    value += "'";
                    self.at += 1;
                }
                (byte, _) if byte == quote => break,
                (_, _) if quote == b'\'' => value += "\\",
                (_, next) => {
                    value += match next? {
                        b'"' => "\"",
                        b'\\' => "\\",
                        b'n' => "\n",
                        _ => return None,
                    };
                    self.at += 1;
                }
            }
        }
        Some(self.builder.scalar(&value, true, start, self.at))
    }

    /// Parses a list or a mapping in brackets.
    fn flow(&mut self, depth: usize) -> Option<Node> {
        let (start, is_list) = (self.at, self.byte(0)? == b'[');
        let close = if is_list { b']' } else { b'}' };
        let (mut items, mut pairs) = (Vec::new(), Vec::new());
        self.at += 1;
        loop {
            self.skip_spaces();
            if is_list {
                items.push(self.flow_value(depth)?);
            } else {
                let key = self.key()?;
                (self.byte(0)? == b' ').then(|| self.skip_spaces())?;
                pairs.push((key, self.flow_value(depth)?));
            }
            self.skip_spaces();
            self.at += 1;
            match self.byte(0).filter(|_| self.text.as_bytes()[self.at - 1] == b',') {
                Some(b' ') => {}
                Some(_) => return None,
                None if self.text.as_bytes().get(self.at - 1) == Some(&close) => break,
                None => return None,
            }
        }
        let kind = if is_list { NodeKind::List(items) } else { NodeKind::Map(pairs) };
        Some(self.builder.node(start, self.at, kind))
    }

    fn flow_value(&mut self, depth: usize) -> Option<Node> {
        match self.byte(0)? {
            b'"' | b'\'' => self.quoted(),
            b'[' | b'{' => (depth < MAX_DEPTH).then(|| self.flow(depth + 1))?,
            _ => {
                let rest = &self.text[self.at..];
                let length = rest.find([',', '[', ']', '{', '}', '\n', '#', '"', '\''])?;
                let text = rest[..length].trim_end_matches(' ');
                let is_plain = is_plain_start(text)
                    && !text.contains(": ")
                    && !text.ends_with(':')
                    && !text.contains("::");
                is_plain.then(|| self.plain(text.len()))
            }
        }
    }
}

/// Returns whether a value that starts like this is plain text in any context.
fn is_plain_start(text: &str) -> bool {
    text.starts_with(|first: char| first.is_alphanumeric() || "/.(<+=_$^;".contains(first))
        && !text.starts_with("...")
}
