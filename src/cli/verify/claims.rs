//! Finds what pages say about a program: options in its commands, and its environment variables.

use std::ops::Range;

use crate::cli::verify::ClaimKind;
use crate::markdown::{CodePart, code_parts};

/// Option or environment variable in the code of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Claim {
    pub kind: ClaimKind,
    /// `--ctx-size`, `-ngl`, `OLLAMA_HOST`.
    pub name: String,
    /// Byte range in the text.
    pub range: Range<usize>,
}

/// Words before the program of a command.
const BEFORE: [&str; 5] = ["$", "sudo", "env", "time", "nohup"];

/// Returns the claims about a program in Markdown. `commands` are the programs, perhaps with a subcommand (`vllm serve`),
/// `variables` the beginnings of its variables. `is_only` tells that the page is about no other program, so that an option
/// alone in a code span belongs to it, too.
pub(super) fn claims(text: &str, commands: &[String], variables: &[String], is_only: bool) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut is_continued = false;
    for CodePart { range, in_fence } in code_parts(text) {
        let words = words(text, range.clone());
        let all = words.iter().flat_map(|word| names(text, word.clone()));
        // `LLAMA_ARG_...` and `OLLAMA_*` represent several names.
        let is_whole = |name: &Range<usize>| !text[name.end..].starts_with(['.', '*']);
        let own = all.filter(|name| is_variable(&text[name.clone()], variables) && is_whole(name));
        claims.extend(own.map(|range| Claim {
            kind: ClaimKind::Variable,
            name: text[range.clone()].to_string(),
            range,
        }));
        let mut is_own = is_continued && in_fence;
        let mut is_start = !is_own;
        for (at, word) in words.iter().enumerate() {
            let value = &text[word.clone()];
            if matches!(value, "|" | "||" | "&&" | ";" | "&") {
                (is_own, is_start) = (false, true);
            } else if is_start && !BEFORE.contains(&value) && !is_assignment(value) {
                is_start = false;
                is_own = commands.iter().any(|command| is_command(command, text, &words[at..]))
                    || (is_only && words.len() == 1);
            }
            if is_own && let Some(range) = option(text, word.clone()) {
                claims.push(Claim { kind: ClaimKind::Option, name: text[range.clone()].to_string(), range });
            }
        }
        is_continued = is_own && text[range].ends_with(['\\', '`', '^']);
    }
    claims
}

/// Returns the words of a range, split at white space.
fn words(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut at = range.start;
    for word in text[range].split_inclusive(char::is_whitespace) {
        let bare = word.trim_end();
        if !bare.is_empty() {
            words.push(at..at + bare.len());
        }
        at += word.len();
    }
    words
}

/// Returns the names of letters, digits and underscores in a word.
fn names(text: &str, word: Range<usize>) -> Vec<Range<usize>> {
    let is_separator = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let mut at = word.start;
    let parts = text[word].split_inclusive(is_separator).map(|part| {
        let start = at;
        at += part.len();
        start..start + part.trim_end_matches(is_separator).len()
    });
    parts.filter(|name| !name.is_empty()).collect()
}

fn is_variable(name: &str, variables: &[String]) -> bool {
    variables.iter().any(|start| name.starts_with(start.as_str()))
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && !name.ends_with('_')
}

/// Returns whether words begin with a command; its first word may have a folder and `.exe`.
fn is_command(command: &str, text: &str, words: &[Range<usize>]) -> bool {
    let parts: Vec<&str> = command.split_whitespace().collect();
    parts.len() <= words.len()
        && parts.iter().zip(words).enumerate().all(|(at, (part, word))| {
            let word = &text[word.clone()];
            let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
            *part == word || (at == 0 && *part == name.strip_suffix(".exe").unwrap_or(name))
        })
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Returns the option at the start of a word: `--ctx-size=8192` and `--config.x` without their ends. Single letters are left
/// out, because sources spell them in many ways.
fn option(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let value = &text[word.clone()];
    let name = value.split(['=', '.', ',', ')', ':']).next().unwrap_or(value);
    let letters = name.strip_prefix("--").or_else(|| name.strip_prefix('-').filter(|rest| rest.len() > 1))?;
    let is_name = letters.starts_with(|c: char| c.is_ascii_lowercase())
        && !letters.ends_with('-')
        && letters.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_');
    is_name.then(|| word.start..word.start + name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, is_only: bool) -> Vec<String> {
        let commands = ["llama-server".to_string(), "vllm serve".to_string()];
        let claims = claims(text, &commands, &["LLAMA_".to_string()], is_only);
        claims.into_iter().map(|claim| claim.name).collect()
    }

    #[test]
    fn options_belong_to_the_program_of_their_command() {
        let text = "```bash\nLLAMA_ARG_X=1 ./llama-server -m a.gguf -ngl 99 \\\n  --ctx-size=8192 | tee --append log\n\
                    vllm serve m --max-model-len 1\nvllm bench --other\n```\n";
        assert_eq!(found(text, false), ["LLAMA_ARG_X", "-ngl", "--ctx-size", "--max-model-len"]);
    }

    #[test]
    fn an_option_alone_belongs_to_the_only_program_of_the_page() {
        let text = "Lower `--ctx-size`, or run `other --flag`. Prose --here.\n";
        assert_eq!(found(text, true), ["--ctx-size"]);
        assert!(found(text, false).is_empty());
    }
}
