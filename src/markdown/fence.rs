//! The line that opens a code block: its language and its labels.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::markdown::fault::{Fault, FaultKind};
use crate::markdown::highlight;

/// Keys that may follow the language.
pub(crate) const KEYS: [&str; 3] = ["tool", "os", "title"];

/// Systems that `os=` may name, and how a reader sees them.
pub(crate) const SYSTEMS: [(&str, &str); 5] =
    [("linux", "Linux"), ("windows", "Windows"), ("macos", "macOS"), ("wsl", "WSL"), ("docker", "Docker")];

/// What the opening line of a code block says: ```` ```bash tool=ollama os=linux title="text" ````.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fence {
    /// The language as written; empty where there is none.
    pub language: String,
    /// Slug of the tool that the code is for.
    pub tool: Option<String>,
    /// Where the slug stands.
    pub tool_range: Option<Range<usize>>,
    /// The system it is for: linux, windows, macos, wsl or docker.
    pub os: Option<String>,
    /// A title of its own.
    pub title: Option<String>,
    /// The code block with its fences.
    pub range: Range<usize>,
}

impl Fence {
    /// The label of the block: its title, and the tool and the system joined by a dot. Empty where
    /// nothing is said. `tool_name` answers how a tool is called.
    pub fn label(&self, tool_name: impl Fn(&str) -> String) -> String {
        let system = self.os.as_deref().map(|os| {
            SYSTEMS.iter().find(|(known, _)| *known == os).map_or(os, |(_, name)| *name).to_string()
        });
        let parts = [self.title.clone(), self.tool.as_deref().map(tool_name), system];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }
}

/// Reads the opening line of the fenced block in `range` of `source`.
pub(crate) fn read(source: &str, range: &Range<usize>) -> (Fence, Vec<Fault>) {
    let mut fence = Fence { range: range.clone(), ..Fence::default() };
    let mut faults = Vec::new();
    let block = &source[range.clone()];
    let line = block.lines().next().unwrap_or_default();
    let info = line.trim_start().trim_start_matches(['`', '~']);
    for (index, word) in words(info, range.start + line.len() - info.len()).into_iter().enumerate() {
        let text = &source[word.clone()];
        match text.split_once('=') {
            None if index == 0 => {
                if !highlight::is_known(text) {
                    faults.push(Fault { range: word, kind: FaultKind::UnknownLanguage(text.to_string()) });
                }
                fence.language = text.to_string();
            }
            Some((key, value)) => {
                let value_range = word.start + key.len() + 1..word.end;
                if let Err(kind) = set(&mut fence, key, value, value_range.clone()) {
                    let range = if matches!(kind, FaultKind::UnknownSystem(_)) { value_range } else { word };
                    faults.push(Fault { range, kind });
                }
            }
            None => {
                faults.push(Fault { range: word, kind: FaultKind::UnknownFenceAttribute(text.to_string()) })
            }
        }
    }
    if !is_closed(block) {
        let end = range.start + line.trim_end().len();
        faults.push(Fault { range: range.start..end, kind: FaultKind::UnclosedFence });
    }
    (fence, faults)
}

fn set(fence: &mut Fence, key: &str, value: &str, range: Range<usize>) -> Result<(), FaultKind> {
    let quoted = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let text = quoted.unwrap_or(value);
    let unknown = || FaultKind::UnknownFenceAttribute(format!("{key}={value}"));
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
                return Err(FaultKind::UnknownSystem(text.to_string()));
            }
            fence.os = Some(text.to_string());
        }
        "title" if fence.title.is_none() => fence.title = Some(text.to_string()),
        _ => return Err(unknown()),
    }
    Ok(())
}

/// The words of an info string as ranges; white space between double quotes does not part them.
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

/// Whether the last line of a fenced block is a fence at least as long as the first.
fn is_closed(block: &str) -> bool {
    let opening = block.trim_start();
    let Some(mark) = opening.chars().next().filter(|mark| matches!(mark, '`' | '~')) else { return true };
    let length = opening.len() - opening.trim_start_matches(mark).len();
    let mut lines = opening.trim_end().lines();
    lines.next();
    let last = lines.next_back().unwrap_or_default().trim_end();
    let closing = last.len() - last.trim_end_matches(mark).len();
    // Before the fence may stand what a quotation or a list puts there.
    closing >= length
        && last[..last.len() - closing].chars().all(|before| before == '>' || before.is_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_whole(source: &str) -> (Fence, Vec<(String, FaultKind)>) {
        let (fence, faults) = read(source, &(0..source.len()));
        (fence, faults.into_iter().map(|fault| (source[fault.range].to_string(), fault.kind)).collect())
    }

    #[test]
    fn labels_are_read_and_joined() {
        let (fence, faults) = read_whole("```bash tool=ollama os=linux title=\"Two words\"\nx\n```");
        assert!(faults.is_empty(), "{faults:?}");
        assert_eq!(fence.tool.as_deref(), Some("ollama"));
        assert_eq!(fence.tool_range, Some(13..19));
        assert_eq!(fence.label(str::to_uppercase), "Two words · OLLAMA · Linux");
    }

    #[test]
    fn each_unknown_word_has_its_place() {
        let (_, faults) = read_whole("~~~ bsh tol=x os=plan9 y title=\"a\nx\n~~~");
        let words: Vec<_> = faults.iter().map(|(word, _)| word.as_str()).collect();
        assert_eq!(words, ["bsh", "tol=x", "plan9", "y", "title=\"a"]);
        assert_eq!(faults[0].1.help(), "did you mean `bash`?");
        assert_eq!(faults[1].1.help(), "did you mean `tool`?");
    }

    #[test]
    fn an_open_fence_is_seen() {
        assert!(is_closed("```\nx\n> ```\n"));
        assert!(!is_closed("````\nx\n```\n"));
        assert!(!is_closed("```"));
        assert!(!is_closed("```\nx ```"));
    }
}
