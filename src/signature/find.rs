//! Where a pattern stands in a normal text: verification around a piece of literal text.

use crate::signature::figure::{Figure, Figures};
use crate::signature::hole::{hole_ends, hole_figure, hole_start};
use crate::signature::normal::{GAP_BREAK, GAP_NONE, NormalText};
use crate::signature::pattern::{HoleType, Part, Pattern};

/// A pattern of fewer literal characters is a word of its own: it takes no mended line ends and no part of
/// another word.
const SHORT: usize = 12;
/// From this many literal characters on, lost or added spaces between words are forgiven.
const LONG: usize = 20;
/// How many places for the end of a hole are tried before a place is given up.
const BUDGET: usize = 512;

/// A pattern that is ready to be looked for.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    parts: Vec<Piece>,
    names: Vec<String>,
    letters: usize,
    typed: usize,
    /// Literal characters from which on mended line ends, and lost or added spaces, are forgiven.
    forgiving: (usize, usize),
}

#[derive(Debug, Clone)]
enum Piece {
    Text { bytes: Vec<u8>, spaced: Vec<bool> },
    Hole(HoleType),
}

/// A place where a pattern stands: characters of the normal text, and what its holes took.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Span {
    pub start: usize,
    pub end: usize,
    holes: Vec<(usize, usize)>,
}

impl Matcher {
    /// Prepares a pattern.
    pub fn new(pattern: &Pattern) -> Self {
        let mut matcher =
            Self { parts: Vec::new(), names: Vec::new(), letters: 0, typed: 0, forgiving: (SHORT, LONG) };
        for part in &pattern.parts {
            matcher.parts.push(match part {
                Part::Text(text) => {
                    let (bytes, spaced) = spell(text);
                    matcher.letters += bytes.len();
                    Piece::Text { bytes, spaced }
                }
                Part::Hole(hole, name) => {
                    matcher.typed += usize::from(*hole != HoleType::Any);
                    matcher.names.push(name.clone());
                    Piece::Hole(*hole)
                }
            });
        }
        matcher
    }

    /// Prepares a pattern that is looked for within a message that was found already, and so may be short.
    pub fn within_message(pattern: &Pattern) -> Self {
        Self { forgiving: (0, 0), ..Self::new(pattern) }
    }

    /// How much the pattern says: its literal characters, and a little for each typed hole.
    pub fn weight(&self) -> usize {
        self.letters + 3 * self.typed
    }

    /// The first literal text, which the scan looks for.
    pub fn anchor(&self) -> &[u8] {
        self.parts
            .iter()
            .find_map(|piece| match piece {
                Piece::Text { bytes, .. } => Some(bytes.as_slice()),
                Piece::Hole(_) => None,
            })
            .unwrap_or(&[])
    }

    /// The pattern with its first literal text at `at`, if it stands there.
    pub fn stands(&self, text: &NormalText, at: usize) -> Option<Span> {
        let mut span = Span { start: at, end: at, holes: Vec::new() };
        let mut piece = 0;
        if let Some(Piece::Hole(hole)) = self.parts.first() {
            span.start = hole_start(text, *hole, at)?;
            span.holes.push((span.start, at));
            piece = 1;
        } else if at > 0 && text.gaps[at] == GAP_NONE && alike(text.bytes[at - 1], text.bytes[at]) {
            return None;
        }
        let mut budget = BUDGET;
        span.end = self.rest(text, piece, at, span.start == at, &mut span.holes, &mut budget)?;
        Some(span)
    }

    fn rest(
        &self,
        text: &NormalText,
        piece: usize,
        at: usize,
        first: bool,
        holes: &mut Vec<(usize, usize)>,
        budget: &mut usize,
    ) -> Option<usize> {
        match self.parts.get(piece) {
            None => self.ends_well(text, at).then_some(at),
            Some(Piece::Text { bytes, spaced }) => {
                let end = self.literal(text, at, bytes, spaced, first)?;
                self.rest(text, piece + 1, end, false, holes, budget)
            }
            Some(Piece::Hole(hole)) => {
                if piece + 1 == self.parts.len() && *hole == HoleType::Any {
                    holes.push((at, line_end(text, at)));
                    return Some(line_end(text, at));
                }
                for end in hole_ends(text, *hole, at) {
                    *budget = budget.checked_sub(1)?;
                    if !self.may_go_on(text, piece + 1, end) {
                        continue;
                    }
                    holes.push((at, end));
                    if let Some(found) = self.rest(text, piece + 1, end, false, holes, budget) {
                        return Some(found);
                    }
                    holes.pop();
                }
                None
            }
        }
    }

    /// Whether the literal text after a hole can begin here: a cheap look before the full comparison.
    fn may_go_on(&self, text: &NormalText, piece: usize, at: usize) -> bool {
        match self.parts.get(piece) {
            Some(Piece::Text { bytes, .. }) => text.bytes.get(at) == bytes.first(),
            _ => true,
        }
    }

