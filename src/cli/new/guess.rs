//! Finds the error message in a log and derives a pattern from it.

use kbgen_signature::without_color_codes;

use crate::diagnosis;
use crate::unicode_safety::invisible_chars;

/// Words of lines that report an error.
const ERROR_WORDS: [&str; 9] =
    ["error", "failed", "exception", "cannot", "unable", "fatal", "out of memory", "not found", "killed"];

/// Returns the last line that reports an error, or else the last nonempty line.
pub(super) fn error_line(log: &str) -> Option<String> {
    let lines = || log.lines().map(plain).filter(|line| !line.is_empty());
    let error = lines().rfind(|line| {
        let lower = line.to_lowercase();
        ERROR_WORDS.iter().any(|word| lower.contains(word))
    });
    error.or_else(|| lines().next_back())
}

/// Returns whether a line has words besides [`ERROR_WORDS`]. Without any, a signature would match most logs.
pub(super) fn is_specific(line: &str) -> bool {
    let words = line.split_whitespace().filter(|word| placeholder_for(bare(word).0).is_none());
    let text = words.collect::<Vec<_>>().join(" ").to_lowercase();
    let rest = ERROR_WORDS.iter().fold(text, |rest, word| rest.replace(word, " "));
    rest.split(|c: char| !c.is_alphabetic()).any(|word| word.chars().count() >= 3)
}

/// Removes color codes, control characters and surrounding space.
fn plain(line: &str) -> String {
    let text = without_color_codes(line);
    let dropped: Vec<usize> = invisible_chars(&text).map(|(at, ..)| at).collect();
    let kept: String = text
        .char_indices()
        .filter(|(at, _)| dropped.binary_search(at).is_err())
        .map(|(_, c)| if c == '\t' { ' ' } else { c })
        .collect();
    kept.trim().chars().take(400).collect::<String>().trim_end().to_string()
}

/// Units of byte sizes.
const UNITS: [&str; 9] = ["bytes", "KiB", "MiB", "GiB", "TiB", "KB", "MB", "GB", "B"];

/// Proposes a pattern for a line.
pub(super) fn pattern_of(line: &str) -> String {
    matching_pattern(line, |pattern| diagnosis::finds(pattern, line))
}

/// Returns a pattern that matches the line: without the time stamps and prefixes that the matcher strips, and as literal
/// text if placeholders do not match.
fn matching_pattern(line: &str, finds: impl Fn(&str) -> bool) -> String {
    let starts = std::iter::once(0).chain(line.match_indices(' ').map(|(at, _)| at + 1));
    let mut rests = starts.map(|at| &line[at..]).take(12);
    let candidates = rests.clone().map(pattern).chain(rests.clone().map(escape));
    let mut candidates = candidates.filter(|candidate| !candidate.trim().is_empty());
    candidates
        .find(|candidate| finds(candidate))
        .unwrap_or_else(|| rests.next().map(pattern).unwrap_or_default())
}

/// Replaces numbers, versions, paths and addresses by typed placeholders.
pub(super) fn pattern(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mut parts = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let (core, before, after) = bare(words[at]);
        let unit = words.get(at + 1).map(|next| bare(next));
        let is_number = !core.is_empty() && core.parse::<f64>().is_ok();
        let placeholder = match unit {
            Some((unit, "", tail)) if is_number && UNITS.contains(&unit) => {
                at += 1;
                Some(("{bytes}", tail.to_string()))
            }
            _ => placeholder_for(core).map(|placeholder| (placeholder, after.to_string())),
        };
        parts.push(match placeholder {
            Some((placeholder, after)) => format!("{}{placeholder}{}", escape(before), escape(&after)),
            None => escape(words[at]),
        });
        at += 1;
    }
    parts.join(" ")
}

/// Splits off the punctuation around a word.
fn bare(word: &str) -> (&str, &str, &str) {
    let is_edge = |c: char| matches!(c, '(' | ')' | '[' | ']' | ',' | ';' | ':' | '"' | '\'' | '.' | '`');
    let rest = word.trim_start_matches(is_edge);
    let core = rest.trim_end_matches(is_edge);
    let start = word.len() - rest.len();
    (core, &word[..start], &word[start + core.len()..])
}

fn placeholder_for(core: &str) -> Option<&'static str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match core {
        _ if core.starts_with("0x") && core.len() > 2 && core[2..].bytes().all(|b| b.is_ascii_hexdigit()) => {
            Some("{hex}")
        }
        _ if digits(core) => Some("{int}"),
        _ if core.parse::<f64>().is_ok() && core.starts_with(|c: char| c.is_ascii_digit()) => Some("{float}"),
        _ if core.split('.').count() > 2 && core.split('.').all(digits) => Some("{version}"),
        _ if core.starts_with('/') && core.len() > 1 && !core.starts_with("//") => Some("{path}"),
        _ => None,
    }
}

fn escape(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_become_placeholders() {
        assert_eq!(
            pattern("loader: cannot map /srv/m.gguf at 0x7f00, need 12.5 GiB (have 8.0 GiB), code 12"),
            "loader: cannot map {path} at {hex}, need {bytes} (have {bytes}), code {int}"
        );
        assert_eq!(pattern("driver 535.104.05 is {old}"), "driver {version} is {{old}}");
    }

    #[test]
    fn a_prefix_that_prevents_a_match_is_left_out() {
        let found = matching_pattern("12:00:01 ERROR: code 7", |pattern| pattern.starts_with("ERROR"));
        assert_eq!(found, "ERROR: code {int}");
        assert_eq!(matching_pattern("code 7", |_| false), "code {int}");
    }

    #[test]
    fn the_last_error_line_is_used() {
        assert_eq!(error_line("starting\nload failed: x\nbye\n").as_deref(), Some("load failed: x"));
        assert_eq!(error_line("\n\n"), None);
        assert_eq!(error_line("\u{1}\u{2}\n"), None);
        assert_eq!(error_line("\u{1b}[1;31merror:\u{1b}[0m\tno card").as_deref(), Some("error: no card"));
        assert_eq!(error_line("\u{1b}]0;run 7\u{7}error: no card").as_deref(), Some("error: no card"));
    }

    #[test]
    fn a_line_that_only_reports_a_failure_is_not_specific() {
        for line in ["error", "12:00:01 ERROR: failed", "Errors: 5", "/srv/model.gguf not found", "!"] {
            assert!(!is_specific(line), "{line}");
        }
        for line in ["error: no card", "CUDA out of memory", "loader: cannot map /srv/m.gguf"] {
            assert!(is_specific(line), "{line}");
        }
    }
}
