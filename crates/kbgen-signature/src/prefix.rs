//! Recognizes line prefixes of logs: quoting, frames, times, levels, ranks, services.
//!
//! Recognizes only forms that cannot start a message. A message over several lines is found only if the prefix of each
//! is skipped.

use crate::normal::color_code_length;

/// The characters of a line with their byte offsets in the whole text.
#[derive(Debug, Default)]
pub(crate) struct LineChars {
    characters: Vec<char>,
    offsets: Vec<u32>,
}

impl LineChars {
    /// Replaces the line with `text`, which starts at byte `offset` of the whole text.
    pub fn set(&mut self, text: &str, offset: usize) {
        self.characters.clear();
        self.offsets.clear();
        for (at, character) in text.char_indices() {
            self.characters.push(character);
            self.offsets.push((offset + at) as u32);
        }
        self.offsets.push((offset + text.len()) as u32);
    }

    /// Returns the character at `at`, or NUL after the end.
    pub fn at(&self, at: usize) -> char {
        self.characters.get(at).copied().unwrap_or('\0')
    }

    pub fn len(&self) -> usize {
        self.characters.len()
    }

    /// Returns the byte offset of a character in the whole text.
    pub fn offset(&self, at: usize) -> u32 {
        self.offsets[at.min(self.len())]
    }

    /// Returns whether `text` is at `at`, ignoring ASCII case.
    pub fn has_ignore_case(&self, at: usize, text: &str) -> bool {
        text.chars().enumerate().all(|(index, expected)| self.at(at + index).eq_ignore_ascii_case(&expected))
    }

    /// Parses `count` hexadecimal digits as a code point.
    pub fn hex_char(&self, at: usize, count: usize) -> Option<char> {
        let digits: Option<Vec<u32>> = (at..at + count).map(|at| self.at(at).to_digit(16)).collect();
        char::from_u32(digits?.into_iter().fold(0, |value, digit| value * 16 + digit))
    }

    /// Returns the end of the line, without a closing `|` if the skipped prefix starts with `|`.
    pub fn content_end(&self, skipped: usize) -> usize {
        let opened = (0..skipped).find(|&at| self.at(at) != ' ').is_some_and(|at| self.at(at) == '|');
        let mut end = self.len();
        while opened && end > skipped && matches!(self.at(end - 1), ' ' | '|') {
            end -= 1;
        }
        end
    }

    /// Returns whether `text` is at `at`.
    pub fn has(&self, at: usize, text: &str) -> bool {
        text.chars().enumerate().all(|(index, expected)| self.at(at + index) == expected)
    }

    /// Copies the first `length` characters to `head` if there are more; returns whether it did.
    fn truncate_into(&self, length: usize, head: &mut Self) -> bool {
        if self.len() > length {
            head.characters.extend_from_slice(&self.characters[..length]);
            head.offsets.extend_from_slice(&self.offsets[..=length]);
        }
        self.len() > length
    }

    fn run(&self, at: usize, allowed: impl Fn(char) -> bool) -> usize {
        (at..self.len()).take_while(|&at| allowed(self.at(at))).count()
    }

    fn digits(&self, at: usize) -> usize {
        self.run(at, |character| character.is_ascii_digit())
    }

    fn token(&self, at: usize) -> usize {
        self.run(at, |character| character != ' ' && character != '\t')
    }

