//! What a typed hole takes at a place of a normal text, and what that is worth.

use crate::figure::Figure;
use crate::grammar::unit_factor;
use crate::normal::{GAP_BREAK, GAP_NONE, NormalText};
use crate::pattern::HoleType;

/// The longest text that a hole takes, in characters without white space.
pub(crate) const REACH: usize = 120;

impl HoleType {
    /// The most characters that such a hole takes.
    pub(crate) fn longest(self) -> usize {
        match self {
            Self::Start | Self::End => 0,
            Self::Bytes | Self::Mib | Self::Gib | Self::Float => 3 * REACH + 4,
            _ => REACH + 2,
        }
    }
}

impl NormalText {
    /// The character at this place, or 0 behind the end.
    fn at(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }

    fn gap(&self, at: usize) -> u8 {
        self.gaps.get(at).copied().unwrap_or(GAP_BREAK)
    }

    /// The end of a run of allowed characters; white space ends it, except a line end where `wrapped`.
    fn run(&self, from: usize, wrapped: bool, allowed: impl Fn(u8) -> bool) -> usize {
        let mut at = from;
        while at < self.len() && at - from < REACH && allowed(self.bytes[at]) {
            let gap = self.gaps[at];
            if at > from && gap != GAP_NONE && !(wrapped && gap == GAP_BREAK) {
                break;
            }
            at += 1;
        }
        at
    }
}

