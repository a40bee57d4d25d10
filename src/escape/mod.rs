//! Escapes text for terminals, CI logs, Markdown files and JSON on standard output.
//!
//! Each output has its own type, which only escaping creates and which is the only input of its writer.

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

/// Replaces control, bidirectional and invisible characters with escapes such as `\u{202e}`. Keeps line feeds, tabs,
/// and the joiners and variation selectors of emoji and of scripts that need them.
pub fn visible(text: &str) -> Cow<'_, str> {
    replace_invisible(text, escape_of)
}

/// Like [`visible`], with line feeds as `\n`: for values that must not start a new line.
pub fn one_line(text: &str) -> Cow<'_, str> {
    match visible(text) {
        plain if !plain.contains('\n') => plain,
        lines => lines.replace('\n', "\\n").into(),
    }
}

/// Returns the escape that [`visible`] writes for a character.
pub fn escape_of(character: char) -> String {
    character.escape_unicode().to_string()
}

/// Replaces each character that [`visible`] escapes with the result of `replacement`.
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

/// Returns the byte offsets of workflow commands that a GitHub Actions runner would find in a log: of the first colon of a line
/// `::name …::…`, and of the second `#` of `##[name]` anywhere.
///
/// Source: `TryParseV2` and `TryParse` in
/// <https://github.com/actions/runner/blob/main/src/Runner.Common/ActionCommand.cs>.
fn command_positions(text: &str) -> Vec<usize> {
    let mut positions = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim_start();
        if trimmed.strip_prefix("::").is_some_and(|rest| rest.contains("::")) {
            positions.push(start + line.len() - trimmed.len());
        }
        positions.extend(line.match_indices("##[").map(|(at, _)| start + at + 1));
        start += line.len();
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_only_unsafe_characters() {
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
    fn finds_workflow_commands_as_the_runner_does() {
        assert_eq!(command_positions("a\n  ::stop-commands::x\n"), [4]);
        assert_eq!(command_positions("a ##[add-mask]b"), [3]);
        assert_eq!(command_positions("a ::error::b\n::1\n::operator new\n# [x]"), [0; 0]);
    }
}
