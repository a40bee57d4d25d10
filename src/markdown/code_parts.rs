//! Finds the code in Markdown: lines of code blocks, and code spans.

use std::ops::Range;

use pulldown_cmark::{Event, Parser, Tag, TagEnd};

use crate::markdown::BODY;
use crate::markdown::calls::MaskedText;

/// A line of a code block, or a code span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePart {
    /// Byte range in the text.
    pub range: Range<usize>,
    /// Whether it is a line of a code block.
    pub in_fence: bool,
}

/// Returns the code in a text, in order. A code span of several lines has a part for each.
pub fn code_parts(text: &str) -> Vec<CodePart> {
    let masked = MaskedText::new(text, BODY);
    let (mut parts, mut in_fence) = (Vec::new(), false);
    for (event, range) in Parser::new_ext(&masked.text, BODY).into_offset_iter() {
        match event {
            Event::Start(Tag::CodeBlock(_)) => in_fence = true,
            Event::End(TagEnd::CodeBlock) => in_fence = false,
            Event::Text(_) if in_fence => push_lines(&mut parts, text, range, in_fence),
            Event::Code(_) => {
                let ticks = text[range.clone()].bytes().take_while(|byte| *byte == b'`').count();
                push_lines(&mut parts, text, range.start + ticks..range.end - ticks, in_fence);
            }
            _ => {}
        }
    }
    parts
}

/// Adds the lines of a range, without white space around code spans and at the ends of lines.
fn push_lines(parts: &mut Vec<CodePart>, text: &str, range: Range<usize>, in_fence: bool) {
    let mut start = range.start;
    for line in text[range].split_inclusive('\n') {
        let indent = if in_fence { 0 } else { line.len() - line.trim_start().len() };
        let end = start + line.trim_end().len();
        parts.push(CodePart { range: (start + indent).min(end)..end, in_fence });
        start += line.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_in_spans_and_in_blocks() {
        let text = "Set `-ngl` or `A=1`.\n\n```bash\nrun --fast\n```\nDone.\n";
        let parts: Vec<_> =
            code_parts(text).into_iter().map(|part| (&text[part.range], part.in_fence)).collect();
        assert_eq!(parts, [("-ngl", false), ("A=1", false), ("run --fast", true)]);
    }

    #[test]
    fn every_fence_and_every_number_of_backticks_is_code() {
        let text = "~~~bash\nrun --a\n\nrun --b\n~~~\n\n````md\n```\nrun --c\n```\n````\n\n- > Or ``--d `x` `` and `--e\n  --f`.\n";
        let parts: Vec<_> =
            code_parts(text).into_iter().map(|part| (&text[part.range], part.in_fence)).collect();
        let blocks = ["run --a", "", "run --b", "```", "run --c", "```"].map(|line| (line, true));
        assert_eq!(parts[..6], blocks);
        assert_eq!(parts[6..], [("--d `x`", false), ("--e", false), ("--f", false)]);
    }
}
