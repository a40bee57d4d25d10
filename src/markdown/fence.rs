//! Parses the opening lines of fenced code blocks.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::markdown::highlight;
use crate::markdown::markdown_error::{MarkdownError, MarkdownErrorKind as Kind};

/// Keys of attributes after the language.
pub(crate) const KEYS: [&str; 3] = ["tool", "os", "title"];

/// Values of `os=`, with their display names. `unix` is for commands that every shell of Linux and macOS runs.
pub(crate) const SYSTEMS: [(&str, &str); 6] = [
    ("linux", "Linux"),
    ("windows", "Windows"),
    ("macos", "macOS"),
    ("unix", "Linux and macOS"),
    ("wsl", "WSL"),
    ("docker", "Docker"),
];

/// A fenced code block with its attributes: ```` ```bash tool=ollama os=linux title="text" ````.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// Language as in the source; empty if there is none.
    pub language: String,
    /// Slug of the tool.
    pub tool: Option<String>,
    /// Byte range of the slug.
    pub tool_range: Option<Range<usize>>,
    /// Operating system, a name of [`SYSTEMS`].
    pub os: Option<String>,
    /// Value of `title=`.
    pub title: Option<String>,
    /// Byte range of the code block with its fences.
    pub range: Range<usize>,
}

impl Fence {
    /// Returns the label of the block: title, tool and system, joined by a dot; empty if it has none. `tool_name` returns the name
    /// of a tool by its slug.
    pub fn label(&self, tool_name: impl Fn(&str) -> String) -> String {
        let system = self.os.as_deref().map(|os| {
            SYSTEMS.iter().find(|(known, _)| *known == os).map_or(os, |(_, name)| *name).to_string()
        });
        let parts = [self.title.clone(), self.tool.as_deref().map(tool_name), system];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// Parses the opening line of the fenced block at `range` of `source`.
pub(crate) fn parse(source: &str, range: &Range<usize>) -> (Fence, Vec<MarkdownError>) {
    let mut fence = Fence { range: range.clone(), ..Fence::default() };
    let mut errors = Vec::new();
    let block = &source[range.clone()];
    let line = block.lines().next().unwrap_or_default();
    let info = line.trim_start().trim_start_matches(['`', '~']);
    for (index, word) in words(info, range.start + line.len() - info.len()).into_iter().enumerate() {
        let text = &source[word.clone()];
        match text.split_once('=') {
            None if index == 0 => {
                if !highlight::is_known(text) {
                    errors.push(MarkdownError { range: word, kind: Kind::UnknownLanguage(text.to_string()) });
                }
                fence.language = text.to_string();
            }
            Some((key, value)) => {
                let value_range = word.start + key.len() + 1..word.end;
                if let Err(kind) = set_attribute(&mut fence, key, value, value_range.clone()) {
                    let range = if matches!(kind, Kind::UnknownSystem(_)) { value_range } else { word };
                    errors.push(MarkdownError { range, kind });
                }
            }
            None => errors
                .push(MarkdownError { range: word, kind: Kind::UnknownFenceAttribute(text.to_string()) }),
        }
    }
    if !is_closed(block) {
        let end = range.start + line.trim_end().len();
        // A line with one `#` is a comment in most languages, and no heading of a body.
        let hides_heading = block.lines().skip(1).any(|line| line.starts_with("##"));
        errors.push(MarkdownError { range: range.start..end, kind: Kind::UnclosedFence { hides_heading } });
    }
    (fence, errors)
}

fn set_attribute(fence: &mut Fence, key: &str, value: &str, range: Range<usize>) -> Result<(), Kind> {
    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = quoted.unwrap_or(value);
    let unknown = || Kind::UnknownFenceAttribute(format!("{key}={value}"));
    if text.is_empty() || text.contains('"') {
        return Err(unknown());
    }
    match key {
        "tool" if fence.tool.is_none() => {
            fence.tool = Some(text.to_string());
            let quote = usize::from(quoted.is_some());
            fence.tool_range = Some(range.start + quote..range.end - quote);
        }
        "os" if fence.os.is_none() => {
            if !SYSTEMS.iter().any(|(known, _)| *known == text) {
                return Err(Kind::UnknownSystem(text.to_string()));
            }
            fence.os = Some(text.to_string());
        }
        "title" if fence.title.is_none() => fence.title = Some(text.to_string()),
        _ => return Err(unknown()),
    }
    Ok(())
}

/// Splits an info string at white space outside double quotes; returns ranges.
fn words(info: &str, offset: usize) -> Vec<Range<usize>> {
    let mut words = Vec::new();
    let mut start = None;
    let mut quoted = false;
    for (at, character) in info.char_indices() {
        quoted ^= character == '"';
        match (character.is_whitespace() && !quoted, start) {
            (true, Some(first)) => {
                words.push(offset + first..offset + at);
                start = None;
            }
            (false, None) => start = Some(at),
            _ => {}
        }
    }
    words.extend(start.map(|first| offset + first..offset + info.trim_end().len().max(first)));
    words
}

/// Returns whether the last line of a fenced block is a fence at least as long as the first.
fn is_closed(block: &str) -> bool {
    let opening = block.trim_start();
    let Some(mark) = opening.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return true };
    let length = opening.len() - opening.trim_start_matches(mark).len();
    let mut lines = opening.trim_end().lines();
    lines.next();
    let last = lines.next_back().unwrap_or_default().trim_end();
    let closing = last.len() - last.trim_end_matches(mark).len();
    // The markers of a quotation or a list may precede the fence.
    closing >= length
        && last[..last.len() - closing].chars().all(|before| before == '>' || before.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_whole(source: &str) -> (Fence, Vec<(String, Kind)>) {
        let (fence, errors) = parse(source, &(0..source.len()));
        (fence, errors.into_iter().map(|error| (source[error.range].to_string(), error.kind)).collect())
    }

    #[test]
    fn attributes_form_the_label() {
        let (fence, errors) = parse_whole("```bash tool=ollama os=linux title=\"Two words\"\nx\n```");
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(fence.tool.as_deref(), Some("ollama"));
        assert_eq!(fence.tool_range, Some(13..19));
        assert_eq!(fence.label(str::to_uppercase), "Two words · OLLAMA · Linux");
    }

    #[test]
    fn reports_unknown_words_at_their_positions() {
        let (_, errors) = parse_whole("~~~ bahs tol=x os=plan9 y title=\"a\nx\n~~~");
        let words: Vec<_> = errors.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["bahs", "tol=x", "plan9", "y", "title=\"a"]);
        assert_eq!(errors[0].1.help(), "did you mean `bash`?");
        assert_eq!(errors[1].1.help(), "did you mean `tool`?");
        let (_, errors) = parse_whole("```bash os=win\nx\n```");
        assert_eq!(errors[0].1.help(), "did you mean `windows`?");
    }

    #[test]
    fn detects_unclosed_fences() {
        assert!(is_closed("```\nx\n> ```\n"));
        assert!(!is_closed("````\nx\n```\n"));
        assert!(!is_closed("```"));
        assert!(!is_closed("```\nx ```"));
    }
}
