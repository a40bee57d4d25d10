//! The normal form of a pasted log: folded characters without white space, each with its place in the original.
//!
//! The script `static/js/match.js` is the twin of this file: a change here is a change there, and
//! `tests/data/matches.json` holds both to the same results.

use crate::prefix::{Line, prefix_length};

/// No white space stands before the character.
pub(crate) const GAP_NONE: u8 = 0;
/// White space within a line stands before the character.
pub(crate) const GAP_SPACE: u8 = 1;
/// A line end stands before the character.
pub(crate) const GAP_BREAK: u8 = 2;

/// The longest title of a window, or address of a link, that a terminal code may carry.
const TITLE: usize = 2000;

/// A text without white space, colors, frames and line prefixes; ASCII is in lower case.
///
/// Every character is one byte: what lies outside ASCII is folded into `0x80..=0xff`, so that Rust and
/// the script count characters alike. White space is kept only as a mark on the character after it.
#[derive(Debug, Default, Clone)]
pub(crate) struct NormalText {
    /// The characters.
    pub bytes: Vec<u8>,
    /// What stood before each character: `GAP_NONE`, `GAP_SPACE` or `GAP_BREAK`.
    pub gaps: Vec<u8>,
    /// The byte offset of each character in the original text.
    pub starts: Vec<u32>,
    /// The byte offset behind each character in the original text.
    pub ends: Vec<u32>,
    gap: u8,
}

impl NormalText {
    /// The normal form of a whole log.
    pub fn of_log(text: &str) -> Self {
        let mut normal = Self::with_capacity(text.len());
        let mut line = Line::default();
        let mut before = ["", ""];
        let mut begin = 0;
        while begin < text.len() {
            let rest = &text.as_bytes()[begin..];
            let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
            normal.gap = GAP_BREAK;
            if length > 0 {
                let written = &text[begin..begin + length];
                line.fill(written, begin);
                let skipped = prefix_length(&line);
                if goes_on(before, written, &line, skipped) {
                    normal.gap = GAP_NONE;
                }
                before = [before[1], written];
                normal.push_line(&line, skipped);
            }
            begin += length + 1;
        }
        normal
    }

    /// The normal form of a piece of a pattern, whose line ends are ordinary white space.
    pub fn of_fragment(text: &str) -> Self {
        let mut normal = Self::with_capacity(text.len());
        let mut line = Line::default();
        line.fill(text, 0);
        normal.push_line(&line, 0);
        normal
    }

    fn with_capacity(capacity: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(capacity),
            gaps: Vec::with_capacity(capacity),
            starts: Vec::with_capacity(capacity),
            ends: Vec::with_capacity(capacity),
            gap: GAP_NONE,
        }
    }

    /// The number of characters.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    fn push(&mut self, byte: u8, start: u32, end: u32) {
        self.bytes.push(byte);
        self.gaps.push(self.gap);
        self.starts.push(start);
        self.ends.push(end);
        self.gap = GAP_NONE;
    }

    fn push_line(&mut self, line: &Line, skipped: usize) {
        let separators = separator_run(line);
        let end = line.framed_end(skipped);
        let mut at = skipped;
        while at < end {
            let colour = colour_length(line, at);
            if colour > 0 {
                at += colour;
                continue;
            }
            let (character, length) = match line.at(at) {
                '\\' => escaped(line, at, separators),
                '&' => entity(line, at),
                other => (Folded::of(other), 1),
            };
            let (start, end) = (line.offset(at), line.offset(at + length));
            match character {
                Folded::Nothing => {}
                Folded::Space => self.gap = self.gap.max(GAP_SPACE),
                Folded::Break => self.gap = GAP_BREAK,
                Folded::Byte(byte) => self.push(byte, start, end),
                Folded::Dots => (0..3).for_each(|_| self.push(b'.', start, end)),
            }
            at += length;
        }
    }
}

/// A line that is cut by the width of a window or a frame is at least so long.
const CUT: usize = 40;

/// Whether a number of the line before goes on at the beginning of this one: it was cut where the window or the
/// frame ends. That is certain where neighbors are equally long and digits stand in the last and the first column.
fn goes_on([earlier, last]: [&str; 2], written: &str, line: &Line, skipped: usize) -> bool {
    let framed = |character: Option<char>| matches!(character, Some('\u{2500}'..='\u{259f}'));
    let digit = |character: Option<char>| character.is_some_and(|found| found.is_ascii_digit());
    let mut end = last.chars().rev();
    let meets = match skipped {
        0 => digit(end.next()),
        _ => {
            line.at(skipped - 1) == ' '
                && framed(skipped.checked_sub(2).map(|at| line.at(at)))
                && framed(end.next())
                && end.next() == Some(' ')
                && digit(end.next())
        }
    };
    let width = |text: &str| text.encode_utf16().count();
    let full = width(last);
    meets && digit(Some(line.at(skipped))) && full >= CUT && [width(earlier), width(written)].contains(&full)
}

