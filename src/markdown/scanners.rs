//! Highlights console sessions and program output line by line, without a grammar.

use crate::markdown::span_writer::{SpanWriter, TokenClass};

/// Prompts of shells and Python, longest first.
const PROMPTS: [&str; 6] = ["PS> ", ">>> ", "... ", "$ ", "# ", "% "];

/// Highlights the prompts and commands of a session, but not the output.
pub(crate) fn console(code: &str) -> String {
    let mut spans = SpanWriter::default();
    let mut continues = false;
    for line in code.split_inclusive('\n') {
        let prompt = prompt_length(line);
        if prompt == 0 && !continues {
            spans.push(None, line);
            continue;
        }
        spans.push(Some(TokenClass::Prompt), &line[..prompt]);
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

/// Highlights a command line: program, options, strings, variables and operators.
fn command(spans: &mut SpanWriter, line: &str, mut at_start: bool) {
    for word in words(line) {
        let class = match word.chars().next() {
            None => None,
            Some(first) if first.is_whitespace() => None,
            Some('#') => Some(TokenClass::Comment),
            Some('"' | '\'') => Some(TokenClass::String),
            Some('$' | '%') => Some(TokenClass::Variable),
            Some('|' | '&' | ';' | '<' | '>' | '\\' | '`') => {
                at_start |= word.starts_with(['|', '&', ';']);
                Some(TokenClass::Operator)
            }
            Some('-') => Some(TokenClass::Variable),
            // A variable assignment precedes the program: `CUDA_VISIBLE_DEVICES=0 program`.
            Some(_) if at_start && word.contains('=') => Some(TokenClass::Variable),
            Some(_) if at_start => {
                at_start = word == "sudo";
                Some(TokenClass::Function)
            }
            Some(_) => None,
        };
        spans.push(class, word);
    }
}

/// Splits a command line into white space, quoted text, operators and words.
fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.len(),
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |at| at + 2),
            '|' | '&' | ';' | '<' | '>' | '`' => first.len_utf8(),
            _ if first.is_whitespace() => run_length(rest, char::is_whitespace),
            _ => run_length(rest, |next| {
                !next.is_whitespace() && !matches!(next, '"' | '\'' | '|' | '&' | ';' | '<' | '>')
            }),
        };
        let (word, after) = rest.split_at(length.max(first.len_utf8()));
        words.push(word);
        rest = after;
    }
    words
}

fn run_length(text: &str, within: impl Fn(char) -> bool) -> usize {
    text.find(|character: char| !within(character)).unwrap_or(text.len())
}

/// Keywords of error lines.
const ERROR_KEYWORDS: [&str; 12] = [
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

/// Keywords of warnings.
const WARNING_KEYWORDS: [&str; 4] = ["warning", "warn", "deprecated", "wrn"];

/// Highlights program output: errors and warnings; mutes time stamps, stack frames and paths.
pub(crate) fn log(code: &str) -> String {
    let mut spans = SpanWriter::default();
    for line in code.split_inclusive('\n') {
        let stamp = stamp_length(line);
        spans.push(Some(TokenClass::Muted), &line[..stamp]);
        let rest = &line[stamp..];
        let lower = rest.to_ascii_lowercase();
        let class = if is_frame(rest) {
            Some(TokenClass::Muted)
        } else if ERROR_KEYWORDS.iter().any(|word| has_keyword(&lower, word)) {
            Some(TokenClass::Error)
        } else if WARNING_KEYWORDS.iter().any(|word| has_keyword(&lower, word)) {
            Some(TokenClass::Warning)
        } else {
            None
        };
        match class {
            Some(_) => spans.push(class, rest),
            None => push_line(&mut spans, rest),
        }
    }
    spans.finish()
}

/// Returns whether a line is a stack frame of Python, Rust or Java.
fn is_frame(line: &str) -> bool {
    let text = line.trim_start();
    (text.starts_with("File \"") && text.contains("\", line "))
        || (text.len() < line.len() && text.starts_with("at "))
}

/// Returns whether a word of `lower` ends with the keyword, as in `RuntimeError`; accepts false positives such as `terror`.
fn has_keyword(lower: &str, word: &str) -> bool {
    lower.match_indices(word).any(|(at, _)| {
        let after = lower[at + word.len()..].chars().next();
        after.is_none_or(|next| !next.is_alphanumeric() && next != '_')
            && !lower[..at].ends_with("no ")
            && !lower[..at].ends_with("0 ")
    })
}

/// Returns the length of a time stamp at the start of a line, with brackets and the following space.
fn stamp_length(line: &str) -> usize {
    let is_part = |next: char| next.is_ascii_digit() || "-:.,/TZ+[] ".contains(next);
    let end = run_length(line, is_part);
    let stamp = &line[..end];
    let stamp = &stamp[..stamp.trim_end_matches('[').len()];
    let digits = stamp.bytes().filter(u8::is_ascii_digit).count();
    if digits >= 6 && stamp.contains(':') { stamp.len() } else { 0 }
}

/// Writes a line with muted absolute paths.
fn push_line(spans: &mut SpanWriter, line: &str) {
    let mut rest = line;
    while !rest.is_empty() {
        let blank = run_length(rest, char::is_whitespace);
        let word = blank + run_length(&rest[blank..], |next| !next.is_whitespace());
        let (piece, after) = rest.split_at(word);
        let text = piece.trim_start().trim_start_matches(['\'', '"', '(', '[']);
        let is_path = (text.starts_with('/') && text[1..].contains('/'))
            || text.get(1..3).is_some_and(|drive| drive == ":\\" || drive == ":/");
        spans.push(is_path.then_some(TokenClass::Muted), piece);
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn highlights_sessions() {
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
    fn highlights_errors_warnings_and_time_stamps() {
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
