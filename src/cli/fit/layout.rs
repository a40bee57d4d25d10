//! Layout for lines of 80 columns: paragraphs, commands, sizes and ranges.

use crate::escape::{Style, TerminalText};
use crate::site::{format_count, gib};

/// Columns of a line.
const WIDTH: usize = 80;
const MIB: f64 = 1_048_576.0;

/// Wraps a paragraph at the terminal width.
pub(super) fn wrap(paragraph: &str, first: &str, rest: &str) -> String {
    let mut text = String::from(first);
    let mut column = first.chars().count();
    for (place, word) in paragraph.split(' ').enumerate() {
        let width = word.chars().count();
        if place > 0 && column + 1 + width > WIDTH {
            text.push_str(&format!("\n{rest}"));
            column = rest.chars().count();
        } else if place > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += width;
    }
    format!("{text}\n")
}

/// Formats a title and the lines below it, after an empty line.
pub(super) fn section(title: &str, lines: &str) -> TerminalText {
    let mut text = TerminalText::from("\n");
    text.push(TerminalText::styled(Style::Strong, title));
    text.push(format!("\n{lines}"));
    text
}

/// Formats a styled paragraph after an empty line.
pub(super) fn paragraph_in(style: Style, words: &str) -> TerminalText {
    let mut text = TerminalText::from("\n");
    text.push(TerminalText::styled(style, &wrap(words, "", "")));
    text
}

/// Wraps a command with the mark of a shell, never between a flag and its value.
pub(super) fn command(line: &str, wrap_mark: char) -> String {
    let mut text = String::from("    ");
    let mut column = 4;
    let pieces = pieces(line);
    for (place, piece) in pieces.iter().enumerate() {
        let width = piece.chars().count();
        let room = if place + 1 < pieces.len() { WIDTH - 2 } else { WIDTH };
        if place > 0 && column + 1 + width > room {
            text.push_str(&format!(" {wrap_mark}\n      "));
            column = 6;
        } else if place > 0 {
            text.push(' ');
            column += 1;
        }
        text.push_str(piece);
        column += width;
    }
    format!("{text}\n")
}

/// Splits a command into units that must stay on one line: quoted words, and flags with their values.
fn pieces(line: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut in_quotes = false;
    for word in line.split(' ') {
        let after_variable = pieces.last().is_some_and(|last| is_variable(last));
        let begins = word.starts_with(['-', '\'', '>']) || after_variable;
        match pieces.last_mut() {
            Some(piece) if in_quotes || !begins => {
                piece.push(' ');
                piece.push_str(word);
            }
            _ => pieces.push(word.to_string()),
        }
        in_quotes ^= word.matches('\'').count() % 2 == 1;
    }
    pieces
}

/// Returns whether a unit sets an environment variable.
fn is_variable(piece: &str) -> bool {
    piece.split_once('=').is_some_and(|(name, _)| name.chars().all(|c| c == '_' || c.is_ascii_uppercase()))
}

/// Formats a size, `-` for zero.
pub(super) fn size(bytes: u64) -> String {
    if bytes == 0 { "-".to_string() } else { gib(bytes) }
}

/// Formats a range, with the unit once if both ends share it.
pub(super) fn span([low, high]: [i64; 2]) -> String {
    let in_mib = |bytes: i64| bytes as f64 / MIB;
    let signed = |bytes: i64| match bytes < 0 {
        true => format!("-{}", gib(bytes.unsigned_abs())),
        false => gib(bytes.unsigned_abs()),
    };
    let is_small = |bytes: i64| in_mib(bytes).abs() < 1024.0;
    match (is_small(low), is_small(high)) {
        (true, true) => format!("{:.0} to {:.0} MiB", in_mib(low), in_mib(high)),
        (false, false) => format!("{:.2} to {:.2} GiB", in_mib(low) / 1024.0, in_mib(high) / 1024.0),
        _ => format!("{} to {}", signed(low), signed(high)),
    }
}

/// Formats bytes as whole MiB.
pub(super) fn mib(bytes: u64) -> String {
    format!("{} MiB", format_count((bytes + (1 << 19)) / (1 << 20)))
}

#[cfg(test)]
mod tests {
    use super::{command, span, wrap};

    #[test]
    fn a_line_is_never_longer_than_the_terminal() {
        let long = "one two three ".repeat(20);
        assert!(wrap(&long, "  - ", "    ").lines().all(|line| line.chars().count() <= 80));
        let line = format!("llama-server -m {}.gguf -ngl 999 -c 8192 -np 1 -fa on -ctk q8_0", "x".repeat(40));
        let broken = command(&line, '\\');
        assert!(broken.lines().all(|line| line.chars().count() <= 80), "{broken}");
        assert_eq!(broken.replace(" \\\n     ", ""), format!("    {line}\n"));
    }

    #[test]
    fn a_range_says_its_unit_once() {
        const MIB: i64 = 1 << 20;
        assert_eq!(span([309 * MIB, 749 * MIB]), "309 to 749 MiB");
        assert_eq!(span([2048 * MIB, 3072 * MIB]), "2.00 to 3.00 GiB");
        assert_eq!(span([-512 * MIB, 1024 * MIB]), "-512.0 MiB to 1.00 GiB");
    }
}
