//! Matches typed placeholders in a normal text and converts them to figures.

use crate::figure::Figure;
use crate::grammar::unit_factor;
use crate::normal::{GAP_BREAK, GAP_NONE, NormalText};
use crate::pattern::PlaceholderType;

/// Maximum length of each part of a number, and of text over several lines, in characters without white space.
const MAX_LENGTH: usize = 120;
/// Quotation marks that a backslash may precede.
const QUOTES: [char; 2] = ['"', '\''];
/// Maximum length of a word, a path, and text within a line.
const MAX_LINE_LENGTH: usize = 400;

impl PlaceholderType {
    pub(crate) fn max_length(self) -> usize {
        match self {
            Self::Start | Self::End => 0,
            Self::Bytes | Self::Mib | Self::Gib | Self::Float => 3 * MAX_LENGTH + 4,
            Self::Any | Self::Quoted | Self::Word | Self::Path => MAX_LINE_LENGTH,
            _ => MAX_LENGTH + 2,
        }
    }

    /// Returns the possible ends of a placeholder that starts at `from`, best first.
    pub(crate) fn ends(self, text: &NormalText, from: usize) -> Vec<usize> {
        match self {
            Self::Any => (from..=text_limit(text, from)).collect(),
            Self::Quoted => quoted_ends(text, from),
            Self::Start | Self::End => (text.gap(from) == GAP_BREAK).then_some(from).into_iter().collect(),
            Self::Word => word_ends(text, from, is_word),
            Self::Path => word_ends(text, from, is_path),
            Self::Version => word_ends(text, from, is_version)
                .into_iter()
                .filter(|_| {
                    text.at(from).is_ascii_digit()
                        || text.at(from) == b'v' && text.at(from + 1).is_ascii_digit()
                })
                .collect(),
            Self::Int | Self::Float | Self::Hex | Self::Bytes | Self::Mib | Self::Gib => {
                let mut ends = Vec::new();
                for wrapped in [false, true] {
                    self.number_ends(text, from, wrapped, &mut ends);
                }
                // A size with its unit, even if a line end splits it, precedes a bare number.
                if self == Self::Bytes {
                    ends.sort_by_key(|&end| !text.at(end - 1).is_ascii_alphabetic());
                }
                ends.dedup();
                ends
            }
        }
    }

    fn number_ends(self, text: &NormalText, from: usize, wrapped: bool, ends: &mut Vec<usize>) {
        let digit = |byte: u8| byte.is_ascii_digit();
        if self == Self::Hex {
            let start = if text.at(from) == b'0' && text.at(from + 1) == b'x' { from + 2 } else { from };
            let end = text.run_end(start, wrapped, MAX_LENGTH, |byte| byte.is_ascii_hexdigit());
            if end > start {
                ends.push(end);
            }
            return;
        }
        let start = if matches!(text.at(from), b'-' | b'+') { from + 1 } else { from };
        let whole = text.run_end(start, wrapped, MAX_LENGTH, digit);
        if whole == start {
            return;
        }
        let mut end = whole;
        let joined = |at: usize| text.gap(at) == GAP_NONE || wrapped && text.gap(at) == GAP_BREAK;
        if self != Self::Int
            && text.at(whole) == b'.'
            && joined(whole)
            && digit(text.at(whole + 1))
            && joined(whole + 1)
        {
            end = text.run_end(whole + 1, wrapped, MAX_LENGTH, digit);
        }
        if self == Self::Bytes {
            let unit = unit_end(text, end, wrapped);
            if unit > end {
                ends.push(unit);
            }
        } else if self == Self::Float && text.at(end) == b'e' && joined(end) {
            let sign = usize::from(matches!(text.at(end + 1), b'-' | b'+'));
            let exponent = text.run_end(end + 1 + sign, wrapped, MAX_LENGTH, digit);
            if exponent > end + 1 + sign {
                ends.push(exponent);
            }
        }
        ends.push(end);
    }

