//! Characters in commands that look like ASCII but are not.

use std::ops::Range;

use crate::check::{CheckContext, texts};
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;

pub(super) const RULE: Rule = Rule {
    code: "command-character",
    requirement: "commands use ASCII spaces, hyphens and quotes, except in quoted text and comments",
    why: "a shell treats no-break spaces, dashes and curly quotes as letters and runs a different command",
};

/// Languages of code blocks with commands.
const SHELLS: [&str; 9] =
    ["bash", "batch", "cmd", "console", "dockerfile", "powershell", "ps1", "sh", "shell"];

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for head in texts::heads(context) {
        let body = context.sources.text(head.body.span);
        if body.is_ascii() {
            continue;
        }
        let span = |range: Range<usize>| head.body.span.part(range.start, range.end);
        for fence in &head.body.outline.fences {
            let language = fence.language.as_str();
            if SHELLS.contains(&language) {
                let block = &body[fence.range.clone()];
                let marks = in_block(block, language == "console");
                found.extend(
                    marks.into_iter().map(|mark| mark.fixable(span(mark.shifted(fence.range.start)))),
                );
            }
        }
        for range in &head.body.outline.code {
            let marks = in_inline(&body[range.clone()]);
            found.extend(marks.into_iter().map(|mark| mark.fixable(span(mark.shifted(range.start)))));
        }
    }
    for (line, outline) in texts::lines(context, texts::CODE_MARKS) {
        let code = outline.code.iter().filter_map(|range| line.value.get(range.clone()));
        found.extend(code.flat_map(in_inline).map(|mark| mark.finding(line.span)));
    }
    found
}

/// A character that looks like an ASCII character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    at: usize,
    character: char,
    ascii: char,
}

impl Mark {
    fn shifted(&self, by: usize) -> Range<usize> {
        by + self.at..by + self.at + self.character.len_utf8()
    }

    fn finding(&self, span: Span) -> Diagnostic {
        let name = match self.ascii {
            ' ' => "an ASCII space".to_string(),
            '\'' => "the ASCII apostrophe".to_string(),
            other => format!("the ASCII `{other}`"),
        };
        let message = format!("character U+{:04X} in a command looks like {name}", u32::from(self.character));
        let help = match self.ascii {
            ' ' => "write an ASCII space".to_string(),
            ascii => format!("write `{ascii}`"),
        };
        Diagnostic::error(&RULE, span, message).help(help)
    }

    /// As [`Mark::finding`], at the character itself, so that it can be replaced.
    fn fixable(&self, span: Span) -> Diagnostic {
        self.finding(span).fix(self.ascii)
    }
}

/// Returns the ASCII character that a character looks like.
fn ascii_of(character: char) -> Option<char> {
    Some(match character {
        '\u{A0}' | '\u{1680}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}' => ' ',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{FE58}' | '\u{FE63}' | '\u{FF0D}' => '-',
        '\u{2018}'..='\u{201B}' | '\u{B4}' | '\u{2032}' | '\u{FF07}' => '\'',
        '\u{201C}'..='\u{201F}' | '\u{2033}' | '\u{FF02}' => '"',
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(u32::from(character) - 0xFEE0)?,
        _ => return None,
    })
}

/// Returns the marks in a code block with commands. In a `console` block, lines without a prompt are output.
fn in_block(block: &str, is_console: bool) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut quote = None;
    let mut start = 0;
    for (number, line) in block.split_inclusive('\n').enumerate() {
        let command = line.trim_start();
        let is_command = !is_console || quote.is_some() || command.starts_with(['$', '>']);
        if number > 0 && is_command {
            marks.extend(
                in_line(line, &mut quote).into_iter().map(|mark| Mark { at: start + mark.at, ..mark }),
            );
        }
        start += line.len();
    }
    marks
}

/// Returns the marks in a line of commands. `quote` is the open quote.
fn in_line(line: &str, quote: &mut Option<char>) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut before = ' ';
    for (at, character) in line.char_indices() {
        match (*quote, character) {
            (None, '#') if before.is_whitespace() => break,
            (None, '\'' | '"') if before != '\\' => *quote = Some(character),
            (Some(open), _) if open == character && before != '\\' => *quote = None,
            _ => {}
        }
        before = character;
        let Some(ascii) = ascii_of(character) else { continue };
        if quote.is_none() || ascii == ' ' {
            marks.push(Mark { at, character, ascii });
        }
    }
    marks
}

/// Returns the marks in inline code, which may not be a command: dashes at the start of an option, quotes after `=`, and
/// spaces between words.
fn in_inline(code: &str) -> Vec<Mark> {
    let mut marks = Vec::new();
    let is_ascii_otherwise = code.chars().all(|c| c.is_ascii() || ascii_of(c).is_some());
    let mut before = ' ';
    for (at, character) in code.char_indices() {
        let previous = std::mem::replace(&mut before, character);
        let Some(ascii) = ascii_of(character) else { continue };
        let next = code[at + character.len_utf8()..].chars().next().unwrap_or(' ');
        let begins = previous.is_whitespace() || previous == '`' || ascii_of(previous) == Some('-');
        let misleads = match ascii {
            ' ' => is_ascii_otherwise,
            '-' => begins && (next.is_ascii_alphabetic() || next == '-' || ascii_of(next) == Some('-')),
            '\'' | '"' => previous == '=',
            _ => is_ascii_otherwise,
        };
        if misleads {
            marks.push(Mark { at, character, ascii });
        }
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(marks: Vec<Mark>) -> String {
        marks.into_iter().map(|mark| mark.ascii).collect()
    }

    #[test]
    fn commands_are_read_as_a_shell_reads_them() {
        let block = |text: &str| read(in_block(&format!("```bash\n{text}\n```"), false));
        assert_eq!(block("ollama\u{a0}run x \u{2013}ngl \u{2013}\u{2013}help \u{ff0d}v"), " ----");
        assert_eq!(block("echo “a” ‘b’ ；"), "\"\"'';");
        assert_eq!(block("echo \"it’s – “fine”\" # – ’ \u{a0}\n# – don’t\nls"), "");
        assert_eq!(block("echo \"a\u{a0}b\""), " ");
        assert_eq!(block("ollama run … → ×"), "");
    }

    #[test]
    fn only_prompts_of_a_console_are_commands() {
        let console = "```console\n$ ls \u{2013}l\nerror – can’t\u{a0}open\n```";
        assert_eq!(read(in_block(console, true)), "-");
    }

    #[test]
    fn inline_code_may_quote_what_programs_print() {
        assert_eq!(read(in_inline("`llama-server \u{2013}ngl\u{a0}20`")), "- ");
        assert_eq!(read(in_inline("`A=“x”`")), "\"");
        for text in ["`can’t open ‘x’ – failed`", "`−1`", "`Error：文件 “a”`", "`a — b`"] {
            assert_eq!(read(in_inline(text)), "", "{text}");
        }
    }
}