    fn spaces(&self, at: usize) -> usize {
        self.run(at, is_blank)
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\u{a0}' | '\u{2500}'..='\u{259f}' | '\u{2771}')
}

/// Maximum length of a prefix, in characters.
const MAX_PREFIX_LENGTH: usize = 1000;

/// Returns the number of characters before the message.
pub(crate) fn prefix_length(line: &LineChars) -> usize {
    let mut head = LineChars::default();
    if line.truncate_into(MAX_PREFIX_LENGTH, &mut head) { length_within(&head) } else { length_within(line) }
}

fn length_within(line: &LineChars) -> usize {
    let mut at = 0;
    let mut has_time = false;
    for _ in 0..16 {
        at += line.spaces(at);
        let color = color_code_length(line, at);
        if color > 0 {
            at += color;
            continue;
        }
        let time = time_length(line, at);
        let step = if time > 0 {
            has_time = true;
            time
        } else {
            marker_length(line, at, has_time)
        };
        if step == 0 {
            break;
        }
        at += step;
    }
    at.min(line.len())
}

fn marker_length(line: &LineChars, at: usize, has_time: bool) -> usize {
    let next = line.at(at + 1);
    match line.at(at) {
        '>' if matches!(next, ' ' | '>' | '\0') => 1,
        '|' if matches!(next, ' ' | '|' | '\0') => 1,
        '#' => build_step_length(line, at),
        '-' | ':' | ']' if has_time && matches!(next, ' ' | '\0') => 1,
        '[' => group_length(line, at, ']'),
        '(' => group_length(line, at, ')'),
        _ => {
            let service = service_length(line, at);
            let level = level_length(line, at, has_time);
            match (service, level) {
                (0, 0) if has_time => logger_length(line, at),
                (0, level) => level,
                (service, _) => service,
            }
        }
    }
}

/// Recognizes a date, a time of day, or both joined; `Mar 01` of systemd; a monotonic `0.03.913.323`.
fn time_length(line: &LineChars, at: usize) -> usize {
    let month = month_length(line, at);
    if month > 0 {
        return month;
    }
    let length = line.run(at, |character| character.is_ascii_digit() || "-/:.,TZ+_APM".contains(character));
    if !matches!(line.at(at + length), ' ' | '\t' | '\0' | ']' | '|') || line.digits(at) == 0 {
        return 0;
    }
    let shown = |from: usize, shape: &str| {
        shape.chars().enumerate().all(|(index, expected)| {
            let found = line.at(from + index);
            if expected == '0' {
                found.is_ascii_digit()
            } else {
                found == expected || (expected == '-' && found == '/')
            }
        })
    };
    let stamped = (at..at + length).any(|from| {
        let ends = |width: usize| !line.at(from + width).is_ascii_digit();
        let begins = from == at || !line.at(from - 1).is_ascii_digit();
        (shown(from, "00:00") && ends(5))
            || (shown(from, "0:00") && ends(4) && begins)
            || shown(from, "00-00-00")
            || (begins && length == 5 && shown(from, "00-00"))
    });
    let monotonic = (at..at + length).any(|from| shown(from, ".00.000.000"));
    if stamped || monotonic { length } else { 0 }
}

/// Recognizes `Mar 01` and `Sun Mar 24`.
fn month_length(line: &LineChars, at: usize) -> usize {
    const DAYS: [&str; 7] = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
    const MONTHS: [&str; 12] =
        ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let named = |names: &[&str], at: usize| {
        let found = names.iter().any(|name| line.has_ignore_case(at, name)) && line.at(at + 3) == ' ';
        if found { 3 + line.spaces(at + 3) } else { 0 }
    };
    let weekday = named(&DAYS, at);
    let month = named(&MONTHS, at + weekday);
    let day = at + weekday + month;
    let digits = line.digits(day);
    if month > 0 && matches!(digits, 1 | 2) && line.at(day + digits) == ' ' { day + digits - at } else { 0 }
}

/// Recognizes `[Bug]:` of titles, `[rank0]:`, `(EngineCore_DP0 pid=1234)`, `[pod/vllm-0/vllm]`, `[core.py:708]`, `[INFO]`, `[26002.108918]`, `[llama-cpp] |`.
fn group_length(line: &LineChars, at: usize, close: char) -> usize {
    let inner = line.run(at + 1, |character| character != close && character != '[' && character != '(');
    let end = at + 1 + inner;
    if inner == 0 || inner > 60 || line.at(end) != close {
        return 0;
    }
    let named = |text: &str| line.has(at + 1, text);
    let only = |allowed: &str| (at + 1..end).all(|from| allowed.contains(line.at(from)));
    let after = end + 1 + line.spaces(end + 1);
    let known = (at + 1..end).any(|from| line.has(from, "pid="))
        || at == 0 && ["Bug]", "BUG]", "bug]", "Usage]", "Installation]"].into_iter().any(named)
        || ["rank", "Rank", "pod/"].into_iter().any(named)
        || time_length(line, at + 1 + line.spaces(at + 1)) > 0
        || level_word(line, at + 1) == inner
        || location_length(line, at + 1) == inner
        || (only("0123456789. ") && inner > 4 && close == ']')
        || (line.at(after) == '|' && close == ']');
    if !known {
        return 0;
    }
    let colon = usize::from(line.at(end + 1) == ':');
    end + 1 + colon - at
}

/// Recognizes `#30 175.9` of an image build.
fn build_step_length(line: &LineChars, at: usize) -> usize {
    let step = line.digits(at + 1);
    let seconds = line.run(at + step + 2, |character| character.is_ascii_digit() || character == '.');
    if step > 0 && seconds > 0 && line.at(at + step + 1) == ' ' { step + seconds + 2 } else { 0 }
}

/// Recognizes `core.py:708`.
fn location_length(line: &LineChars, at: usize) -> usize {
    let name = line.run(at, |character| character.is_ascii_alphanumeric() || "_-./".contains(character));
    let digits = line.digits(at + name + 1);
    let dotted = (at..at + name).any(|from| line.at(from) == '.');
    if dotted && digits > 0 && line.at(at + name) == ':' { name + 1 + digits } else { 0 }
}

fn level_word(line: &LineChars, at: usize) -> usize {
    const NAMES: [&str; 13] = [
        "TRACE", "DEBUG", "INFO", "WARNING", "WARN", "ERROR", "ERR", "FATAL", "CRITICAL", "INF", "WRN",
        "DBG", "NOTICE",
    ];
    let length = line.run(at, |character| character.is_ascii_uppercase());
    let named = |name: &&str| name.len() == length && line.has_ignore_case(at, name);
    if NAMES.iter().any(named) { length } else { 0 }
}

/// Recognizes a level next to a time; `ERROR: not found` is a message.
fn level_length(line: &LineChars, at: usize, has_time: bool) -> usize {
    let length = level_word(line, at);
    if length == 0 {
        let single = has_time && "IWED".contains(line.at(at)) && line.at(at + 1) == ' ';
        return usize::from(single);
    }
    let after = at + length + line.spaces(at + length);
    if after > at + length && (has_time || time_length(line, after) > 0) { length } else { 0 }
}

/// Recognizes `ollama[1234]:`, `host ollama[1234]:`, `kernel:`, and `api-1  |` of Docker Compose.
fn service_length(line: &LineChars, at: usize) -> usize {
    let first = line.token(at);
    let after = at + first + line.spaces(at + first);
    if first == 0 || first > 60 {
        return 0;
    }
    if line.at(after) == '|' && after > at + first && line.at(after + 1) == ' ' && first > 1 {
        return after + 1 - at;
    }
    if is_process(line, at, first) {
        return first;
    }
    let second = line.token(after);
    if second > 0 && is_process(line, after, second) { after + second - at } else { 0 }
}

fn is_process(line: &LineChars, at: usize, length: usize) -> bool {
    if line.at(at + length - 1) != ':' {
        return false;
    }
    if length == 7 && line.has(at, "kernel") {
        return true;
    }
    let name = line.run(at, |character| character.is_ascii_alphanumeric() || "_-.@/".contains(character));
    let digits = line.digits(at + name + 1);
    name > 0 && digits > 0 && line.at(at + name) == '[' && name + digits + 3 == length
}

/// Recognizes, after a time, `stderr F` of a container log, `root -`, `app.llm:ask_tool:250 -`, `engine.py:366]`.
fn logger_length(line: &LineChars, at: usize) -> usize {
    const STREAMS: [&str; 4] = ["stderr F ", "stderr P ", "stdout F ", "stdout P "];
    if STREAMS.iter().any(|stream| line.has(at, stream)) {
        return STREAMS[0].len();
    }
    let token = line.token(at);
    let location = location_length(line, at);
    if location > 0 && line.at(at + location) == ']' {
        return location + 1;
    }
    let after = at + token + line.spaces(at + token);
    let separated = matches!(line.at(after), '-' | '|') && line.at(after + 1) == ' ' && after > at + token;
    if token > 0 && token <= 48 && separated { after + 1 - at } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_prefixes() {
        for text in [
            "> ",
            ">>> ",
            "| ",
            "api-1  | 2026-03-01T10:22:33.123456789Z ",
            "Mar 01 10:22:33 host ollama[1234]: ",
            "(EngineCore_DP0 pid=1234) ERROR 03-01 10:22:33 [core.py:708] ",
            "ERROR 01-11 13:09:40 engine.py:366] ",
            "[rank0]: ",
            "[26002.108918] ",
            "[Sun Mar 24 23:54:53 2024] ",
            "[2024-11-06 23:41:06.473] ",
            "2024-09-15 22:48:26,085 - root - ERROR - ",
            "2025-03-07 14:00:10.370 | ERROR    | app.llm:ask_tool:250 - ",
            "[37723] 52.17.402.129 W ",
            "#30 175.9 ",
            "[llama-cpp] | ",
            "[Bug]: ",
            "[pod/vllm-0/vllm] ",
            "2026-03-01T10:22:33.123456789Z stderr F ",
            "2025-02-16T06:10:14.783407+00:00 ollama-prod ollama[3829]: ",
        ] {
            let mut line = LineChars::default();
            line.set(&format!("{text}the message"), 0);
            assert_eq!(prefix_length(&line), text.chars().count(), "{text:?}");
        }
    }

    #[test]
    fn messages_are_not_prefixes() {
        for text in [
            "[metal::malloc] Attempting to allocate",
            "[Errno 28] No space left on device",
            "(Exit code: 134). Please check settings",
            "ERROR: Could not find a version that satisfies the requirement torch",
            "ERROR:hf-to-gguf:Model is not supported",
            "0.0.0.0:11434: bind: address already in use",
            "FATAL ERROR: Ineffective mark-compacts",
            "292, got 291",
            "[WinError 126] The specified module",
            "429 Client Error",
        ] {
            let mut line = LineChars::default();
            line.set(text, 0);
            assert_eq!(prefix_length(&line), 0, "{text:?}");
        }
    }
}