/// The places where a hole that begins at `from` may end, best first.
pub(crate) fn hole_ends(text: &NormalText, hole: HoleType, from: usize) -> Vec<usize> {
    match hole {
        HoleType::Any => (from..=text.len().min(from + REACH)).collect(),
        HoleType::Quoted => quoted_ends(text, from),
        HoleType::Start | HoleType::End => {
            (text.gap(from) == GAP_BREAK).then_some(from).into_iter().collect()
        }
        HoleType::Word => word_ends(text, from, is_word),
        HoleType::Path => word_ends(text, from, is_path),
        HoleType::Version => word_ends(text, from, is_version)
            .into_iter()
            .filter(|_| {
                text.at(from).is_ascii_digit() || text.at(from) == b'v' && text.at(from + 1).is_ascii_digit()
            })
            .collect(),
        HoleType::Int | HoleType::Float | HoleType::Hex | HoleType::Bytes | HoleType::Mib | HoleType::Gib => {
            let mut ends = Vec::new();
            for wrapped in [false, true] {
                number_ends(text, hole, from, wrapped, &mut ends);
            }
            // A size with its unit, even if a line end cuts it, before a bare number.
            if hole == HoleType::Bytes {
                ends.sort_by_key(|&end| !text.at(end - 1).is_ascii_alphabetic());
            }
            ends.dedup();
            ends
        }
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

/// The whole run first, without the punctuation that ends a sentence, then shorter and shorter.
fn word_ends(text: &NormalText, from: usize, allowed: fn(u8) -> bool) -> Vec<usize> {
    let mut ends = Vec::new();
    for wrapped in [false, true] {
        let whole = text.run(from, wrapped, allowed);
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
    let last = text.len().min(from + REACH);
    (from + 1..last).filter(|&at| closes(text.bytes[at])).map(|at| at + 1).collect()
}

fn number_ends(text: &NormalText, hole: HoleType, from: usize, wrapped: bool, ends: &mut Vec<usize>) {
    let digit = |byte: u8| byte.is_ascii_digit();
    if hole == HoleType::Hex {
        let start = if text.at(from) == b'0' && text.at(from + 1) == b'x' { from + 2 } else { from };
        let end = text.run(start, wrapped, |byte| byte.is_ascii_hexdigit());
        if end > start {
            ends.push(end);
        }
        return;
    }
    let start = if matches!(text.at(from), b'-' | b'+') { from + 1 } else { from };
    let whole = text.run(start, wrapped, digit);
    if whole == start {
        return;
    }
    let mut end = whole;
    let joined = |at: usize| text.gap(at) == GAP_NONE || wrapped && text.gap(at) == GAP_BREAK;
    if hole != HoleType::Int
        && text.at(whole) == b'.'
        && joined(whole)
        && digit(text.at(whole + 1))
        && joined(whole + 1)
    {
        end = text.run(whole + 1, wrapped, digit);
    }
    if hole == HoleType::Bytes {
        let unit = unit_end(text, end, wrapped);
        if unit > end {
            ends.push(unit);
        }
    } else if hole == HoleType::Float && text.at(end) == b'e' && joined(end) {
        let sign = usize::from(matches!(text.at(end + 1), b'-' | b'+'));
        let exponent = text.run(end + 1 + sign, wrapped, digit);
        if exponent > end + 1 + sign {
            ends.push(exponent);
        }
    }
    ends.push(end);
}

/// The end of the unit that stands at this place, or the place itself.
fn unit_end(text: &NormalText, from: usize, wrapped: bool) -> usize {
    let end = text.run(from, wrapped, |byte| byte.is_ascii_alphabetic());
    let name: String = text.bytes[from.min(end)..end].iter().map(|byte| char::from(*byte)).collect();
    if unit_factor(&name).is_some() { end } else { from }
}

/// The beginning of a hole of this type that ends at `end`: the longest that fits.
pub(crate) fn hole_start(text: &NormalText, hole: HoleType, end: usize) -> Option<usize> {
    if matches!(hole, HoleType::Start | HoleType::End) {
        return (text.gap(end) == GAP_BREAK).then_some(end);
    }
    let allowed: fn(u8) -> bool = match hole {
        HoleType::Path => is_path,
        HoleType::Quoted => |_| true,
        _ => is_word,
    };
    let spaced = matches!(hole, HoleType::Quoted | HoleType::Bytes);
    let mut first = end;
    while first > 0 && end - first < REACH && allowed(text.bytes[first - 1]) {
        first -= 1;
        if !spaced && text.gaps[first] != GAP_NONE {
            break;
        }
    }
    match hole {
        HoleType::Word | HoleType::Path => (first < end).then_some(first),
        HoleType::Quoted => {
            let close = text.at(end.wrapping_sub(1));
            (first..end.saturating_sub(1))
                .rev()
                .find(|&at| text.bytes[at] == close || close == b'\'' && text.bytes[at] == b'`')
        }
        _ => (first.max(end.saturating_sub(40))..end).find(|&start| {
            let begins = start == 0 || text.gaps[start] != GAP_NONE || !is_version(text.bytes[start - 1]);
            begins && hole_ends(text, hole, start).contains(&end)
        }),
    }
}

/// What stands between `from` and `to`, as a figure.
pub(crate) fn hole_figure(
    text: &NormalText,
    original: &str,
    hole: HoleType,
    from: usize,
    to: usize,
) -> Option<Figure> {
    let split = (from..to).find(|&at| text.bytes[at].is_ascii_alphabetic()).unwrap_or(to);
    let factor = match hole {
        HoleType::Int | HoleType::Float => return spelled(text, from, to).parse().ok().map(Figure::Number),
        HoleType::Bytes if split < to => unit_factor(&spelled(text, split, to))?,
        HoleType::Bytes => 1.0,
        HoleType::Mib => unit_factor("mib")?,
        HoleType::Gib => unit_factor("gib")?,
        HoleType::Quoted if from + 2 <= to => {
            return Some(Figure::Text(shown(text, original, from + 1, to - 1)));
        }
        _ => return (from < to).then(|| Figure::Text(shown(text, original, from, to))),
    };
    let number: f64 = spelled(text, from, split).parse().ok()?;
    Some(Figure::Number((number * factor + 0.5).floor()))
}

fn spelled(text: &NormalText, from: usize, to: usize) -> String {
    text.bytes[from..to].iter().map(|byte| char::from(*byte)).collect()
}

/// The original characters without colors, frames and escapes, with one space for white space.
fn shown(text: &NormalText, original: &str, from: usize, to: usize) -> String {
    let mut out = String::new();
    for at in from..to {
        if at > from && text.gaps[at] != GAP_NONE {
            out.push(' ');
        }
        let piece = &original[text.starts[at] as usize..text.ends[at] as usize];
        let mut characters = piece.chars();
        match (characters.next(), characters.next()) {
            (Some('\\'), Some('u')) => {
                out.extend(u32::from_str_radix(&piece[2..], 16).ok().and_then(char::from_u32))
            }
            (Some('\\'), _) => out.push('\\'),
            (Some(only), None) if at == from || text.starts[at] != text.starts[at - 1] => out.push(only),
            (Some(_), None) => {}
            _ => out.push(char::from(text.bytes[at])),
        }
    }
    out
}
