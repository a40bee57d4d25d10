//! Diagnoses a log in chunks, with bounded memory.

use crate::index::{Diagnosis, Index};
use crate::scanner::ScanState;

/// Bytes that are scanned at a time.
const CHUNK_LENGTH: usize = 1 << 20;
/// Bytes before and after a message that are available when its figures are extracted.
const CONTEXT_LENGTH: usize = 1 << 16;

/// Diagnoses a log that arrives in chunks. The result is that of [`Index::diagnose`] on the whole log, unless a message has
/// more than 64 KiB of white space and color codes around its figures.
#[derive(Debug)]
pub struct LogStream<'index> {
    index: &'index Index,
    state: ScanState,
    buffer: String,
    /// [`CHUNK_LENGTH`], except in tests.
    chunk_length: usize,
}

impl<'index> LogStream<'index> {
    pub(crate) fn new(index: &'index Index) -> Self {
        Self { index, state: index.scanner().start(), buffer: String::new(), chunk_length: CHUNK_LENGTH }
    }

    /// Adds text to the log.
    pub fn feed(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let full = self.chunk_length + 2 * CONTEXT_LENGTH;
            let length = floor_char_boundary(rest, full + 4 - self.buffer.len().min(full));
            self.buffer.push_str(&rest[..length]);
            rest = &rest[length..];
            if self.buffer.len() > full {
                self.scan_buffer();
            }
        }
    }

    /// Scans the text that has enough context after it, and drops the text that no later match needs.
    fn scan_buffer(&mut self) {
        let until = line_start(&self.buffer, self.buffer.len() - CONTEXT_LENGTH);
        let cut = line_start(&self.buffer, until.saturating_sub(CONTEXT_LENGTH));
        self.index.scanner().scan_chunk(&self.buffer, until, cut, &mut self.state);
        self.buffer.drain(..cut);
    }

    /// Scans the rest and returns the result.
    pub fn finish(mut self) -> Diagnosis {
        let end = self.buffer.len();
        self.index.scanner().scan_chunk(&self.buffer, end, end, &mut self.state);
        self.index.finish(&self.state)
    }
}

/// Returns the last start of a line up to byte `at`, or of a character if there is no line start nearby.
fn line_start(text: &str, at: usize) -> usize {
    let at = floor_char_boundary(text, at);
    let from = floor_char_boundary(text, at.saturating_sub(CONTEXT_LENGTH / 2));
    text[from..at].rfind('\n').map_or(at, |end| from + end + 1)
}

/// Returns the last character boundary up to byte `at`.
pub(crate) fn floor_char_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Extractor, FigureField, Kind, Page, Pattern, PlaceRule, Signature};

    #[test]
    fn chunks_give_the_same_result_as_the_whole_log() {
        let pattern =
            Pattern::parse("CUDA out of memory. Tried to allocate {requested:bytes}").expect("well formed");
        let free = Pattern::parse("{free:bytes} free").expect("well formed");
        let train = Pattern::parse("loss.backward(").expect("well formed");
        let mut signature = Signature::of(pattern);
        signature.extract = Some("figures".into());
        let extractor = Extractor {
            name: "figures".into(),
            fields: vec![FigureField { name: "free".into(), patterns: vec![free], repeat: false }],
            places: vec![PlaceRule { name: "train".into(), fragments: vec![train] }],
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
            let whole = index.diagnose(&log);
            assert_eq!(whole.matches.is_empty(), log.is_empty());
            assert!(
                whole
                    .matches
                    .iter()
                    .all(|found| found.figures.len() == 3 && found.quote.line.contains("Tried to"))
            );
            for (fed, chunk_length) in [(20_001, 50_000), (300_000, 34_000)] {
                let mut stream = index.stream();
                stream.chunk_length = chunk_length;
                let mut rest = log.as_str();
                while !rest.is_empty() {
                    let (some, after) = rest.split_at(floor_char_boundary(rest, fed));
                    stream.feed(some);
                    assert!(stream.buffer.len() <= chunk_length + 2 * CONTEXT_LENGTH + 4);
                    rest = after;
                }
                assert_eq!(stream.finish(), whole, "{fed} bytes fed, {chunk_length} scanned");
            }
        }
    }
}
