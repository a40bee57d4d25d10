//! Matches one pattern at a position of a normal text.

use std::ops::Range;

use crate::anchor::{Anchor, MAX_ANCHOR_LENGTH};
use crate::figure::{Figure, Figures};
use crate::normal::{GAP_BREAK, GAP_NONE, NormalText};
use crate::pattern::{Pattern, PatternPart, PlaceholderType};
use crate::placeholder::{clause_ends, rest_end};
use crate::step_budget::StepBudget;

/// Patterns with fewer literal characters match whole words only, and no words that a line end splits.
const WHOLE_WORD_LENGTH: usize = 12;
/// Patterns with this many literal characters also match if spaces between words are missing or added.
const SPACE_TOLERANCE_LENGTH: usize = 20;
/// Maximum ends of placeholders that are tried at one position.
const MAX_TRIES: usize = 512;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    parts: Vec<MatcherPart>,
    literal_length: usize,
    typed_placeholders: usize,
    /// Index of the first literal text: 1 after a placeholder, 2 after `{start}` and a placeholder, else 0.
    first_text_part: usize,
    anchor: Anchor,
    /// Maximum characters from the start of the first literal text to the start of the part with the anchor.
    max_distance: usize,
    /// Fewest literal characters of a pattern that matches words which a line end splits.
    split_word_threshold: usize,
    /// Fewest literal characters of a pattern that matches with missing or added spaces.
    spacing_threshold: usize,
}

#[derive(Debug, Clone)]
enum MatcherPart {
    Text { bytes: Vec<u8>, spaced: Vec<bool>, joint: Joint },
    Placeholder(PlaceholderType, String),
}

/// Limits on where literal text meets the placeholders around it.
#[derive(Debug, Clone, Copy)]
struct Joint {
    /// Whether white space separates it from the placeholder before it, and that has no fixed end.
    before: bool,
    /// Whether white space separates it from the placeholder after it.
    after: bool,
    /// Whether it follows an `any`.
    follows_any: bool,
    /// Whether it is punctuation after an `any`, which separates texts only together with its white space: not the colon of
    /// `https://`.
    is_strict: bool,
}

/// The extent of a match and of its placeholders, in characters of the normal text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MatchSpan {
    pub start: usize,
    pub end: usize,
    placeholders: Vec<(usize, usize)>,
}

struct MatchState<'m> {
    text: &'m NormalText,
    /// Index of the first character of the match.
    start: usize,
    placeholders: &'m mut Vec<(usize, usize)>,
    tries: &'m mut usize,
    budget: &'m mut StepBudget,
}

impl MatcherPart {
    fn max_length(&self) -> usize {
        match self {
            Self::Text { bytes, .. } => bytes.len(),
            Self::Placeholder(kind, _) => kind.max_length(),
        }
    }
}

impl Matcher {
    pub fn new(pattern: &Pattern, anchor: Anchor) -> Self {
        let mut matcher = Self {
            parts: Vec::with_capacity(pattern.parts.len()),
            literal_length: 0,
            typed_placeholders: 0,
            first_text_part: first_text_part(pattern),
            anchor,
            max_distance: 0,
            split_word_threshold: WHOLE_WORD_LENGTH,
            spacing_threshold: SPACE_TOLERANCE_LENGTH,
        };
        let mut previous = None;
        for part in &pattern.parts {
            matcher.parts.push(match part {
                PatternPart::Text(text) => {
                    let (bytes, spaced) = literal_bytes(text);
                    matcher.literal_length += bytes.len();
                    let is_open = matches!(
                        previous,
                        Some(PlaceholderType::Any | PlaceholderType::Word | PlaceholderType::Path)
                    );
                    let follows_any = previous == Some(PlaceholderType::Any);
                    let joint = Joint {
                        before: is_open && spaced[0],
                        after: text.ends_with(' '),
                        follows_any,
                        is_strict: follows_any && !bytes.iter().any(u8::is_ascii_alphanumeric),
                    };
                    MatcherPart::Text { bytes, spaced, joint }
                }
                PatternPart::Placeholder(kind, name) => {
                    matcher.typed_placeholders += usize::from(*kind != PlaceholderType::Any);
                    previous = Some(*kind);
                    MatcherPart::Placeholder(*kind, name.clone())
                }
            });
        }
        let between = matcher.parts.get(matcher.first_text_part..anchor.0).unwrap_or_default();
        matcher.max_distance = between.iter().map(MatcherPart::max_length).sum();
        matcher
    }