    /// Returns the start of the longest placeholder that ends at `end`.
    pub(crate) fn start(self, text: &NormalText, end: usize) -> Option<usize> {
        if matches!(self, Self::Start | Self::End) {
            return (text.gap(end) == GAP_BREAK).then_some(end);
        }
        let allowed: fn(u8) -> bool = match self {
            Self::Path => is_path,
            Self::Quoted => |_| true,
            _ => is_word,
        };
        let spaced = matches!(self, Self::Quoted | Self::Bytes);
        let longest = if spaced { MAX_LENGTH } else { MAX_LINE_LENGTH };
        let mut first = end;
        while first > 0 && end - first < longest && allowed(text.bytes[first - 1]) {
            first -= 1;
            if !spaced && text.gaps[first] != GAP_NONE {
                break;
            }
        }
        match self {
            Self::Word | Self::Path => (first < end).then_some(first),
            Self::Quoted => {
                let close = text.at(end.wrapping_sub(1));
                (first..end.saturating_sub(1))
                    .rev()
                    .find(|&at| text.bytes[at] == close || close == b'\'' && text.bytes[at] == b'`')
            }
            _ => (first.max(end.saturating_sub(40))..end).find(|&start| {
                let is_boundary =
                    start == 0 || text.gaps[start] != GAP_NONE || !is_version(text.bytes[start - 1]);
                is_boundary && self.ends(text, start).contains(&end)
            }),
        }
    }

    /// Converts the characters from `from` to `to` to a figure; `None` for a number above the range of `f64`.
    pub(crate) fn figure(self, text: &NormalText, original: &str, from: usize, to: usize) -> Option<Figure> {
        let split = (from..to).find(|&at| text.bytes[at].is_ascii_alphabetic()).unwrap_or(to);
        let factor = match self {
            Self::Int | Self::Float => {
                let number = ascii_text(text, from, to).parse().ok();
                return number.filter(|number: &f64| number.is_finite()).map(Figure::Number);
            }
            Self::Bytes if split < to => unit_factor(&ascii_text(text, split, to))?,
            Self::Bytes => 1.0,
            Self::Mib => unit_factor("mib")?,
            Self::Gib => unit_factor("gib")?,
            Self::Quoted if from + 2 <= to => {
                return Some(Figure::Text(original_text(text, original, from + 1, to - 1)));
            }
            _ => return (from < to).then(|| Figure::Text(original_text(text, original, from, to))),
        };
        let number: f64 = ascii_text(text, from, split).parse().ok()?;
        Some((number * factor + 0.5).floor()).filter(|size| size.is_finite()).map(Figure::Number)
    }
}

impl NormalText {
    /// Returns the character at `at`, or 0 after the end.
    fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn gap(&self, at: usize) -> u8 {
        self.gaps.get(at).copied().unwrap_or(GAP_BREAK)
    }

