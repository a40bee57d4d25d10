//! Markdown as plain text, for search, descriptions and data.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::markdown::BODY;
use crate::markdown::calls::{Covered, Segment};
use crate::markdown::inline::Line;

/// What stands in plain text for a figure, which only a page can fill in.
const FIGURE: &str = "…";

/// A body as plain text: blocks on lines of their own, code as it is, no marks, addresses or raw HTML.
pub fn plain(text: &str) -> String {
    let covered = Covered::new(text, BODY);
    let mut out = String::new();
    for (event, range) in Parser::new_ext(&covered.text, BODY).into_offset_iter() {
        match event {
            Event::Text(text) => push(&mut out, &covered, &text, &range),
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

/// One line of Markdown as plain text, read as [`crate::markdown::inline()`] reads it.
pub fn plain_inline(text: &str) -> String {
    let line = Line::new(text);
    let covered = Covered::new(&line.padded, Options::empty());
    let mut out = String::new();
    line.each(&covered, |event, range| match event {
        Event::Text(text) => push(&mut out, &covered, text, range),
        Event::Code(text) | Event::InlineHtml(text) => out.push_str(text),
        _ => {}
    });
    out
}

fn push(out: &mut String, covered: &Covered, text: &str, range: &std::ops::Range<usize>) {
    for segment in covered.segments(text, range) {
        out.push_str(match segment {
            Segment::Text(text) => text,
            Segment::Call(_) => FIGURE,
        });
    }
}

fn end_line(out: &mut String) {
    out.truncate(out.trim_end_matches(' ').len());
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}