    /// Compiles a pattern that is matched only within a message, and so tolerates line ends and spacing at any length.
    pub fn within_message(pattern: &Pattern) -> Self {
        Self { split_word_threshold: 0, spacing_threshold: 0, ..Self::new(pattern, Anchor(0, 0)) }
    }

    /// Returns the number of literal characters plus 3 for each typed placeholder.
    pub fn weight(&self) -> usize {
        self.literal_length + 3 * self.typed_placeholders
    }

    pub fn literal_length(&self) -> usize {
        self.literal_length
    }

    /// Returns the first literal text; at most two placeholders precede it.
    pub fn first_literal(&self) -> &[u8] {
        self.literal_text(self.first_text_part)
    }

    /// Returns where the first literal text may start if the anchor is at `at`.
    pub fn candidate_starts(&self, at: usize) -> Option<Range<usize>> {
        let literal = at.checked_sub(self.anchor.1)?;
        if self.anchor.0 <= self.first_text_part {
            return Some(literal..literal + 1);
        }
        let last = literal.checked_sub(self.first_literal().len())?;
        Some(literal.saturating_sub(self.max_distance)..last + 1)
    }

    fn literal_text(&self, part: usize) -> &[u8] {
        match self.parts.get(part) {
            Some(MatcherPart::Text { bytes, .. }) => bytes,
            _ => &[],
        }
    }

    /// Matches the pattern with its first literal text at `at`.
    pub fn match_at(&self, text: &NormalText, at: usize, budget: &mut StepBudget) -> Option<MatchSpan> {
        let mut span = MatchSpan { start: at, end: at, placeholders: Vec::new() };
        budget.charge(8)?;
        if self.first_text_part > 0 {
            for part in self.parts[..self.first_text_part].iter().rev() {
                let MatcherPart::Placeholder(kind, _) = part else { continue };
                budget.charge(32)?;
                let end = span.start;
                span.start = kind.start(text, end)?;
                span.placeholders.insert(0, (span.start, end));
            }
        } else if at > 0 && text.gaps[at] == GAP_NONE && is_same_run(text.bytes[at - 1], text.bytes[at]) {
            return None;
        }
        let mut tries = MAX_TRIES;
        let mut state = MatchState {
            text,
            start: span.start,
            placeholders: &mut span.placeholders,
            tries: &mut tries,
            budget,
        };
        span.end = self.match_parts(&mut state, self.first_text_part, at)?;
        Some(span)
    }

    fn match_parts(&self, state: &mut MatchState<'_>, part: usize, at: usize) -> Option<usize> {
        match self.parts.get(part) {
            None => self.is_end_valid(state.text, at).then_some(at),
            Some(MatcherPart::Text { bytes, spaced, joint }) => {
                state.budget.charge(1 + bytes.len() / 16)?;
                let end = self.match_literal(state.text, at, bytes, spaced, state.start)?;
                if !joint.allows(state.text, at, end) {
                    return None;
                }
                self.match_parts(state, part + 1, end)
            }
            Some(MatcherPart::Placeholder(kind, _)) => {
                if part + 1 == self.parts.len() && *kind == PlaceholderType::Any {
                    let end = rest_end(state.text, at);
                    state.placeholders.push((at, end));
                    return Some(end);
                }
                let next = self.parts.get(part + 1);
                let ends = match (kind, next) {
                    (PlaceholderType::Any, Some(MatcherPart::Text { bytes, .. })) => {
                        let (ends, length) = clause_ends(state.text, at, bytes[0], self.first_literal());
                        state.budget.charge(8 + length / 16)?;
                        ends
                    }
                    _ => {
                        let ends = kind.ends(state.text, at);
                        state.budget.charge(8 + ends.len() / 16)?;
                        ends
                    }
                };
                for end in ends {
                    if !self.can_continue(state.text, part + 1, end) {
                        continue;
                    }
                    *state.tries = state.tries.checked_sub(1)?;
                    state.placeholders.push((at, end));
                    if let Some(found) = self.match_parts(state, part + 1, end) {
                        return Some(found);
                    }
                    state.placeholders.pop();
                }
                None
            }
        }
    }

