//! Text that knows the line of the original file of each of its lines.

use std::ops::Range;

/// A replacement of a byte range.
pub(super) type Replacement = (Range<usize>, String);

/// A text with the original line numbers of its lines.
#[derive(Debug, Clone, Default)]
pub(super) struct TracedText {
    /// The text, with `\n` at the ends of lines.
    text: String,
    /// Original number of each line.
    lines: Vec<usize>,
    /// Byte offset of each line.
    starts: Vec<usize>,
}

impl TracedText {
    /// Creates a text whose first line has the number `first`.
    pub fn new(text: &str, first: usize) -> Self {
        let text = text.replace("\r\n", "\n");
        let lines = (first..=first + text.matches('\n').count()).collect();
        let starts = line_starts(&text);
        Self { text, lines, starts }
    }

    /// Returns the text, with `\n` at the ends of lines.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the original line of a byte offset.
    pub fn line(&self, at: usize) -> usize {
        let index = self.starts.partition_point(|start| *start <= at).saturating_sub(1);
        self.lines.get(index).or(self.lines.last()).copied().unwrap_or(1)
    }

    /// Removes a mark, which is no line end, wherever it occurs.
    pub fn remove(&mut self, mark: char) {
        self.text = self.text.replace(mark, "");
        self.starts = line_starts(&self.text);
    }

    /// Applies replacements; of overlapping ones, only the first.
    pub fn apply(&mut self, mut edits: Vec<Replacement>) {
        edits.sort_by_key(|(range, _)| (range.start, range.end));
        let (mut text, mut lines) = (String::with_capacity(self.text.len()), vec![self.line(0)]);
        let (mut at, mut index) = (0, 0);
        for (range, new) in edits {
            if range.start < at {
                continue;
            }
            self.copy(at..range.start, &mut index, &mut text, &mut lines);
            let origin = self.lines.get(index).copied().unwrap_or(1);
            lines.extend(new.matches('\n').map(|_| origin));
            text.push_str(&new);
            index += self.text[range.clone()].matches('\n').count();
            at = range.end;
        }
        self.copy(at..self.text.len(), &mut index, &mut text, &mut lines);
        self.starts = line_starts(&text);
        (self.text, self.lines) = (text, lines);
    }

    fn copy(&self, range: Range<usize>, index: &mut usize, text: &mut String, lines: &mut Vec<usize>) {
        let part = &self.text[range];
        for _ in part.matches('\n') {
            *index += 1;
            lines.push(self.lines.get(*index).copied().unwrap_or(1));
        }
        text.push_str(part);
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers() {
        let mut text = TracedText::new("a\nb\r\nc\nd", 5);
        text.apply(vec![(2..3, "x\ny\nz".into()), (0..1, String::new()), (2..4, "overlapping".into())]);
        assert_eq!(text.text, "\nx\ny\nz\nc\nd");
        let line = |part: &str| text.line(text.text.find(part).unwrap());
        assert_eq!([line("x"), line("z"), line("c"), line("d")], [6, 6, 7, 8]);
    }
}
