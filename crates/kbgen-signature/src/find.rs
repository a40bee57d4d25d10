//! Where a pattern stands in a normal text: verification around a piece of literal text.

use crate::anchor::{Anchor, piece};
use crate::effort::Effort;
use crate::figure::{Figure, Figures};
use crate::hole::{hole_ends, hole_figure, hole_start};
use crate::normal::{GAP_BREAK, GAP_NONE, NormalText};
use crate::pattern::{HoleType, Part, Pattern};

/// A pattern of fewer literal characters is a word of its own: it takes no mended line ends and no part of
/// another word.
const SHORT: usize = 12;
/// From this many literal characters on, lost or added spaces between words are forgiven.
const LONG: usize = 20;
/// How many places for the end of a hole are tried before a place is given up.
const TRIES: usize = 512;

/// A pattern that is ready to be looked for.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    parts: Vec<Piece>,
    names: Vec<String>,
    letters: usize,
    typed: usize,
    /// Where the first literal text stands, and the one that the pattern is searched by.
    first: usize,
    anchor: Anchor,
    /// The most characters between the beginnings of these two.
    reach: usize,
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

/// The state of a comparison.
struct Way<'w> {
    text: &'w NormalText,
    holes: &'w mut Vec<(usize, usize)>,
    tries: &'w mut usize,
    effort: &'w mut Effort,
}

impl Piece {
    /// The most characters that it takes.
    fn longest(&self) -> usize {
        match self {
            Self::Text { bytes, .. } => bytes.len(),
            Self::Hole(hole) => hole.longest(),
        }
    }
}

impl Matcher {
    /// Prepares a pattern.
    pub fn new(pattern: &Pattern, anchor: Anchor) -> Self {
        let mut matcher = Self {
            parts: Vec::new(),
            names: Vec::new(),
            letters: 0,
            typed: 0,
            first: usize::from(matches!(pattern.parts.first(), Some(Part::Hole(..)))),
            anchor,
            reach: 0,
            forgiving: (SHORT, LONG),
        };
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
        let between = matcher.parts.get(matcher.first..anchor.0).unwrap_or_default();
        matcher.reach = between.iter().map(Piece::longest).sum();
        matcher
    }

    /// Prepares a pattern that is looked for within a message that was found already, and so may be short.
    pub fn within_message(pattern: &Pattern) -> Self {
        Self { forgiving: (0, 0), ..Self::new(pattern, Anchor(0, 0)) }
    }

    /// How much the pattern says: its literal characters, and a little for each typed hole.
    pub fn weight(&self) -> usize {
        self.letters + 3 * self.typed
    }

    /// The first literal text, which every place begins with, but for a hole before it.
    pub fn beginning(&self) -> &[u8] {
        self.literal_text(self.first)
    }

    /// The text that every place begins with; empty where a hole stands before it.
    pub fn first_text(&self) -> &[u8] {
        self.literal_text(0)
    }

    /// The piece of literal text that the pattern is searched by.
    pub fn anchor(&self) -> &[u8] {
        let Anchor(part, offset) = self.anchor;
        piece(self.literal_text(part.max(self.first)), offset)
    }

    /// The first places where [`beginning`](Self::beginning) may be, where the anchor is at `at`: the first one, and
    /// the one behind the last.
    pub fn beginnings(&self, at: usize) -> Option<(usize, usize)> {
        let literal = at.checked_sub(self.anchor.1)?;
        if self.anchor.0 <= self.first {
            return Some((literal, literal + 1));
        }
        let last = literal.checked_sub(self.beginning().len())?;
        Some((literal.saturating_sub(self.reach), last + 1))
    }

    fn literal_text(&self, part: usize) -> &[u8] {
        match self.parts.get(part) {
            Some(Piece::Text { bytes, .. }) => bytes,
            _ => &[],
        }
    }

    /// The pattern with its first literal text at `at`, if it stands there.
    pub fn stands(&self, text: &NormalText, at: usize, effort: &mut Effort) -> Option<Span> {
        let mut span = Span { start: at, end: at, holes: Vec::new() };
        effort.charge(8)?;
        if let Some(Piece::Hole(hole)) = self.parts.first() {
            effort.charge(32)?;
            span.start = hole_start(text, *hole, at)?;
            span.holes.push((span.start, at));
        } else if at > 0 && text.gaps[at] == GAP_NONE && alike(text.bytes[at - 1], text.bytes[at]) {
            return None;
        }
        let mut tries = TRIES;
        let mut way = Way { text, holes: &mut span.holes, tries: &mut tries, effort };
        span.end = self.rest(&mut way, self.first, at, span.start == at)?;
        Some(span)
    }

    fn rest(&self, way: &mut Way<'_>, piece: usize, at: usize, first: bool) -> Option<usize> {
        match self.parts.get(piece) {
            None => self.ends_well(way.text, at).then_some(at),
            Some(Piece::Text { bytes, spaced }) => {
                way.effort.charge(1 + bytes.len() / 16)?;
                let end = self.literal(way.text, at, bytes, spaced, first)?;
                self.rest(way, piece + 1, end, false)
            }
            Some(Piece::Hole(hole)) => {
                if piece + 1 == self.parts.len() && *hole == HoleType::Any {
                    let end = line_end(way.text, at);
                    way.holes.push((at, end));
                    return Some(end);
                }
                let ends = hole_ends(way.text, *hole, at);
                way.effort.charge(8 + ends.len())?;
                for end in ends {
                    *way.tries = way.tries.checked_sub(1)?;
                    if !self.may_go_on(way.text, piece + 1, end) {
                        continue;
                    }
                    way.holes.push((at, end));
                    if let Some(found) = self.rest(way, piece + 1, end, false) {
                        return Some(found);
                    }
                    way.holes.pop();
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
    pub fn first_in(&self, text: &NormalText, from: usize, to: usize, effort: &mut Effort) -> Option<Span> {
        let anchor = self.beginning();
        let to = to.min(text.len());
        effort.charge(to.saturating_sub(from) / 16)?;
        let mut at = from;
        while at + anchor.len() <= to {
            let next = text.bytes[at..to - anchor.len() + 1].iter().position(|byte| *byte == anchor[0])?;
            at += next;
            if text.bytes[at..].starts_with(anchor)
                && let Some(span) = self.stands(text, at, effort)
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
    while end < text.len() && end - from < crate::hole::REACH && (end == from || text.gaps[end] != GAP_BREAK)
    {
        end += 1;
    }
    end
}

/// A literal of a pattern as characters, and before which of them white space stands.
pub(crate) fn spell(text: &str) -> (Vec<u8>, Vec<bool>) {
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
        let matcher = Matcher::new(&Pattern::parse(pattern).expect(pattern), Anchor(0, 0));
        let text = NormalText::of_log(log);
        let span = matcher.first_in(&text, 0, text.len(), &mut Effort::new())?;
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