    /// Compares one character, to avoid most full comparisons of the literal text after a placeholder.
    fn can_continue(&self, text: &NormalText, part: usize, at: usize) -> bool {
        match self.parts.get(part) {
            Some(MatcherPart::Text { bytes, .. }) => text.bytes.get(at) == bytes.first(),
            _ => true,
        }
    }

    fn match_literal(
        &self,
        text: &NormalText,
        at: usize,
        bytes: &[u8],
        spaced: &[bool],
        start: usize,
    ) -> Option<usize> {
        if text.bytes.get(at..at + bytes.len())? != bytes {
            return None;
        }
        let begin = usize::from(at == start || at == 0);
        for (index, &has_space) in spaced.iter().enumerate().skip(begin) {
            let at = at + index;
            let gap = text.gaps[at];
            if has_space == (gap != GAP_NONE) || !is_same_word(text.bytes[at - 1], text.bytes[at]) {
                continue;
            }
            let is_split = !has_space && gap == GAP_BREAK;
            if self.literal_length < if is_split { self.split_word_threshold } else { self.spacing_threshold }
            {
                return None;
            }
        }
        Some(at + bytes.len())
    }

    fn is_end_valid(&self, text: &NormalText, end: usize) -> bool {
        if end >= text.len() || text.gaps[end] != GAP_NONE {
            return true;
        }
        let (last, next) = (text.bytes[end - 1], text.bytes[end]);
        if last.is_ascii_digit() && next.is_ascii_digit() {
            return matches!(self.parts.last(), Some(MatcherPart::Placeholder(..)));
        }
        // The text after an `any` has no message before it that makes its word certain.
        let is_whole_word = self.literal_length < WHOLE_WORD_LENGTH
            || matches!(self.parts.last(), Some(MatcherPart::Text { joint, .. }) if joint.follows_any);
        !is_whole_word || !is_same_word(last, next)
    }

    /// Returns the values of the named placeholders.
    pub fn figures(&self, text: &NormalText, original: &str, span: &MatchSpan) -> Figures {
        let mut figures = Figures::default();
        self.named_figures(text, original, span).for_each(|(name, figure)| figures.add(name, figure));
        figures
    }

    /// Returns the value of the first named placeholder.
    pub fn named_figure(&self, text: &NormalText, original: &str, span: &MatchSpan) -> Option<Figure> {
        self.named_figures(text, original, span).next().map(|(_, figure)| figure)
    }

    fn named_figures<'a>(
        &'a self,
        text: &'a NormalText,
        original: &'a str,
        span: &'a MatchSpan,
    ) -> impl Iterator<Item = (&'a str, Figure)> {
        let placeholders = self.parts.iter().filter_map(|part| match part {
            MatcherPart::Placeholder(kind, name) => Some((kind, name.as_str())),
            MatcherPart::Text { .. } => None,
        });
        let named = placeholders.zip(&span.placeholders).filter(|((_, name), _)| !name.is_empty());
        named.filter_map(|((kind, name), (from, to))| Some((name, kind.figure(text, original, *from, *to)?)))
    }

    /// Returns the first match that lies within `range`.
    pub fn find(&self, text: &NormalText, range: Range<usize>, budget: &mut StepBudget) -> Option<MatchSpan> {
        let literal = self.first_literal();
        let to = range.end.min(text.len());
        budget.charge(to.saturating_sub(range.start) / 16)?;
        let mut at = range.start;
        while at + literal.len() <= to {
            let next = text.bytes[at..to - literal.len() + 1].iter().position(|byte| *byte == literal[0])?;
            at += next;
            if text.bytes[at..].starts_with(literal)
                && let Some(span) = self.match_at(text, at, budget)
                && span.start >= range.start
                && span.end <= to
            {
                return Some(span);
            }
            at += 1;
        }
        None
    }
}

