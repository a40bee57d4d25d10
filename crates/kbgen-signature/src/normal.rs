//! The normal form of a log: folded characters without white space, each with its byte range in the original.
//!
//! `static/js/match.js` implements the same algorithm; change both together. The shared test vectors are in
//! `tests/data/matches.json`.

use crate::prefix::{LineChars, prefix_length};

/// No white space before the character.
pub(crate) const GAP_NONE: u8 = 0;
/// White space within a line before the character.
pub(crate) const GAP_SPACE: u8 = 1;
/// A line end before the character.
pub(crate) const GAP_BREAK: u8 = 2;

/// Maximum length of a window title or link address in a terminal escape sequence.
const MAX_TITLE_LENGTH: usize = 2000;

/// A text without white space, colors, frames and line prefixes; ASCII letters are in lower case.
///
/// Each character is one byte: characters outside ASCII are folded into `0x80..=0xff`, so that Rust and JavaScript count
/// the same lengths. White space is recorded in `gaps`.
#[derive(Debug, Default, Clone)]
pub(crate) struct NormalText {
    pub bytes: Vec<u8>,
    /// White space before each character: `GAP_NONE`, `GAP_SPACE` or `GAP_BREAK`.
    pub gaps: Vec<u8>,
    /// Start of each character in the original text, in bytes.
    pub starts: Vec<u32>,
    /// End of each character in the original text, in bytes.
    pub ends: Vec<u32>,
    gap: u8,
}

impl NormalText {
    /// Normalizes a log and skips the prefix of each line.
    pub fn of_log(text: &str) -> Self {
        let mut normal = Self::with_capacity(text.len());
        let mut line = LineChars::default();
        let mut previous = ["", ""];
        let mut begin = 0;
        while begin < text.len() {
            let rest = &text.as_bytes()[begin..];
            let length = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
            normal.gap = GAP_BREAK;
            if length > 0 {
                let content = &text[begin..begin + length];
                line.set(content, begin);
                let skipped = prefix_length(&line);
                if continues_number(previous, content, &line, skipped) {
                    normal.gap = GAP_NONE;
                }
                previous = [previous[1], content];
                normal.push_line(&line, skipped);
            }
            begin += length + 1;
        }
        normal
    }

