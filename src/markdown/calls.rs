//! Estimator calls in a text: `{{ fit("model", "Q4_K_M").kv }}`.
//!
//! To Markdown a call is full of markup: quotes, underscores, pipes, and braces that a heading would
//! take for attributes. So calls are found first, and covered with letters of the same length before
//! the text is parsed for good: every byte keeps its place and no markup can begin or end in a call.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// A call `{{ … }}` in the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// From the first brace to the last one.
    pub range: Range<usize>,
    /// What stands between the braces, without the white space around it.
    pub inner_range: Range<usize>,
    /// The text of `inner_range`.
    pub source: String,
}

/// A text whose calls are covered, ready to be parsed.
#[derive(Debug)]
pub(crate) struct Covered<'a> {
    /// As long as the text given, byte for byte, with letters in place of the calls.
    pub text: Cow<'a, str>,
    /// The calls, in order.
    pub calls: Vec<Call>,
    /// `{{` that no `}}` on the same line closes.
    pub unclosed: Vec<Range<usize>>,
}

/// A part of a text event.
pub(crate) enum Segment<'s> {
    Text(&'s str),
    Call(&'s Call),
}

impl<'a> Covered<'a> {
    /// Finds and covers the calls of `text`, which will be parsed with `options`.
    ///
    /// Calls in code, link destinations and raw HTML are none, nor is one after a backslash.
    pub fn new(text: &'a str, options: Options) -> Self {
        if !text.contains("{{") {
            return Self { text: Cow::Borrowed(text), calls: Vec::new(), unclosed: Vec::new() };
        }
        // Without heading attributes, or `## Needs {{ x }}` would lose the call to them.
        let visible = Visible::of(text, options.difference(Options::ENABLE_HEADING_ATTRIBUTES));
        let (calls, unclosed) = find(text, &visible);
        let covered = cover(text, &calls);
        let after = Visible::of(&covered, options);
        if calls.iter().all(|call| after.holds(&call.range)) {
            return Self { text: Cow::Owned(covered), calls, unclosed };
        }
        // Braces and markup so entangled that covering a call moved it out of the prose: no call at all.
        let unclosed = calls.into_iter().map(|call| call.range).chain(unclosed).collect();
        Self { text: Cow::Borrowed(text), calls: Vec::new(), unclosed }
    }

    /// A text event cut at the calls in it.
    pub fn segments<'s>(&'s self, text: &'s str, range: &Range<usize>) -> Vec<Segment<'s>> {
        let first = self.calls.partition_point(|call| call.range.start < range.start);
        // An event that is not its source letter by letter (an entity, an escape) holds no call.
        if text.len() != range.len() || self.calls.get(first).is_none_or(|call| call.range.start >= range.end)
        {
            return vec![Segment::Text(text)];
        }
        let mut segments = Vec::new();
        let mut at = range.start;
        for call in self.calls[first..].iter().take_while(|call| call.range.end <= range.end) {
            segments.push(Segment::Text(&text[at - range.start..call.range.start - range.start]));
            segments.push(Segment::Call(call));
            at = call.range.end;
        }
        segments.push(Segment::Text(&text[at - range.start..]));
        segments
    }
}

/// The parts of a text that a reader sees as prose, and those that are code.
struct Visible {
    prose: Vec<Range<usize>>,
    code: Vec<Range<usize>>,
}

impl Visible {
    fn of(text: &str, options: Options) -> Self {
        let mut visible = Self { prose: Vec::new(), code: Vec::new() };
        let mut verbatim = 0_usize;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => {
                    verbatim += 1;
                    visible.code.push(range);
                }
                Event::Start(Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. }) => {
                    verbatim += 1
                }
                Event::End(TagEnd::CodeBlock) => verbatim -= 1,
                Event::End(TagEnd::Link) => verbatim = 0,
                Event::Code(_) => visible.code.push(range),
                Event::Text(_) if verbatim == 0 => visible.add(range),
                _ => {}
            }
        }
        visible
    }

    fn add(&mut self, range: Range<usize>) {
        match self.prose.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.prose.push(range),
        }
    }

    fn holds(&self, range: &Range<usize>) -> bool {
        let after = self.prose.partition_point(|part| part.start <= range.start);
        after > 0 && self.prose[after - 1].end >= range.end
    }

    fn is_code(&self, byte: usize) -> bool {
        let after = self.code.partition_point(|part| part.start <= byte);
        after > 0 && self.code[after - 1].end > byte
    }
}