impl Joint {
    /// Returns whether a text from `at` to `end` keeps the white space of the pattern where it matters.
    fn allows(self, text: &NormalText, at: usize, end: usize) -> bool {
        let is_joined = |at: usize| {
            let is_inside = 0 < at && at < text.len() && text.gaps[at] == GAP_NONE;
            is_inside && (self.is_strict || is_same_run(text.bytes[at - 1], text.bytes[at]))
        };
        !(self.before && is_joined(at) || self.after && is_joined(end))
    }
}

fn is_same_word(left: u8, right: u8) -> bool {
    left.is_ascii_alphanumeric() && right.is_ascii_alphanumeric()
}

/// Whether both are letters, or both digits: in `2.83s/it` the pattern `s/it` may start after a digit.
fn is_same_run(left: u8, right: u8) -> bool {
    left.is_ascii_alphabetic() && right.is_ascii_alphabetic()
        || left.is_ascii_digit() && right.is_ascii_digit()
}

/// Returns the index of the first literal text of a pattern.
fn first_text_part(pattern: &Pattern) -> usize {
    pattern.parts.iter().take_while(|part| matches!(part, PatternPart::Placeholder(..))).count()
}

/// Returns the characters that a pattern is searched by.
pub(crate) fn anchor_text(pattern: &Pattern, Anchor(part, offset): Anchor) -> Vec<u8> {
    let mut anchor = Vec::with_capacity(MAX_ANCHOR_LENGTH);
    let part = pattern.parts.get(part.max(first_text_part(pattern)));
    if let Some(text) = part.and_then(PatternPart::literal) {
        anchor.extend(literal_chars(text).skip(offset).take(MAX_ANCHOR_LENGTH));
    }
    anchor
}

/// Returns the characters of literal text except white space, as in a normal text.
pub(crate) fn literal_chars(text: &str) -> impl Iterator<Item = u8> {
    text.chars().filter(|character| *character != ' ').map(|character| (character as u32 & 0xff) as u8)
}