    /// Normalizes literal text of a pattern, in which a line end is ordinary white space.
    pub fn of_fragment(text: &str) -> Self {
        let mut normal = Self::with_capacity(text.len());
        let mut line = LineChars::default();
        line.set(text, 0);
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

    fn push_line(&mut self, line: &LineChars, skipped: usize) {
        let separators = separator_run(line);
        let end = line.content_end(skipped);
        let mut at = skipped;
        while at < end {
            let color = color_code_length(line, at);
            if color > 0 {
                at += color;
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

/// Minimum length of a line that wraps at the width of a window or a frame.
const MIN_WRAPPED_WIDTH: usize = 40;

/// Returns whether a wrapped number continues from the last line: both lines (or the two before) have the same length, and
/// digits are in the last and the first column.
fn continues_number([earlier, last]: [&str; 2], content: &str, line: &LineChars, skipped: usize) -> bool {
    let framed = |character: Option<char>| matches!(character, Some('\u{2500}'..='\u{259f}'));
    let digit = |character: Option<char>| character.is_some_and(|found| found.is_ascii_digit());
    let mut end = last.chars().rev();
    let are_digits_adjacent = match skipped {
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
    are_digits_adjacent
        && digit(Some(line.at(skipped)))
        && full >= MIN_WRAPPED_WIDTH
        && [width(earlier), width(content)].contains(&full)
}

/// The normal form of one original character.
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
            // Frames, progress bars, and the marker of the failing line in tracebacks of rich.
            '\u{2500}'..='\u{259f}' | '\u{2771}' => Self::Space,
            '\u{ff01}'..='\u{ff5e}' => Self::of(char::from((character as u32 - 0xfee0) as u8)),
            _ => Self::Byte(0x80 | (character as u32 & 0x7f) as u8),
        }
    }
}

/// Returns the length of a color code at `at`: control characters, `^[[31m`, an escape such as `\u001b[0m`, or the `[0m`
/// that remains if a browser removes the control character.
pub(crate) fn color_code_length(line: &LineChars, at: usize) -> usize {
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
            let is_terminator = |character| matches!(character, '\x07' | '\x1b' | '\u{241b}' | '\\');
            match (end..line.len().min(end + MAX_TITLE_LENGTH + 1)).find(|&at| is_terminator(line.at(at))) {
                Some(last) => last + 1 + usize::from(line.has_ignore_case(last, "\x1b\\")) - at,
                None => end - at,
            }
        }
        _ => introducer,
    }
}

/// Returns a line without color codes and titles of terminals.
pub fn without_color_codes(text: &str) -> String {
    let mut line = LineChars::default();
    line.set(text, 0);
    let mut kept = String::new();
    let mut at = 0;
    while at < line.len() {
        match color_code_length(&line, at) {
            0 => {
                kept.push(line.at(at));
                at += 1;
            }
            length => at += length,
        }
    }
    kept
}

fn select_graphic_length(line: &LineChars, at: usize) -> usize {
    let mut end = at + 1;
    while end - at < 20 && matches!(line.at(end), '0'..='9' | ';') {
        end += 1;
    }
    if end > at + 1 && line.at(end) == 'm' { end + 1 - at } else { 0 }
}

/// Returns the number of backslashes that separate the components of a Windows path on this line; 0 if there is no drive,
/// and no backslash between a name and a letter of no escape. Distinguishes the paths `C:\new` and `models\llama\new` from
/// the escape in `"a\nb"`; `e:\n` is more likely the end of a line of Python.
fn separator_run(line: &LineChars) -> usize {
    let drive = (1..line.len())
        .filter(|&at| line.at(at) == ':' && line.at(at + 1) == '\\' && line.at(at - 1).is_ascii_alphabetic())
        .filter(|&at| at < 2 || !line.at(at - 2).is_ascii_alphanumeric())
        .map(|at| (line.at(at - 1), backslashes(line, at + 1), at + 1))
        .find(|(drive, run, at)| drive.is_ascii_uppercase() || !matches!(line.at(at + run), 'n' | 'r' | 't'));
    let is_name = |character: char| character.is_ascii_alphanumeric() || "_.-".contains(character);
    let is_escape = |at: usize| match line.at(at) {
        'U' => line.at(at + 1) == '0',
        letter => !letter.is_ascii_alphabetic() || "abefnrtuvx".contains(letter),
    };
    let path = || {
        (1..line.len())
            .filter(|&at| line.at(at) == '\\' && is_name(line.at(at - 1)))
            .map(|at| (backslashes(line, at), at))
            .find(|(run, at)| !is_escape(at + run))
    };
    drive.map(|(_, run, _)| run).or_else(|| path().map(|(run, _)| run)).unwrap_or(0)
}

fn backslashes(line: &LineChars, at: usize) -> usize {
    (at..).take_while(|&at| line.at(at) == '\\').count()
}

fn escaped(line: &LineChars, at: usize, separators: usize) -> (Folded, usize) {
    let run = backslashes(line, at);
    match line.at(at + run) {
        // The quote includes its backslashes, which tell it from quotes of another depth.
        '"' => (Folded::Byte(b'"'), run + 1),
        '\'' => (Folded::Byte(b'\''), run + 1),
        '/' | '\0' => (Folded::Nothing, run),
        'n' | 'r' | 't' if run != separators => (Folded::Break, run + 1),
        'u' => match line.hex_char(at + run + 1, 4) {
            Some(character) => (Folded::of(character), run + 5),
            None => (Folded::Byte(b'/'), run),
        },
        _ => (Folded::Byte(b'/'), run),
    }
}

/// Decodes an HTML entity, also if its `&` is itself encoded.
fn entity(line: &LineChars, at: usize) -> (Folded, usize) {
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
    while line.has_ignore_case(end, "amp;") {
        end += 4;
    }
    match NAMES.iter().find(|(name, _)| line.has_ignore_case(end, name)) {
        Some((name, character)) => (Folded::of(*character), end + name.len() - at),
        None => (Folded::Byte(b'&'), end - at),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> String {
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
    fn removes_colors_in_every_notation() {
        for text in [
            "\x1b[1;31mcuda\x1b[0m error",
            "^[[31mcuda^[[0m error",
            "\\u001b[31mcuda\\u001b[0m error",
            "[31mcuda[0m error",
            "\x1b]0;title\x07cuda error",
            "\x1b]8;;x\x1b\\cuda error",
        ] {
            assert_eq!(show(text), "~cuda error", "{text:?}");
        }
    }

    #[test]
    fn decodes_escapes_and_entities() {
        assert_eq!(show(r#"{"msg": "not \"found\"\nCUDA"}"#), r#"~{"msg": "not "found"~cuda"}"#);
        assert_eq!(show(r"load C:\new\torch\c10.dll"), "~load c:/new/torch/c10.dll");
        assert_eq!(show(r#"{"m":"C:\\new\\torch\nnext"}"#), r#"~{"m":"c:/new/torch~next"}"#);
        assert_eq!(show(r#"{"m":"as e:\nnext"}"#), r#"~{"m":"as e:~next"}"#);
        assert_eq!(show(r"cannot open models\llama\new.gguf"), "~cannot open models/llama/new.gguf");
        assert_eq!(show(r"open .\models\tiny.gguf"), "~open ./models/tiny.gguf");
        assert_eq!(show(r#"{"m":"open models\\llama\nnext"}"#), r#"~{"m":"open models/llama~next"}"#);
        assert_eq!(show(r"at 50%\rat 100%\nnext"), "~at 50%~at 100%~next");
        assert_eq!(show("a &gt;&amp;gt; b &amp; c"), "~a >> b & c");
    }

    #[test]
    fn folds_quotes_frames_and_full_width_characters() {
        assert_eq!(show("│ ‘a’ “b” – c… │\n│ ：ｘ │"), "~'a' \"b\" - c...~:x");
    }

    #[test]
    fn joins_numbers_that_wrap_at_a_frame_or_window() {
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
            assert_eq!(show(&log).contains("2048"), joined, "{log}");
        }
    }

    #[test]
    fn characters_map_to_the_original_text() {
        let text = "│ é “Ab”\r\n> x";
        let normal = NormalText::of_log(text);
        let found = normal.bytes.iter().position(|byte| *byte == b'a').expect("the letter is there");
        assert_eq!(&text[normal.starts[found] as usize..normal.ends[found] as usize], "A");
        let last = normal.len() - 1;
        assert_eq!(&text[normal.starts[last] as usize..], "x");
    }
}
