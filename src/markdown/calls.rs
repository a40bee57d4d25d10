//! Calls in a text: `{{ fit("model", "Q4_K_M").kv }}`, `{{ include("setup") }}`.
//!
//! A call contains characters that are Markdown syntax: quotes, underscores, pipes, and braces, which are attributes in a
//! heading. Before parsing, calls are replaced with letters of the same length, so that offsets stay the same and no markup
//! starts or ends in a call.

use std::borrow::Cow;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd};

/// A call `{{ … }}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Byte range with the braces.
    pub range: Range<usize>,
    /// Byte range between the braces, without surrounding white space.
    pub inner_range: Range<usize>,
    /// Text of `inner_range`.
    pub source: String,
    /// Whether it is a paragraph of its own.
    pub is_paragraph: bool,
}

/// A text with masked calls.
#[derive(Debug)]
pub(crate) struct MaskedText<'a> {
    /// The text with letters instead of calls; all byte offsets are the same.
    pub text: Cow<'a, str>,
    /// Calls, in order.
    pub calls: Vec<Call>,
    /// `{{` without `}}` on the same line.
    pub unclosed: Vec<Range<usize>>,
}

/// A part of a text event.
pub(crate) enum Segment<'s> {
    Text(&'s str),
    Call(&'s Call),
}

impl<'a> MaskedText<'a> {
    /// Finds and masks the calls of `text`, for parsing with `options`.
    ///
    /// Ignores braces in code, link destinations and raw HTML, and after a backslash.
    pub fn new(text: &'a str, options: Options) -> Self {
        if !text.contains("{{") {
            return Self { text: Cow::Borrowed(text), calls: Vec::new(), unclosed: Vec::new() };
        }
        // With heading attributes, `## Needs {{ x }}` would have attributes instead of a call.
        let ranges = ProseRanges::of(text, options.difference(Options::ENABLE_HEADING_ATTRIBUTES));
        let (mut calls, unclosed) = find_calls(text, &ranges);
        let masked = mask(text, &calls);
        let after = ProseRanges::of(&masked, options);
        if calls.iter().all(|call| after.is_prose(&call.range)) {
            for call in &mut calls {
                call.is_paragraph = after.is_paragraph(&call.range, &masked);
            }
            return Self { text: Cow::Owned(masked), calls, unclosed };
        }
        // Masking changed the structure, so that a call is no longer in prose: treat all calls as unclosed.
        let unclosed = calls.into_iter().map(|call| call.range).chain(unclosed).collect();
        Self { text: Cow::Borrowed(text), calls: Vec::new(), unclosed }
    }

    /// Returns the call that is a whole paragraph, if `event` starts one.
    pub fn own_paragraph(&self, event: &Event<'_>, range: &Range<usize>) -> Option<&Call> {
        let is_paragraph = matches!(event, Event::Start(Tag::Paragraph));
        let first = self.calls.partition_point(|call| call.range.start < range.start);
        let call = self.calls.get(first).filter(|call| is_paragraph && call.range.end <= range.end)?;
        call.is_paragraph.then_some(call)
    }

    /// Splits a text event at its calls.
    pub fn segments<'s>(&'s self, text: &'s str, range: &Range<usize>) -> Vec<Segment<'s>> {
        let first = self.calls.partition_point(|call| call.range.start < range.start);
        // An event that differs from its source (an entity, an escape) contains no call.
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

/// The parts of a text that are prose, and those that are code.
struct ProseRanges {
    prose: Vec<Range<usize>>,
    code: Vec<Range<usize>>,
    paragraphs: Vec<Range<usize>>,
}

impl ProseRanges {
    fn of(text: &str, options: Options) -> Self {
        let mut ranges = Self { prose: Vec::new(), code: Vec::new(), paragraphs: Vec::new() };
        let mut verbatim = 0_usize;
        for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => {
                    verbatim += 1;
                    ranges.code.push(range);
                }
                Event::Start(Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. }) => {
                    verbatim += 1
                }
                Event::Start(Tag::Paragraph) => ranges.paragraphs.push(range),
                Event::End(TagEnd::CodeBlock) => verbatim -= 1,
                Event::End(TagEnd::Link) => verbatim = 0,
                Event::Code(_) => ranges.code.push(range),
                Event::Text(_) if verbatim == 0 => ranges.add(range),
                _ => {}
            }
        }
        ranges
    }

    fn add(&mut self, range: Range<usize>) {
        match self.prose.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.prose.push(range),
        }
    }

    fn is_prose(&self, range: &Range<usize>) -> bool {
        let after = self.prose.partition_point(|part| part.start <= range.start);
        after > 0 && self.prose[after - 1].end >= range.end
    }

    fn is_paragraph(&self, range: &Range<usize>, text: &str) -> bool {
        let after = self.paragraphs.partition_point(|part| part.start <= range.start);
        let paragraph = after.checked_sub(1).map(|before| self.paragraphs[before].clone());
        paragraph.is_some_and(|paragraph| {
            paragraph.end >= range.end && text[paragraph].trim().len() == range.len()
        })
    }

    fn is_code(&self, byte: usize) -> bool {
        let after = self.code.partition_point(|part| part.start <= byte);
        after > 0 && self.code[after - 1].end > byte
    }
}