    /// Returns the end of a run of allowed characters; white space ends it, except a line end if `wrapped`.
    fn run_end(&self, from: usize, wrapped: bool, longest: usize, allowed: impl Fn(u8) -> bool) -> usize {
        let mut at = from;
        while at < self.len() && at - from < longest && allowed(self.bytes[at]) {
            let gap = self.gaps[at];
            if at > from && gap != GAP_NONE && !(wrapped && gap == GAP_BREAK) {
                break;
            }
            at += 1;
        }
        at
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80 || b"_-./:+@#~%$*=&".contains(&byte)
}

fn is_path(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"'\"`,;<>|".contains(&byte) || byte >= 0x80
}

fn is_version(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b".+-_".contains(&byte)
}

/// Returns the end of the whole run without the punctuation of the sentence, then ever shorter runs.
fn word_ends(text: &NormalText, from: usize, allowed: fn(u8) -> bool) -> Vec<usize> {
    let mut ends = Vec::new();
    for wrapped in [false, true] {
        let whole = text.run_end(from, wrapped, MAX_LINE_LENGTH, allowed);
        if ends.first() == Some(&whole) {
            continue;
        }
        let mut trimmed = whole;
        while trimmed > from && b".,:;)]}".contains(&text.at(trimmed - 1)) {
            trimmed -= 1;
        }
        ends.extend((from + 1..=trimmed).rev());
        ends.extend(trimmed.max(from) + 1..=whole);
    }
    ends
}

fn quoted_ends(text: &NormalText, from: usize) -> Vec<usize> {
    let open = text.at(from);
    if !matches!(open, b'\'' | b'"' | b'`') {
        return Vec::new();
    }
    let closes = |byte: u8| byte == open || (open == b'`' && byte == b'\'');
    // A quote with other backslashes than the first one belongs to a text within the text.
    let length = |at: usize| text.ends[at] - text.starts[at];
    let closing = (from + 1..text_limit(text, from)).filter(|&at| closes(text.bytes[at]));
    let (own, inner): (Vec<usize>, _) = closing.partition(|&at| length(at) == length(from));
    own.into_iter().chain(inner).map(|at| at + 1).collect()
}

/// Returns the ends of an `any` at `from` before the character `next`: first those within the line with closed brackets and
/// quotes. It does not contain the beginning of the pattern, because that is the beginning of another message. Also returns
/// the number of characters that were read.
pub(crate) fn clause_ends(text: &NormalText, from: usize, next: u8, beginning: &[u8]) -> (Vec<usize>, usize) {
    let mut length = 0;
    let (mut clauses, mut others) = (Vec::new(), Vec::new());
    let (mut depth, mut is_quoted, mut is_broken) = (0_usize, false, false);
    for end in from..=text_limit(text, from) {
        length = end - from;
        if end > from {
            let last = end - 1;
            match text.bytes[last] {
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                b'"' => is_quoted = !is_quoted,
                _ => {}
            }
            is_broken |= last > from && text.gaps[last] == GAP_BREAK;
            if text.bytes[from..end].ends_with(beginning) {
                break;
            }
        }
        if text.at(end) == next {
            let is_clause = depth == 0 && !is_quoted && !is_broken;
            if is_clause { &mut clauses } else { &mut others }.push(end);
        }
    }
    clauses.append(&mut others);
    (clauses, length)
}

/// Returns the last possible end of a text that starts at `from`.
fn text_limit(text: &NormalText, from: usize) -> usize {
    match line_end(text, from) {
        end if end - from > MAX_LENGTH => end,
        _ => text.len().min(from + MAX_LENGTH),
    }
}

/// Returns the end of an `any` that ends a pattern: the end of the line, or of the string in JSON that the pattern is in.
pub(crate) fn rest_end(text: &NormalText, from: usize) -> usize {
    let mut is_quoted = false;
    let end = line_end(text, from);
    let closes = |at: &usize| {
        let is_quote = text.bytes[*at] == b'"';
        let is_closing = is_quote && !is_quoted && matches!(text.at(at + 1), b',' | b'}');
        is_quoted ^= is_quote;
        is_closing
    };
    (from..end).find(closes).unwrap_or(end)
}

/// Returns the end of the line, at most the maximum length of a text away.
pub(crate) fn line_end(text: &NormalText, from: usize) -> usize {
    let longest = text.len().min(from + MAX_LINE_LENGTH);
    (from + 1..longest).find(|&at| text.gaps[at] == GAP_BREAK).unwrap_or(longest.max(from))
}

/// Returns the end of the unit at `from`, or `from` if there is none.
fn unit_end(text: &NormalText, from: usize, wrapped: bool) -> usize {
    let end = text.run_end(from, wrapped, MAX_LENGTH, |byte| byte.is_ascii_alphabetic());
    if unit_factor(&ascii_text(text, from.min(end), end)).is_some() { end } else { from }
}

fn ascii_text(text: &NormalText, from: usize, to: usize) -> String {
    text.bytes[from..to].iter().map(|byte| char::from(*byte)).collect()
}

/// Returns the original text without colors, frames and escapes, and with one space for each run of white space.
fn original_text(text: &NormalText, original: &str, from: usize, to: usize) -> String {
    let mut out = String::new();
    for at in from..to {
        if at > from && text.gaps[at] != GAP_NONE {
            out.push(' ');
        }
        let piece = &original[text.starts[at] as usize..text.ends[at] as usize];
        let mut characters = piece.chars();
        let escape = piece.trim_start_matches('\\');
        match (characters.next(), characters.next()) {
            (Some('\\'), Some(_)) if escape.starts_with('u') => {
                out.extend(u32::from_str_radix(&escape[1..], 16).ok().and_then(char::from_u32))
            }
            (Some('\\'), _) => {
                out.push(piece.chars().next_back().filter(|last| QUOTES.contains(last)).unwrap_or('\\'))
            }
            (Some(only), None) if at == from || text.starts[at] != text.starts[at - 1] => out.push(only),
            (Some(_), None) => {}
            _ => out.push(char::from(text.bytes[at])),
        }
    }
    out
}
