//! Converts Markdown to plain text, for search, descriptions and data.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::markdown::BODY;
use crate::markdown::calls::{MaskedText, Segment};
use crate::markdown::inline::InlineLine;

/// Replaces estimator calls, whose values only pages have.
const CALL_PLACEHOLDER: &str = "…";

/// Converts a body: each block on its own line, with code, without marks, addresses and raw HTML.
pub fn plain(text: &str) -> String {
    let masked = MaskedText::new(text, BODY);
    let mut out = String::new();
    for (event, range) in Parser::new_ext(&masked.text, BODY).into_offset_iter() {
        match event {
            Event::Text(text) => push(&mut out, &masked, &text, &range),
            Event::Code(text) => out.push_str(&text),
            Event::SoftBreak | Event::End(TagEnd::TableCell) => out.push(' '),
            Event::HardBreak | Event::Start(Tag::List(_)) => end_line(&mut out),
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::Item
                | TagEnd::TableRow
                | TagEnd::TableHead
                | TagEnd::CodeBlock,
            ) => end_line(&mut out),
            _ => {}
        }
    }
    out.truncate(out.trim_end().len());
    out
}

/// Converts one line; see [`crate::markdown::inline()`].
pub fn plain_inline(text: &str) -> String {
    let line = InlineLine::new(text);
    let masked = MaskedText::new(&line.padded, Options::empty());
    let mut out = String::new();
    line.for_each_event(&masked, |event, range| match event {
        Event::Text(text) => push(&mut out, &masked, text, range),
        Event::Code(text) | Event::InlineHtml(text) => out.push_str(text),
        _ => {}
    });
    out
}

fn push(out: &mut String, masked: &MaskedText, text: &str, range: &std::ops::Range<usize>) {
    for segment in masked.segments(text, range) {
        out.push_str(match segment {
            Segment::Text(text) => text,
            Segment::Call(_) => CALL_PLACEHOLDER,
        });
    }
}

fn end_line(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}
