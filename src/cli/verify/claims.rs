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

/// Command of a code block or a code span, without what precedes its program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandLine {
    /// Byte ranges of its words in the text, with their quotes.
    pub words: Vec<Range<usize>>,
    /// Whether it is in a code block.
    pub in_fence: bool,
    /// Whether nothing else is on its line or in its code span.
    is_alone: bool,
}

impl CommandLine {
    /// Returns whether it starts with one of the commands, each a program and perhaps a subcommand (`vllm serve`).
    pub(super) fn runs_any(&self, commands: &[String], text: &str) -> bool {
        commands.iter().any(|command| is_command(command, text, &self.words))
    }

    /// Returns whether its words end within `$(…)`.
    fn has_open_substitution(&self, text: &str) -> bool {
        let (Some(first), Some(last)) = (self.words.first(), self.words.last()) else { return false };
        text[first.start..last.end].split_once("$(").is_some_and(|(_, inner)| {
            let count = |bracket: char| inner.matches(bracket).count();
            count('(') + 1 > count(')')
        })
    }

    /// Returns its words as a shell passes them to the program, without redirections; `None` if a quote is not closed.
    /// Backslashes in paths of Windows are kept.
    pub(super) fn arguments(&self, text: &str) -> Option<Vec<String>> {
        let mut arguments = Vec::new();
        let mut words = self.words.iter().map(|word| &text[word.clone()]);
        while let Some(word) = words.next() {
            let operator = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
            // A placeholder, `<model>`, ends with the other bracket.
            if let Some(target) = operator.strip_prefix('>') {
                if target.trim_start_matches('>').is_empty() {
                    words.next();
                }
            } else if word == "<" {
                words.next();
            } else {
                if is_windows_path(word) {
                    arguments.push(word.to_string());
                } else {
                    arguments.extend(shlex::split(word)?);
                }
            }
        }
        Some(arguments)
    }
}

/// Returns whether a word without quotes has a backslash between two names, as in `.\bin\program.exe`.
fn is_windows_path(word: &str) -> bool {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
    !word.contains(['"', '\''])
        && word.split_once('\\').is_some_and(|(before, after)| {
            before.ends_with(|c| is_name(c) || matches!(c, ':' | '}')) && after.starts_with(is_name)
        })
}

/// Words before the program of a command.
const BEFORE: [&str; 5] = ["$", "sudo", "env", "time", "nohup"];

/// Words between two commands.
const BETWEEN: [&str; 5] = ["|", "||", "&&", ";", "&"];

/// Returns the claims about a program in Markdown. `commands` are the programs, perhaps with a subcommand (`vllm serve`),
/// `variables` the beginnings of its variables. `is_only` tells that the page is about no other program, so that an option
/// alone in a code span belongs to it, too.
pub(super) fn claims(text: &str, commands: &[String], variables: &[String], is_only: bool) -> Vec<Claim> {
    let claim = |kind, range: Range<usize>| Claim { kind, name: text[range.clone()].to_string(), range };
    let parts = code_parts(text);
    let all = parts.iter().flat_map(|part| words(text, part.range.clone()));
    let names = all.flat_map(|word| names(text, word));
    // `LLAMA_ARG_...` and `OLLAMA_*` represent several names.
    let is_whole = |name: &Range<usize>| !text[name.end..].starts_with(['.', '*']);
    let own = names.filter(|name| is_variable(&text[name.clone()], variables) && is_whole(name));
    let mut claims: Vec<Claim> = own.map(|range| claim(ClaimKind::Variable, range)).collect();
    for line in command_lines(text) {
        if line.runs_any(commands, text) || (is_only && line.is_alone && line.words.len() == 1) {
            let options = line.words.iter().filter_map(|word| option(text, word.clone()));
            claims.extend(options.map(|range| claim(ClaimKind::Option, range)));
        }
    }
    claims.sort_by_key(|claim| claim.range.start);
    claims
}

