//! Console sessions and program output, read line by line without a grammar.

use crate::markdown::spans::{Class, Spans};

/// Prompts, longest first; a shell's and Python's.
const PROMPTS: [&str; 6] = ["PS> ", ">>> ", "... ", "$ ", "# ", "% "];

/// A session: prompts, the commands after them, and output, which stays plain.
pub(crate) fn console(code: &str) -> String {
    let mut spans = Spans::default();
    let mut continues = false;
    for line in code.split_inclusive('\n') {
        let prompt = prompt_length(line);
        if prompt == 0 && !continues {
            spans.push(None, line);
            continue;
        }
        spans.push(Some(Class::Prompt), &line[..prompt]);
        command(&mut spans, &line[prompt..], !continues || prompt > 0);
        continues = line.trim_end().ends_with(['\\', '`']);
    }
    spans.finish()
}

fn prompt_length(line: &str) -> usize {
    if let Some(prompt) = PROMPTS.iter().find(|prompt| line.starts_with(**prompt)) {
        return prompt.len();
    }
    // `PS C:\models> ` and `C:\models> `.
    let is_windows = line.starts_with("PS ") || line.get(1..3).is_some_and(|drive| drive == ":\\");
    line.find("> ").filter(|_| is_windows).map_or(0, |at| at + 2)
}

/// A command line, lightly: the program, options, strings, variables and what joins commands.
fn command(spans: &mut Spans, line: &str, mut at_start: bool) {
    for word in words(line) {
        let class = match word.chars().next() {
            None => None,
            Some(first) if first.is_whitespace() => None,
            Some('#') => Some(Class::Comment),
            Some('"' | '\'') => Some(Class::String),
            Some('$' | '%') => Some(Class::Variable),
            Some('|' | '&' | ';' | '<' | '>' | '\\' | '`') => {
                at_start |= word.starts_with(['|', '&', ';']);
                Some(Class::Operator)
            }
            Some('-') => Some(Class::Variable),
            // `CUDA_VISIBLE_DEVICES=0 program`: the program is yet to come.
            Some(_) if at_start && word.contains('=') => Some(Class::Variable),
            Some(_) if at_start => {
                at_start = word == "sudo";
                Some(Class::Function)
            }
            Some(_) => None,
        };
        spans.push(class, word);
    }
}

/// Cuts a command line into white space, quoted texts, signs and words; together they are the line.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.len(),
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |at| at + 2),
            '|' | '&' | ';' | '<' | '>' | '`' => first.len_utf8(),
            _ if first.is_whitespace() => span(rest, char::is_whitespace),
            _ => span(rest, |next| {
                !next.is_whitespace() && !matches!(next, '"' | '\'' | '|' | '&' | ';' | '<' | '>')
            }),
        };
        let (word, after) = rest.split_at(length.max(first.len_utf8()));
        words.push(word);
        rest = after;
    }
    words
}

fn span(text: &str, within: impl Fn(char) -> bool) -> usize {
    text.find(|character: char| !within(character)).unwrap_or(text.len())
}

/// Words that make a line of output an error.
const ERRORS: [&str; 12] = [
    "error",
    "fatal",
    "panic",
    "exception",
    "traceback",
    "failed",
    "failure",
    "critical",
    "abort",
    "aborted",
    "killed",
    "out of memory",
];

/// Words that make it a warning.
const WARNINGS: [&str; 4] = ["warning", "warn", "deprecated", "wrn"];

/// Program output: error lines, warnings, and time stamps and source paths that step back.
pub(crate) fn log(code: &str) -> String {
    let mut spans = Spans::default();
    for line in code.split_inclusive('\n') {
        let stamp = stamp_length(line);
        spans.push(Some(Class::Muted), &line[..stamp]);
        let rest = &line[stamp..];
        let lower = rest.to_ascii_lowercase();
        let class = if is_frame(rest) {
            Some(Class::Muted)
        } else if ERRORS.iter().any(|word| holds(&lower, word)) {
            Some(Class::Error)
        } else if WARNINGS.iter().any(|word| holds(&lower, word)) {
            Some(Class::Warning)
        } else {
            None
        };
        match class {
            Some(_) => spans.push(class, rest),
            None => paths(&mut spans, rest),
        }
    }
    spans.finish()
}