/// What one original character becomes.
#[derive(Clone, Copy, PartialEq)]
enum Folded {
    Nothing,
    Space,
    Break,
    Byte(u8),
    Dots,
}

impl Folded {
    fn of(character: char) -> Self {
        match character {
            '\t' | '\n' | '\r' | ' ' | '\u{b}' | '\u{c}' => Self::Space,
            '\0'..='\x1f' | '\x7f' => Self::Nothing,
            '!'..='~' => Self::Byte(character.to_ascii_lowercase() as u8),
            '\u{2018}'..='\u{201b}' | '\u{2032}' => Self::Byte(b'\''),
            '\u{201c}'..='\u{201f}' | '\u{2033}' => Self::Byte(b'"'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' => Self::Byte(b'-'),
            '\u{2026}' => Self::Dots,
            '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{fffd}' => Self::Nothing,
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{3000}' => {
                Self::Space
            }
            // Frames, progress bars and the pointer that rich draws beside the failing line.
            '\u{2500}'..='\u{259f}' | '\u{2771}' => Self::Space,
            '\u{ff01}'..='\u{ff5e}' => Self::of(char::from((character as u32 - 0xfee0) as u8)),
            _ => Self::Byte(0x80 | (character as u32 & 0x7f) as u8),
        }
    }
}

/// The length of a color code at this place: as control characters, as `^[[31m`, as an escape such as
/// `\u001b[0m`, or as the `[0m` that is left when a browser drops the control character.
pub(crate) fn colour_length(line: &Line, at: usize) -> usize {
    let introducer = match line.at(at) {
        '\x1b' | '\u{241b}' => 1,
        '^' if line.at(at + 1) == '[' && line.at(at + 2) == '[' => 2,
        '\\' => ["\\u001b", "\\u001B", "\\x1b", "\\x1B", "\\033", "\\e"]
            .iter()
            .find(|name| line.has(at, name) && line.at(at + name.len()) == '[')
            .map_or(0, |name| name.len()),
        '[' => return select_graphic_length(line, at),
        _ => 0,
    };
    if introducer == 0 {
        return 0;
    }
    let mut end = at + introducer + 1;
    match line.at(end - 1) {
        '[' => {
            while matches!(line.at(end), '0'..='9' | ';' | '?' | ':' | ' ') {
                end += 1;
            }
            end + usize::from(matches!(line.at(end), '@'..='~')) - at
        }
        ']' => {
            let ends = |character| matches!(character, '\x07' | '\x1b' | '\u{241b}' | '\\');
            match (end..line.len().min(end + TITLE + 1)).find(|&place| ends(line.at(place))) {
                Some(place) => place + 1 + usize::from(line.starts_with(place, "\x1b\\")) - at,
                None => end - at,
            }
        }
        _ => introducer,
    }
}

fn select_graphic_length(line: &Line, at: usize) -> usize {
    let mut end = at + 1;
    while end - at < 20 && matches!(line.at(end), '0'..='9' | ';') {
        end += 1;
    }
    if end > at + 1 && line.at(end) == 'm' { end + 1 - at } else { 0 }
}

/// How many backslashes separate the parts of a Windows path on this line; 0 where no drive is named.
/// It tells the path `C:\new` from the line end in `"a\nb"`; `e:\n` is more likely the end of a line of Python.
fn separator_run(line: &Line) -> usize {
    (1..line.len())
        .filter(|&at| line.at(at) == ':' && line.at(at + 1) == '\\' && line.at(at - 1).is_ascii_alphabetic())
        .filter(|&at| at < 2 || !line.at(at - 2).is_ascii_alphanumeric())
        .map(|at| (line.at(at - 1), backslashes(line, at + 1), at + 1))
        .find(|(drive, run, at)| drive.is_ascii_uppercase() || !matches!(line.at(at + run), 'n' | 'r' | 't'))
        .map_or(0, |(_, run, _)| run)
}

fn backslashes(line: &Line, at: usize) -> usize {
    (at..).take_while(|&at| line.at(at) == '\\').count()
}