/// Returns the commands in the code of a text, in order; a command in a code block may continue on the next line.
pub(super) fn command_lines(text: &str) -> Vec<CommandLine> {
    let mut lines: Vec<CommandLine> = Vec::new();
    let mut is_continued = false;
    for CodePart { range, in_fence } in code_parts(text) {
        let mut is_open = is_continued && in_fence;
        let words = words(text, range.clone());
        let count = words.len();
        for word in words {
            let value = &text[word.clone()];
            if value.starts_with('#') {
                break;
            }
            if let (true, Some(line)) = (is_open, lines.last_mut())
                && line.has_open_substitution(text)
            {
                line.words.push(word);
                continue;
            }
            // `first; second`; `find` ends with `\;`.
            let last = value.strip_suffix(';').filter(|last| !last.is_empty() && !last.ends_with('\\'));
            let word = word.start..word.start + last.unwrap_or(value).len();
            let value = last.unwrap_or(value);
            if BETWEEN.contains(&value) {
                is_open = false;
            } else if let (true, Some(line)) = (is_open, lines.last_mut()) {
                if !matches!(value, "\\" | "`" | "^") {
                    line.words.push(word);
                }
            } else if !BEFORE.contains(&value) && !is_assignment(value) {
                is_open = true;
                lines.push(CommandLine { words: vec![word], in_fence, is_alone: count == 1 });
            }
            is_open &= last.is_none();
        }
        is_continued = is_open && text[range].ends_with(['\\', '`', '^']);
    }
    lines
}

/// Returns the words of a range, split at white space outside quotes.
fn words(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quote = None;
    for (at, c) in text[range.clone()].char_indices().map(|(at, c)| (range.start + at, c)) {
        if c.is_whitespace() && quote.is_none() {
            words.extend(start.take().map(|start| start..at));
            continue;
        }
        start.get_or_insert(at);
        match quote {
            Some(open) if open == c => quote = None,
            None if matches!(c, '"' | '\'') => quote = Some(c),
            _ => {}
        }
    }
    words.extend(start.map(|start| start..range.end));
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
    fn arguments_are_the_words_that_the_program_receives() {
        let text = "```bash\n$ LLAMA_ARG_X=1 llama-server -m 'my model.gguf' \\\n  --json '{\"a\": 1}' 2>&1 > log | tee x  # comment\n\
                    llama-server <model> && vllm serve \"cut\n```\nOr `llama-server -v`.\n";
        let lines = command_lines(text);
        let own = lines.iter().filter(|line| line.runs_any(&["llama-server".to_string()], text));
        let found: Vec<_> =
            own.map(|line| (line.in_fence, line.arguments(text).unwrap_or_default())).collect();
        let words = |words: &[&str]| words.iter().map(ToString::to_string).collect::<Vec<_>>();
        let all = [
            (true, words(&["llama-server", "-m", "my model.gguf", "--json", "{\"a\": 1}"])),
            (true, words(&["llama-server", "<model>"])),
            (false, words(&["llama-server", "-v"])),
        ];
        assert_eq!(found, all);
        let cut = lines.iter().find(|line| text[line.words[0].clone()] == *"vllm");
        assert_eq!(cut.map(|line| line.arguments(text)), Some(None));
    }

    #[test]
    fn a_semicolon_ends_a_command_and_a_backslash_separates_folders() {
        let text = "```powershell\ndocker --add $(getent x | cut -f3) ps; \
                    .\\bin\\llama-server.exe -m C:\\models\\a.gguf; x\n```\n";
        let lines = command_lines(text);
        let found: Vec<_> = lines.iter().filter_map(|line| line.arguments(text)).collect();
        let server = [".\\bin\\llama-server.exe", "-m", "C:\\models\\a.gguf"];
        let docker = ["docker", "--add", "$(getent", "x", "|", "cut", "-f3)", "ps"];
        assert_eq!(found, [&docker[..], &server, &["x"]]);
    }

    #[test]
    fn an_option_alone_belongs_to_the_only_program_of_the_page() {
        let text = "Lower `--ctx-size`, or run `other --flag`. Prose --here.\n";
        assert_eq!(found(text, true), ["--ctx-size"]);
        assert!(found(text, false).is_empty());
    }
}