/// A line of a traceback that only says where: Python's, Rust's and Java's form.
fn is_frame(line: &str) -> bool {
    let text = line.trim_start();
    (text.starts_with("File \"") && text.contains("\", line "))
        || (text.len() < line.len() && text.starts_with("at "))
}

/// Whether `word` stands in `lower` at the beginning of a word, or ends one: `RuntimeError` is an error,
/// `mirror` and `terror` are unlikely enough.
fn holds(lower: &str, word: &str) -> bool {
    lower.match_indices(word).any(|(at, _)| {
        let after = lower[at + word.len()..].chars().next();
        after.is_none_or(|next| !next.is_alphanumeric() && next != '_')
            && !lower[..at].ends_with("no ")
            && !lower[..at].ends_with("0 ")
    })
}

/// The length of a time stamp at the beginning of a line, brackets and the space after it included.
fn stamp_length(line: &str) -> usize {
    let is_part = |next: char| next.is_ascii_digit() || "-:.,/TZ+[] ".contains(next);
    let end = span(line, is_part);
    let stamp = &line[..end];
    let stamp = &stamp[..stamp.trim_end_matches('[').len()];
    let digits = stamp.bytes().filter(u8::is_ascii_digit).count();
    if digits >= 6 && stamp.contains(':') { stamp.len() } else { 0 }
}

/// A line with its absolute paths stepping back.
fn paths(spans: &mut Spans, line: &str) {
    let mut rest = line;
    while !rest.is_empty() {
        let blank = span(rest, char::is_whitespace);
        let word = blank + span(&rest[blank..], |next| !next.is_whitespace());
        let (piece, after) = rest.split_at(word);
        let text = piece.trim_start().trim_start_matches(['\'', '"', '(', '[']);
        let is_path = (text.starts_with('/') && text[1..].contains('/'))
            || text.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
        spans.push(is_path.then_some(Class::Muted), piece);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_has_prompts_commands_and_plain_output() {
        assert_eq!(
            console(
                "$ FOO=1 ollama run \"x y\" --verbose | tee $LOG # see\n# not a prompt's output\nok $ 5\n"
            ),
            concat!(
                "<span class=\"p\">$</span> <span class=\"v\">FOO=1</span> <span class=\"f\">ollama</span> run ",
                "<span class=\"s\">&quot;x y&quot;</span> <span class=\"v\">--verbose</span> <span class=\"o\">|</span> ",
                "<span class=\"f\">tee</span> <span class=\"v\">$LOG</span> <span class=\"c\"># see</span>\n",
                "<span class=\"p\">#</span> <span class=\"f\">not</span> a prompt<span class=\"s\">&#39;s output</span>\n",
                "ok $ 5\n"
            )
        );
        assert_eq!(
            console("PS C:\\x> nvidia-smi `\n  -q\nout\n"),
            "<span class=\"p\">PS C:\\x&gt;</span> <span class=\"f\">nvidia-smi</span> <span class=\"o\">`</span>\n  \
             <span class=\"v\">-q</span>\nout\n"
        );
    }

    #[test]
    fn errors_warnings_and_stamps_are_told_apart() {
        assert_eq!(
            log(
                "2026-01-02T10:00:00.1Z RuntimeError: no\nWARN low\n0 errors, /a/b.gguf\n  File \"/x.py\", line 3, in f\n"
            ),
            concat!(
                "<span class=\"m\">2026-01-02T10:00:00.1Z</span> <span class=\"e\">RuntimeError: no</span>\n",
                "<span class=\"w\">WARN low</span>\n",
                "0 errors, <span class=\"m\">/a/b.gguf</span>\n",
                "  <span class=\"m\">File &quot;/x.py&quot;, line 3, in f</span>\n"
            )
        );
    }
}