/// Splits literal text into its characters and, for each, whether white space precedes it.
fn literal_bytes(text: &str) -> (Vec<u8>, Vec<bool>) {
    let (mut bytes, mut spaced) = (Vec::with_capacity(text.len()), Vec::with_capacity(text.len()));
    bytes.extend(literal_chars(text));
    let mut space = false;
    for character in text.chars() {
        if character != ' ' {
            spaced.push(space);
        }
        space = character == ' ';
    }
    (bytes, spaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extract(pattern: &str, log: &str) -> Option<String> {
        let matcher = Matcher::new(&Pattern::parse(pattern).expect(pattern), Anchor(0, 0));
        let text = NormalText::of_log(log);
        let span = matcher.find(&text, 0..text.len(), &mut StepBudget::new())?;
        let figures = matcher.figures(&text, log, &span);
        Some(serde_json::to_string(&figures).expect("figures are plain data"))
    }

    #[test]
    fn placeholders_match_their_type() {
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
            assert_eq!(extract(pattern, log).as_deref(), Some(expected), "{pattern} on {log}");
        }
    }

    #[test]
    fn ignores_white_space_and_line_ends() {
        for log in [
            "CUDA out of memory.  Tried\n to allocate 2 GiB",
            "CUDA out of mem\nory. Tried to allocate 2\n GiB",
            "│ CUDA out of mem │\n│ ory. Tried to allocate 2 Gi │\n│ B │",
            "cuda OUT of memory.Tried to allocate 2GiB",
        ] {
            assert_eq!(
                extract("CUDA out of memory. Tried to allocate {n:bytes}", log).as_deref(),
                Some("{\"n\":2147483648}"),
                "{log}"
            );
        }
    }

    #[test]
    fn matches_start_at_word_boundaries() {
        assert_eq!(extract("EngineDeadError", "AsyncEngineDeadError: x"), None);
        assert_eq!(extract("OUT_OF_HOST_MEMORY", "PI_ERROR_OUT_OF_HOST_MEMORY").as_deref(), Some("{}"));
        assert_eq!(extract("undefined symbol: _ZN", "undefined symbol: _ZN3c10").as_deref(), Some("{}"));
        assert_eq!(extract("signal 4", "by signal 47"), None);
        assert_eq!(extract("Killed", "Killedby"), None);
        assert_eq!(extract("Killed", "Kil\nled"), None);
        assert_eq!(extract("Killed", "[00:08]Killed").as_deref(), Some("{}"));
        assert_eq!(extract("s/it]Killed", "2.83s/it]Killed").as_deref(), Some("{}"));
    }

    #[test]
    fn start_and_end_match_line_boundaries() {
        for log in [
            "Killed",
            "loading\nKilled\n$",
            "│ Killed │",
            "Mar 01 10:22:33 host app[1]: Killed\r\n",
            "> Killed",
        ] {
            assert_eq!(extract("{start}Killed{end}", log).as_deref(), Some("{}"), "{log:?}");
        }
        for log in ["is Killed", "Killed process 7", "[1] 12 Killed"] {
            assert_eq!(extract("{start}Killed{end}", log), None, "{log:?}");
        }
        assert_eq!(
            extract("line {int}: {int} Killed{end}", "./a.sh: line 4: 6516 Killed\n").as_deref(),
            Some("{}")
        );
    }

    #[test]
    fn placeholder_length_is_limited() {
        for (pattern, log, longest) in [
            ("Model {any} is not supported", "Model x is not supported", 400),
            ("Model {any} is not supported", "Model a\nx is not supported", 119),
            ("Model {any} is not supported", "Model 'x' is not supported", 398),
            ("Model {quoted} is not supported", "Model 'x' is not supported", 398),
            ("file {path} is missing", "file x is missing", 400),
            ("{start}{path}: is missing", "x: is missing", 400),
        ] {
            let fits = |length| extract(pattern, &log.replace('x', &"x".repeat(length))).is_some();
            assert!(fits(longest), "{log}");
            assert!(!fits(longest + 1), "{log}");
        }
    }

    #[test]
    fn text_between_placeholders_keeps_its_words_and_separators() {
        for (pattern, log, expected) in [
            ("Error: the connection {x:any} stalled", "Error: the connection is not installed", None),
            ("Error: the connection {x:any} is required", "Error: the connection is requiredly", None),
            ("Error: could not {step:any}", "Error: could nothing", None),
            (
                "Error: Failed to {step:any}: {cause:any}",
                "Error: Failed to fetch https://a.b/c: C:\\x is damaged",
                Some(r#"{"step":"fetch https://a.b/c","cause":"C:\\x is damaged"}"#),
            ),
            ("Error: Failed to {step:any}: {cause:any}", "Error: Failed to read D:\\models", None),
            (
                "Error: Failed to {step:any}: {cause:any}",
                "Error: Failed to send {'model': 1} on: no",
                Some(r#"{"step":"send {'model': 1} on","cause":"no"}"#),
            ),
            (
                "Error: {a:any} does not match {b:any}",
                "RuntimeError: load. Error: x does not match y",
                Some(r#"{"a":"x","b":"y"}"#),
            ),
            (
                r#"{{"error":{text:quoted}"#,
                r#"{"error":"no answer: {\"content\":\"x\"}"}"#,
                Some(r#"{"text":"no answer: {\"content\":\"x\"}"}"#),
            ),
            (
                "Error: Failed to {step:any}",
                r#"{"m": "Error: Failed to load {\"x\": 2, \"y\": 3} again", "t": 1}"#,
                Some(r#"{"step":"load {\"x\": 2, \"y\": 3} again"}"#),
            ),
        ] {
            assert_eq!(extract(pattern, log).as_deref(), expected, "{pattern} on {log}");
        }
    }

    #[test]
    fn a_placeholder_may_begin_the_line() {
        let pattern = "{start}{command:path}: not found{end}";
        for log in ["make: not found", "$ ./run\nmake: not found\n", "> make: not found"] {
            assert_eq!(extract(pattern, log).as_deref(), Some(r#"{"command":"make"}"#), "{log}");
        }
        for log in ["the make: not found", "make: not found here", ": not found"] {
            assert_eq!(extract(pattern, log), None, "{log}");
        }
    }
}