fn escaped(line: &Line, at: usize, separators: usize) -> (Folded, usize) {
    let run = backslashes(line, at);
    match line.at(at + run) {
        '"' | '\'' | '/' | '\0' => (Folded::Nothing, run),
        'n' | 'r' | 't' if run != separators => (Folded::Break, run + 1),
        'u' => match line.hexadecimal(at + run + 1, 4) {
            Some(character) => (Folded::of(character), run + 5),
            None => (Folded::Byte(b'/'), run),
        },
        _ => (Folded::Byte(b'/'), run),
    }
}

/// The character that an HTML entity stands for, also where `&` was itself encoded once more.
fn entity(line: &Line, at: usize) -> (Folded, usize) {
    const NAMES: [(&str, char); 8] = [
        ("gt;", '>'),
        ("lt;", '<'),
        ("quot;", '"'),
        ("apos;", '\''),
        ("nbsp;", ' '),
        ("#39;", '\''),
        ("#x27;", '\''),
        ("#34;", '"'),
    ];
    let mut end = at + 1;
    while line.starts_with(end, "amp;") {
        end += 4;
    }
    match NAMES.iter().find(|(name, _)| line.starts_with(end, name)) {
        Some((name, character)) => (Folded::of(*character), end + name.len() - at),
        None => (Folded::Byte(b'&'), end - at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let normal = NormalText::of_log(text);
        let mut out = String::new();
        for (at, byte) in normal.bytes.iter().enumerate() {
            match normal.gaps[at] {
                GAP_SPACE => out.push(' '),
                GAP_BREAK => out.push('~'),
                _ => {}
            }
            out.push(char::from(*byte));
        }
        out
    }

    #[test]
    fn colours_are_dropped_in_every_spelling() {
        for text in [
            "\x1b[1;31mcuda\x1b[0m error",
            "^[[31mcuda^[[0m error",
            "\\u001b[31mcuda\\u001b[0m error",
            "[31mcuda[0m error",
            "\x1b]0;title\x07cuda error",
            "\x1b]8;;x\x1b\\cuda error",
        ] {
            assert_eq!(shown(text), "~cuda error", "{text:?}");
        }
    }

    #[test]
    fn escapes_become_what_they_stand_for() {
        assert_eq!(shown(r#"{"msg": "not \"found\"\nCUDA"}"#), r#"~{"msg": "not "found"~cuda"}"#);
        assert_eq!(shown(r"load C:\new\torch\c10.dll"), "~load c:/new/torch/c10.dll");
        assert_eq!(shown(r#"{"m":"C:\\new\\torch\nnext"}"#), r#"~{"m":"c:/new/torch~next"}"#);
        assert_eq!(shown(r#"{"m":"as e:\nnext"}"#), r#"~{"m":"as e:~next"}"#);
        assert_eq!(shown("a &gt;&amp;gt; b &amp; c"), "~a >> b & c");
    }

    #[test]
    fn quotes_frames_and_widths_are_folded() {
        assert_eq!(shown("│ ‘a’ “b” – c… │\n│ ：ｘ │"), "~'a' \"b\" - c...~:x");
    }

    #[test]
    fn a_number_goes_on_behind_the_edge_of_a_frame_or_a_window() {
        let text = "exceeds the context window of the model 20";
        let row = |text: &str| format!("│ {text:42} │\n");
        for (log, joined) in [
            (row(text) + &row("48 tokens"), true),
            (row(text) + "│ 48 tokens │", false),
            (row(&text[1..]) + &row("48 tokens"), false),
            (row(text) + &row(" 48 tokens"), false),
            (format!("{}\n{text}\n48 tokens", "x".repeat(42)), true),
            (format!("{text}\r\n48{}", "x".repeat(40)), true),
            (format!("{text}\n48 tokens"), false),
            (format!("{text}\n> 48{}", "x".repeat(38)), false),
        ] {
            assert_eq!(shown(&log).contains("2048"), joined, "{log}");
        }
    }

    #[test]
    fn every_character_knows_its_place() {
        let text = "│ é “Ab”\r\n> x";
        let normal = NormalText::of_log(text);
        let found = normal.bytes.iter().position(|byte| *byte == b'a').expect("the letter is there");
        assert_eq!(&text[normal.starts[found] as usize..normal.ends[found] as usize], "A");
        let last = normal.len() - 1;
        assert_eq!(&text[normal.starts[last] as usize..], "x");
    }
}