    fn literal(
        &self,
        text: &NormalText,
        at: usize,
        bytes: &[u8],
        spaced: &[bool],
        first: bool,
    ) -> Option<usize> {
        if text.bytes.get(at..at + bytes.len())? != bytes {
            return None;
        }
        let begin = usize::from(first || at == 0);
        for (index, &wanted) in spaced.iter().enumerate().skip(begin) {
            let place = at + index;
            let gap = text.gaps[place];
            if wanted == (gap != GAP_NONE) || !joined(text.bytes[place - 1], text.bytes[place]) {
                continue;
            }
            let mended = !wanted && gap == GAP_BREAK;
            let (mending, spacing) = self.forgiving;
            if self.letters < if mended { mending } else { spacing } {
                return None;
            }
        }
        Some(at + bytes.len())
    }

    fn ends_well(&self, text: &NormalText, end: usize) -> bool {
        if end >= text.len() || text.gaps[end] != GAP_NONE {
            return true;
        }
        let (last, next) = (text.bytes[end - 1], text.bytes[end]);
        if last.is_ascii_digit() && next.is_ascii_digit() {
            return matches!(self.parts.last(), Some(Piece::Hole(_)));
        }
        self.letters >= SHORT || !joined(last, next)
    }

    /// The figures that the named holes took.
    pub fn figures(&self, text: &NormalText, original: &str, span: &Span) -> Figures {
        let mut figures = Figures::default();
        for (name, figure) in self.hole_figures(text, original, span) {
            if !name.is_empty() {
                figures.add(name, figure);
            }
        }
        figures
    }

    /// What the first named hole took.
    pub fn named_figure(&self, text: &NormalText, original: &str, span: &Span) -> Option<Figure> {
        self.hole_figures(text, original, span).find(|(name, _)| !name.is_empty()).map(|(_, figure)| figure)
    }

    fn hole_figures<'a>(
        &'a self,
        text: &'a NormalText,
        original: &'a str,
        span: &'a Span,
    ) -> impl Iterator<Item = (&'a str, Figure)> {
        let holes = self.parts.iter().filter_map(|piece| match piece {
            Piece::Hole(hole) => Some(*hole),
            Piece::Text { .. } => None,
        });
        holes.zip(&self.names).zip(&span.holes).filter_map(|((hole, name), (from, to))| {
            Some((name.as_str(), hole_figure(text, original, hole, *from, *to)?))
        })
    }

    /// The first place from `from` up to `to` where the pattern stands.
    pub fn first_in(&self, text: &NormalText, from: usize, to: usize) -> Option<Span> {
        let anchor = self.anchor();
        let to = to.min(text.len());
        let mut at = from;
        while at + anchor.len() <= to {
            let next = text.bytes[at..to - anchor.len() + 1].iter().position(|byte| *byte == anchor[0])?;
            at += next;
            if text.bytes[at..].starts_with(anchor)
                && let Some(span) = self.stands(text, at)
                && span.start >= from
                && span.end <= to
            {
                return Some(span);
            }
            at += 1;
        }
        None
    }
}

/// Whether two neighbors would be one word.
fn joined(left: u8, right: u8) -> bool {
    left.is_ascii_alphanumeric() && right.is_ascii_alphanumeric()
}

/// Whether two neighbors are letters of one word or digits of one number; `2.83s/it` has `s/it`.
fn alike(left: u8, right: u8) -> bool {
    left.is_ascii_alphabetic() && right.is_ascii_alphabetic()
        || left.is_ascii_digit() && right.is_ascii_digit()
}

/// The end of the line, at most as far as a hole reaches.
fn line_end(text: &NormalText, from: usize) -> usize {
    let mut end = from;
    while end < text.len()
        && end - from < crate::signature::hole::REACH
        && (end == from || text.gaps[end] != GAP_BREAK)
    {
        end += 1;
    }
    end
}

