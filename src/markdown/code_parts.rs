//! Finds the code in Markdown: lines of code blocks, and code spans.

use std::ops::Range;

/// A line of a code block, or a code span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodePart {
    /// Byte range in the text.
    pub range: Range<usize>,
    /// Whether it is a line of a code block.
    pub in_fence: bool,
}

/// Returns the code in a text, in order. A code span ends on its line.
pub fn code_parts(text: &str) -> Vec<CodePart> {
    let mut parts = Vec::new();
    let (mut start, mut in_fence) = (0, false);
    for line in text.split_inclusive('\n') {
        let end = start + line.trim_end().len();
        if line.trim_start().starts_with("```") {
            in_fence = !in_fence;
        } else if in_fence {
            parts.push(CodePart { range: start..end, in_fence });
        } else {
            let mut at = start;
            for (index, part) in line.split('`').enumerate() {
                if index % 2 == 1 {
                    parts.push(CodePart { range: at..at + part.len(), in_fence });
                }
                at += part.len() + 1;
            }
        }
        start += line.len();
    }
    parts
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
}
