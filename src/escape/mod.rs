//! Text made safe for where it is written: a terminal, a CI log, a Markdown file, JSON on standard output.
//!
//! Each output has a type of its own that only escaping makes, and its writer takes nothing else.

mod json;
mod markdown;
mod terminal;
mod workflow;

use std::borrow::Cow;

use crate::unicode_safety::invisible_chars;

pub use json::json;
pub use markdown::MarkdownText;
pub use terminal::{ColorChoice, Style, TerminalText};
pub use workflow::WorkflowCommands;

/// Replaces control, bidirectional and invisible characters with escapes such as `\u{202e}`. Line feeds and tabs stay,
/// and so do the joiners and variation selectors of emoji and of scripts that need them.
pub fn visible(text: &str) -> Cow<'_, str> {
    replace_invisible(text, escape_of)
}

/// Like [`visible`], with line feeds as `\n`: for values that may not begin a line of their own.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        plain if !plain.contains('\n') => plain,
        lines => lines.replace('\n', "\\n").into(),
    }
}

/// The escape that [`visible`] writes for a character.
pub fn escape_of(character: char) -> String {
    character.escape_unicode().to_string()
}

/// Replaces the characters that [`visible`] escapes.
pub fn replace_invisible(text: &str, replacement: impl Fn(char) -> String) -> Cow<'_, str> {
    let mut out = String::new();
    let mut end = 0;
    for (at, character, _) in invisible_chars(text) {
        out.push_str(&text[end..at]);
        out.push_str(&replacement(character));
        end = at + character.len_utf8();
    }
    if end == 0 {
        return text.into();
    }
    out.push_str(&text[end..]);
    out.into()
}

/// Bytes of a text at which a GitHub Actions runner would find a workflow command in a log: the first colon of a line
/// `::name …::…`, and the second sign of `##[name]` wherever it is.
///
/// Source: `TryParseV2` and `TryParse` in
/// <https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs>.
fn command_marks(text: &str) -> Vec<usize> {
    let mut marks = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.strip_prefix("::").is_some_and(|rest| rest.contains("::")) {
            marks.push(start + line.len() - trimmed.len());
        }
        marks.extend(line.match_indices("##[").map(|(at, _)| start + at + 1));
        start += line.len();
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsafe_characters_become_escapes_and_others_stay() {
        assert_eq!(visible("a\u{1b}]0;x\u{7}\tb\r\nc"), "a\\u{1b}]0;x\\u{7}\tb\r\nc");
        assert_eq!(
            visible("\u{9b}31m \u{202e} \u{2066} \u{feff}"),
            "\\u{9b}31m \\u{202e} \\u{2066} \\u{feff}"
        );
        assert_eq!(visible("x\u{e0041}y\u{200b}"), "x\\u{e0041}y\\u{200b}");
        assert_eq!(visible("größe 日本 \u{26a0}\u{fe0f}"), "größe 日本 \u{26a0}\u{fe0f}");
        assert_eq!(one_line("a\n::b\rc"), "a\\n::b\\u{d}c");
    }

    #[test]
    fn workflow_commands_are_found_as_a_runner_finds_them() {
        assert_eq!(command_marks("a\n  ::stop-commands::x\n"), [4]);
        assert_eq!(command_marks("a ##[add-mask]b"), [3]);
        assert_eq!(command_marks("a ::error::b\n::1\n::operator new\n# [x]"), [0; 0]);
    }
}
