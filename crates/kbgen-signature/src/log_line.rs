//! The line of a message: its level, its logger, and whether the message ends in it.

use crate::figure::{Figure, Figures};

/// Shortest line that a terminal may have wrapped, so that its message continues on the next one.
const MIN_WRAPPED_LENGTH: usize = 60;
/// Names of levels below an error, and of those from it on.
const LOW_LEVELS: [&str; 11] =
    ["TRACE", "DEBUG", "INFO", "NOTICE", "NOTE", "WARNING", "WARN", "DBG", "DEBG", "INF", "WRN"];
const HIGH_LEVELS: [&str; 5] = ["ERROR", "ERR", "FATAL", "CRITICAL", "PANIC"];
/// Letters of levels below an error, as ONNX Runtime prints them: `[W:onnxruntime:, session_state.cc:1166]`.
const LOW_LETTERS: [&str; 3] = ["V", "I", "W"];
/// Ending of the place in the source code of Chromium, which programs with a browser inside print without a failure:
/// `[744472:0525/145619.063924:ERROR:gpu_memory_buffer_support_x11.cc(49)] dri3 extension not supported.`
const CHROMIUM_FILES: [&str; 4] = [".cc(", ".cc:", ".mm(", ".mm:"];

/// Returns whether a line is no report of an error: its first level is lower, or it is of Chromium.
pub fn is_quiet(line: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for word in line.split(|c: char| !is_word(c)).filter(|word| !word.is_empty()) {
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        let before = line[..start].chars().next_back();
        let behind = &line[start + word.len()..];
        let upper = word.to_ascii_uppercase();
        // A level is in capitals, or marked as one.
        let is_marked = word == upper || behind.starts_with(':') || before == Some('=');
        let is_level = |levels: &[&str]| is_marked && levels.contains(&upper.as_str());
        let is_letter = before == Some('[') && behind.starts_with(':') && LOW_LETTERS.contains(&word);
        if is_letter || is_level(&LOW_LEVELS) || word.ends_with("Warning") && behind.starts_with(':') {
            return true;
        }
        if is_level(&HIGH_LEVELS) || word.ends_with("Error") || word.ends_with("Exception") {
            let is_named = before == Some(':') && behind.starts_with(':');
            return is_named && CHROMIUM_FILES.iter().any(|file| behind.contains(file));
        }
    }
    false
}

/// Fewest equal lines of a transcription that are a loop.
const MIN_LOOP_LINES: usize = 4;

/// Returns the first line of a loop in a transcription, from 0, and its text: `[00:00:00.000 --> 00:00:02.000] text`. Sounds,
/// such as `[Music]`, may be repeated.
pub(crate) fn repeated_cue<'l>(lines: &[&'l str]) -> Option<(usize, &'l str)> {
    let text = |line: &'l str| {
        let (times, text) = line.trim().strip_prefix('[')?.split_once(']')?;
        Some(text.trim()).filter(|text| times.contains(" --> ") && !text.is_empty())
    };
    let is_speech = |text: &str| !text.starts_with(['[', '(', '*', '\u{266a}']);
    lines.windows(MIN_LOOP_LINES).enumerate().find_map(|(at, lines)| {
        let first = text(lines[0]).filter(|first| is_speech(first))?;
        lines.iter().all(|line| text(line) == Some(first)).then_some((at, first))
    })
}

/// Beginnings of times, with 0 for each digit.
const TIMES: [&str; 7] = ["0000-00-00", "0000/00/00", "00:00:00", "0:00AM", "0:00PM", "00:00AM", "00:00PM"];
/// Most words between a time and the level of the line.
const MAX_LEVEL_DISTANCE: usize = 4;

/// Returns the word with which another line of a log begins, if two lines were joined: the mark of Gin, or a time and then a
/// level. A time alone belongs to the message.
pub(crate) fn joined_line(words: &[&str]) -> Option<usize> {
    let is_time = |word: &str| {
        let word = word.trim_start_matches("time=").trim_start_matches(['"', '[']);
        let shape = word.replace(|c: char| c.is_ascii_digit(), "0");
        TIMES.iter().any(|time| shape.starts_with(time))
    };
    let is_level = |word: &&str| {
        let name = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        word.starts_with("level=") || LOW_LEVELS.contains(&name) || HIGH_LEVELS.contains(&name)
    };
    let has_level = |at: usize| words[at + 1..].iter().take(MAX_LEVEL_DISTANCE).any(is_level);
    let has_own_time = words.first().is_some_and(|word| is_time(word));
    (1..words.len())
        .filter(|_| !has_own_time)
        .find(|&at| words[at] == "[GIN]" || is_time(words[at]) && has_level(at))
}

/// Returns whether a line begins with a level and the name of a logger, as in `ERROR:root:message`.
pub(crate) fn has_logger(line: &str) -> bool {
    let behind = HIGH_LEVELS.iter().find_map(|level| line.trim_start().strip_prefix(level));
    let name = behind.and_then(|rest| rest.strip_prefix(':')?.split_once(':'));
    let is_part = |c: char| c.is_ascii_alphanumeric() || "._".contains(c);
    name.is_some_and(|(name, _)| !name.is_empty() && name.chars().all(is_part))
}

/// Returns whether the figures of a message are on its line, or on the next ones after a line that may be wrapped or ends
/// with a colon.
pub(crate) fn is_on_line(figures: &Figures, line: &str) -> bool {
    let spell = |text: &str| {
        text.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    let whole = spell(line);
    line.chars().count() >= MIN_WRAPPED_LENGTH
        || line.trim_end().ends_with(':')
        || figures.iter().all(|(_, figure)| match figure {
            Figure::Text(text) => whole.contains(&spell(text)),
            Figure::Number(_) => true,
        })
}

#[cfg(test)]
mod tests {
    use super::joined_line;

    #[test]
    fn another_line_begins_with_a_time_and_a_level() {
        for (text, expected) in [
            ("no such file time=2026-01-02T10:20:30.000Z level=INFO source=a.go:1", Some("no such file")),
            ("no such file [GIN] 2026/01/02 - 10:20:30 | 200 |", Some("no such file")),
            ("no such file 2026-01-02 10:20:30,123 app.main 1 INFO ready", Some("no such file")),
            ("no such file 2:43PM INF ready", Some("no such file")),
            ("the token expired at 2026-01-02 10:20:30", None),
            ("2026-01-02 10:20:30 ERROR no such file", None),
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            let found = joined_line(&words).map(|end| words[..end].join(" "));
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    }
}