/// A literal of a pattern as characters, and before which of them white space stands.
fn spell(text: &str) -> (Vec<u8>, Vec<bool>) {
    let (mut bytes, mut spaced) = (Vec::new(), Vec::new());
    let mut space = false;
    for character in text.chars() {
        if character == ' ' {
            space = true;
            continue;
        }
        bytes.push((character as u32 & 0xff) as u8);
        spaced.push(space);
        space = false;
    }
    (bytes, spaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pattern: &str, log: &str) -> Option<String> {
        let matcher = Matcher::new(&Pattern::parse(pattern).expect(pattern));
        let text = NormalText::of_log(log);
        let span = matcher.first_in(&text, 0, text.len())?;
        let figures = matcher.figures(&text, log, &span);
        Some(serde_json::to_string(&figures).expect("figures are plain data"))
    }

    #[test]
    fn holes_take_what_their_type_says() {
        for (pattern, log, expected) in [
            ("allocate {n:bytes}. GPU", "allocate 2.50 GiB. GPU 0", r#"{"n":2684354560}"#),
            ("allocate {n:bytes} (GPU", "allocate 20.00 MiB (GPU 0;", r#"{"n":20971520}"#),
            ("allocate {n:bytes}", "tried to allocate 1073741824 bytes.", r#"{"n":1073741824}"#),
            ("of size {n:bytes} but", "of size 440449768 but has", r#"{"n":440449768}"#),
            ("expected {a:int}, got {b:int}", "expected 292, got 291", r#"{"a":292,"b":291}"#),
            ("utilization ({u:float},", "utilization (0.6, 47", r#"{"u":0.6}"#),
            ("magic number {m:hex}", "magic number 73726576", r#"{"m":"73726576"}"#),
            (
                "driver version {v:version}",
                "Driver Version: x driver version 580.105.08, CUDA",
                r#"{"v":"580.105.08"}"#,
            ),
            ("library {l:path}:", "library C:\\Users\\Me\\a.dll: not", r#"{"l":"C:\\Users\\Me\\a.dll"}"#),
            ("architecture: {a:quoted}", "architecture: 'Llama4'", r#"{"a":"Llama4"}"#),
            ("tensor {t:word} not found", "tensor blk.0.W not found", r#"{"t":"blk.0.W"}"#),
            ("Model {m:any} is not supported", "Model Glm4v Moe is not supported", r#"{"m":"Glm4v Moe"}"#),
            ("unknown projector: {p:any}", "unknown projector: a B\nnext", r#"{"p":"a B"}"#),
            ("{free:bytes} free; {int} more", "x; 0 bytes free; 3 more", r#"{"free":0}"#),
            ("{free:bytes} is free", "of which 235.06 MiB is free", r#"{"free":246478275}"#),
            (
                "{file:path}: undefined symbol",
                "ImportError: /a/B.so: undefined symbol: _Z",
                r#"{"file":"/a/B.so"}"#,
            ),
        ] {
            assert_eq!(read(pattern, log).as_deref(), Some(expected), "{pattern} on {log}");
        }
    }

    #[test]
    fn white_space_and_line_ends_do_not_matter() {
        for log in [
            "CUDA out of memory.  Tried\n to allocate 2 GiB",
            "CUDA out of mem\nory. Tried to allocate 2\n GiB",
            "│ CUDA out of mem │\n│ ory. Tried to allocate 2 Gi │\n│ B │",
            "cuda OUT of memory.Tried to allocate 2GiB",
        ] {
            assert_eq!(
                read("CUDA out of memory. Tried to allocate {n:bytes}", log).as_deref(),
                Some("{\"n\":2147483648}"),
                "{log}"
            );
        }
    }

    #[test]
    fn a_pattern_stands_at_the_beginning_of_a_word() {
        assert_eq!(read("EngineDeadError", "AsyncEngineDeadError: x"), None);
        assert_eq!(read("OUT_OF_HOST_MEMORY", "PI_ERROR_OUT_OF_HOST_MEMORY").as_deref(), Some("{}"));
        assert_eq!(read("undefined symbol: _ZN", "undefined symbol: _ZN3c10").as_deref(), Some("{}"));
        assert_eq!(read("signal 4", "by signal 47"), None);
        assert_eq!(read("Killed", "Killedby"), None);
        assert_eq!(read("Killed", "Kil\nled"), None);
        assert_eq!(read("Killed", "[00:08]Killed").as_deref(), Some("{}"));
        assert_eq!(read("s/it]Killed", "2.83s/it]Killed").as_deref(), Some("{}"));
    }

    #[test]
    fn a_word_may_have_to_be_a_whole_line() {
        for log in [
            "Killed",
            "loading\nKilled\n$",
            "│ Killed │",
            "Mar 01 10:22:33 host app[1]: Killed\r\n",
            "> Killed",
        ] {
            assert_eq!(read("{start}Killed{end}", log).as_deref(), Some("{}"), "{log:?}");
        }
        for log in ["is Killed", "Killed process 7", "[1] 12 Killed"] {
            assert_eq!(read("{start}Killed{end}", log), None, "{log:?}");
        }
        assert_eq!(
            read("line {int}: {int} Killed{end}", "./a.sh: line 4: 6516 Killed\n").as_deref(),
            Some("{}")
        );
    }

    #[test]
    fn a_hole_is_bounded() {
        let near = format!("Model {} is not supported", "x".repeat(120));
        let far = format!("Model {} is not supported", "x".repeat(121));
        assert!(read("Model {any} is not supported", &near).is_some());
        assert!(read("Model {any} is not supported", &far).is_none());
    }
}