/// One pass from left to right: each search goes on where the last one ended.
fn find(text: &str, visible: &Visible) -> (Vec<Call>, Vec<Range<usize>>) {
    let (mut calls, mut unclosed) = (Vec::new(), Vec::new());
    let mut opens = text.match_indices("{{").map(|(at, _)| at).peekable();
    let (mut line_end, mut close, mut done) = (0, 0, 0);
    while let Some(open) = opens.next() {
        if open < done || !visible.holds(&(open..open + 2)) || is_escaped(text, open) {
            continue;
        }
        let inner = open + 2;
        line_end = next(text, "\n", inner, line_end);
        close = next(text, "}}", inner, close);
        let nested = opens.peek().is_some_and(|again| *again < close);
        if close >= line_end || nested || visible.is_code(close) {
            unclosed.push(open..inner);
            done = if nested { inner } else { line_end };
            continue;
        }
        let source = text[inner..close].trim();
        let start = inner + (text[inner..close].len() - text[inner..close].trim_start().len());
        calls.push(Call {
            range: open..close + 2,
            inner_range: start..start + source.len(),
            source: source.to_string(),
        });
        done = close + 2;
    }
    (calls, unclosed)
}

/// The first `needle` at or after `from`, given the one found `before` from an earlier place.
fn next(text: &str, needle: &str, from: usize, before: usize) -> usize {
    if before >= from {
        return before;
    }
    text[from..].find(needle).map_or(text.len(), |at| from + at)
}

fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Letters in place of each call. The first is not ASCII: no tag, scheme or list marker begins with it.
fn cover(text: &str, calls: &[Call]) -> String {
    let mut covered = String::with_capacity(text.len());
    let mut at = 0;
    for call in calls {
        covered.push_str(&text[at..call.range.start]);
        covered.push('\u{101}');
        covered.extend(std::iter::repeat_n('x', call.range.len() - '\u{101}'.len_utf8()));
        at = call.range.end;
    }
    covered.push_str(&text[at..]);
    covered
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::BODY;

    fn sources(text: &str) -> Vec<String> {
        let covered = Covered::new(text, BODY);
        assert_eq!(covered.text.len(), text.len(), "every byte keeps its place");
        covered.calls.into_iter().map(|call| call.source).collect()
    }

    #[test]
    fn markup_inside_a_call_is_no_markup() {
        assert_eq!(sources("*a {{ f(\"x_y\", \"a*b_c\") }} b*"), ["f(\"x_y\", \"a*b_c\")"]);
        assert_eq!(sources("| a |\n|---|\n| {{ f(1|2) }} |"), ["f(1|2)"]);
        assert_eq!(sources("## Needs {{ f(\"x\").kv }}"), ["f(\"x\").kv"]);
        assert_eq!(sources("{{ a `b` }} [{{ c }}](/d)"), ["a `b`", "c"]);
    }

    #[test]
    fn code_destinations_and_escapes_hold_no_calls() {
        assert!(sources("`{{ a }}`").is_empty());
        assert!(sources("```\n{{ a }}\n```").is_empty());
        assert!(sources("    {{ a }}").is_empty());
        assert!(sources("[x](/{{a}})").is_empty());
        assert!(sources("<https://example.org/{{a}}>").is_empty());
        assert!(sources("\\{{ a }}").is_empty());
    }

    #[test]
    fn a_call_ends_on_its_line() {
        let covered = Covered::new("a {{ b\n}} c {{ d {{ e }}", BODY);
        assert_eq!(covered.unclosed, [2..4, 12..14]);
        assert_eq!(covered.calls.len(), 1);
        assert_eq!(covered.calls[0].inner_range, 20..21);
    }
}