/// Finds calls and unclosed braces in one pass; each search continues where the previous one ended.
fn find_calls(text: &str, ranges: &ProseRanges) -> (Vec<Call>, Vec<Range<usize>>) {
    let (mut calls, mut unclosed) = (Vec::new(), Vec::new());
    let mut opens = text.match_indices("{{").map(|(at, _)| at).peekable();
    let (mut line_end, mut close, mut done) = (0, 0, 0);
    while let Some(open) = opens.next() {
        if open < done || !ranges.is_prose(&(open..open + 2)) || is_escaped(text, open) {
            continue;
        }
        let inner = open + 2;
        line_end = next(text, "\n", inner, line_end);
        close = next(text, "}}", inner, close);
        let nested = opens.peek().is_some_and(|again| *again < close);
        if close >= line_end || nested || ranges.is_code(close) {
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
            is_paragraph: false,
        });
        done = close + 2;
    }
    (calls, unclosed)
}

/// Returns the first `needle` at or after `from`; reuses the result `before` of an earlier search.
fn next(text: &str, needle: &str, from: usize, before: usize) -> usize {
    if before >= from {
        return before;
    }
    text[from..].find(needle).map_or(text.len(), |at| from + at)
}

/// Returns whether an odd number of backslashes precedes byte `at`.
pub(crate) fn is_escaped(text: &str, at: usize) -> bool {
    text[..at].bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Replaces each call with letters. The first one is not ASCII, so that it cannot start a tag, a scheme or a list marker.
fn mask(text: &str, calls: &[Call]) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut at = 0;
    for call in calls {
        masked.push_str(&text[at..call.range.start]);
        masked.push('\u{101}');
        masked.extend(std::iter::repeat_n('x', call.range.len() - '\u{101}'.len_utf8()));
        at = call.range.end;
    }
    masked.push_str(&text[at..]);
    masked
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::BODY;

    fn sources(text: &str) -> Vec<String> {
        let masked = MaskedText::new(text, BODY);
        assert_eq!(masked.text.len(), text.len(), "offsets stay the same");
        masked.calls.into_iter().map(|call| call.source).collect()
    }

    #[test]
    fn calls_may_contain_markup_characters() {
        assert_eq!(sources("*a {{ f(\"x_y\", \"a*b_c\") }} b*"), ["f(\"x_y\", \"a*b_c\")"]);
        assert_eq!(sources("| a |\n|---|\n| {{ f(1|2) }} |"), ["f(1|2)"]);
        assert_eq!(sources("## Needs {{ f(\"x\").kv }}"), ["f(\"x\").kv"]);
        assert_eq!(sources("{{ a `b` }} [{{ c }}](/d)"), ["a `b`", "c"]);
    }

    #[test]
    fn code_destinations_and_escapes_contain_no_calls() {
        assert!(sources("`{{ a }}`").is_empty());
        assert!(sources("```\n{{ a }}\n```").is_empty());
        assert!(sources("    {{ a }}").is_empty());
        assert!(sources("[x](/{{a}})").is_empty());
        assert!(sources("<https://example.org/{{a}}>").is_empty());
        assert!(sources("\\{{ a }}").is_empty());
    }

    #[test]
    fn a_call_ends_on_its_line() {
        let masked = MaskedText::new("a {{ b\n}} c {{ d {{ e }}", BODY);
        assert_eq!(masked.unclosed, [2..4, 12..14]);
        assert_eq!(masked.calls.len(), 1);
        assert_eq!(masked.calls[0].inner_range, 20..21);
    }
}
