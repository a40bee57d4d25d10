//! The diagnosis of a log that arrives in pieces, in bounded memory.

use crate::index::{Diagnosis, Index};
use crate::reading::Progress;

/// So many bytes are read at once.
const PIECE: usize = 1 << 20;
/// So many bytes before and behind a message are at hand when its figures and its place are read.
const AROUND: usize = 1 << 16;

/// A log that is being read. The result is that of [`Index::diagnose`] on the whole, unless a message has more
/// than 64 KiB of white space and colours around its figures.
#[derive(Debug)]
pub struct LogStream<'index> {
    index: &'index Index,
    progress: Progress,
    buffer: String,
    /// So many bytes are taken at once; `PIECE` but in tests.
    piece: usize,
}

impl<'index> LogStream<'index> {
    pub(crate) fn new(index: &'index Index) -> Self {
        Self { index, progress: Progress::new(), buffer: String::new(), piece: PIECE }
    }

    /// Reads on.
    pub fn feed(&mut self, piece: &str) {
        let mut rest = piece;
        while !rest.is_empty() {
            let full = self.piece + 2 * AROUND;
            let length = boundary(rest, full + 4 - self.buffer.len().min(full));
            self.buffer.push_str(&rest[..length]);
            rest = &rest[length..];
            if self.buffer.len() > full {
                self.take();
            }
        }
    }

    /// Takes what has enough behind it, and drops what is no longer needed before that.
    fn take(&mut self) {
        let until = line_start(&self.buffer, self.buffer.len() - AROUND);
        let cut = line_start(&self.buffer, until.saturating_sub(AROUND));
        self.index.reader().take(&self.buffer, until, cut, &mut self.progress);
        self.buffer.drain(..cut);
    }

    /// The end of the log: the pages that fit it, best first.
    pub fn finish(mut self) -> Diagnosis {
        let end = self.buffer.len();
        self.index.reader().take(&self.buffer, end, end, &mut self.progress);
        self.index.conclude(&self.progress)
    }
}

/// The last beginning of a line before this byte, or at least of a character.
fn line_start(text: &str, at: usize) -> usize {
    let at = boundary(text, at);
    let from = boundary(text, at.saturating_sub(AROUND / 2));
    text[from..at].rfind('\n').map_or(at, |end| from + end + 1)
}

/// The last beginning of a character up to this byte.
pub(crate) fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extractor, Field, Kind, Page, Pattern, Place, Signature};

    #[test]
    fn a_log_in_pieces_comes_to_the_same_end_as_the_whole() {
        let pattern =
            Pattern::parse("CUDA out of memory. Tried to allocate {requested:bytes}").expect("well formed");
        let free = Pattern::parse("{free:bytes} free").expect("well formed");
        let train = Pattern::parse("loss.backward(").expect("well formed");
        let mut signature = Signature::of(pattern);
        signature.extract = Some("figures".into());
        let extractor = Extractor {
            name: "figures".into(),
            fields: vec![Field { name: "free".into(), patterns: vec![free], repeat: false }],
            places: vec![Place { name: "train".into(), fragments: vec![train] }],
            ..Extractor::default()
        };
        let page = Page {
            slug: "cuda-oom".into(),
            kind: Kind::Cause,
            signatures: vec![signature],
            causes: Vec::new(),
        };
        let index = Index::build(&[page], &[extractor]);
        let filler = "INFO 03-01 10:22:33 [core.py:708] 解 step 17 of 100, loss 0.25\n".repeat(1500);
        let message = "  File \"a.py\", line 3, in train\n    loss.backward()\nRuntimeError: CUDA out of memory. Tried to \
                       allocate 1.00 GiB (GPU 0; 8.00 GiB total capacity; 7.00 GiB already allocated; 0 bytes free; \
                       7.50 GiB reserved in total)\n";
        for log in [
            format!("{filler}{message}{filler}{filler}"),
            format!("{message}{filler}{filler}"),
            format!("{filler}é{}{message}", filler.replace('\n', " ").repeat(2)),
            message.repeat(1500),
            String::new(),
        ] {
            let whole = index.read(&log);
            assert_eq!(whole.matches.is_empty(), log.is_empty());
            assert!(
                whole
                    .matches
                    .iter()
                    .all(|found| found.figures.len() == 3 && found.quote.contains("Tried to"))
            );
            for (fed, piece) in [(20_001, 50_000), (300_000, 34_000)] {
                let mut stream = index.stream();
                stream.piece = piece;
                let mut rest = log.as_str();
                while !rest.is_empty() {
                    let (some, after) = rest.split_at(boundary(rest, fed));
                    stream.feed(some);
                    assert!(stream.buffer.len() <= piece + 2 * AROUND + 4);
                    rest = after;
                }
                assert_eq!(stream.finish(), whole, "{fed} bytes fed, {piece} taken");
            }
        }
    }
}
