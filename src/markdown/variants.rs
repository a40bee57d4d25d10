//! Code blocks that say the same for different systems or tools: a reader needs one of them.

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use crate::markdown::fence::{self, Fence};

/// Systems that run inside another: what is typed there may be the next step, not another way.
const INNER: [&str; 2] = ["docker", "wsl"];

/// Code blocks that follow each other with nothing between.
#[derive(Debug, Default)]
pub(crate) struct Run {
    /// How many of them are still open or to come.
    left: usize,
    /// The label by which they differ, `os` or `tool`, if they are variants of one command.
    by: Option<&'static str>,
}

impl Run {
    /// What to write before the code block in `range` of `source`; `after` is what follows its opening.
    ///
    /// A run is looked at once, at its first block.
    pub fn before(
        &mut self,
        source: &str,
        range: &Range<usize>,
        after: &[(Event<'_>, Range<usize>)],
    ) -> String {
        if self.left > 0 {
            return String::new();
        }
        let fences = fences(source, range, after);
        *self = Self { left: fences.len(), by: difference(&fences) };
        self.by.map(|by| format!("<div class=\"variants\" data-by=\"{by}\">\n")).unwrap_or_default()
    }

    /// What to write behind the block.
    pub fn behind(&mut self) -> &'static str {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 && self.by.take().is_some() { "</div>\n" } else { "" }
    }
}

/// The opening lines of the code block in `range` and of those that follow it at once.
fn fences(source: &str, range: &Range<usize>, after: &[(Event<'_>, Range<usize>)]) -> Vec<Fence> {
    let mut fences = vec![fence::read(source, range).0];
    let mut rest = after;
    while let Some(end) = rest.iter().position(|(event, _)| matches!(event, Event::End(TagEnd::CodeBlock))) {
        rest = &rest[end + 1..];
        let Some((Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))), next)) = rest.first() else {
            break;
        };
        fences.push(fence::read(source, next).0);
    }
    fences
}

/// Whether blocks are variants: none has a title, and each has a system of its own, or else a tool of its own.
fn difference(fences: &[Fence]) -> Option<&'static str> {
    let outer = |fence: &Fence| fence.os.clone().filter(|os| !INNER.contains(&os.as_str()));
    match () {
        () if fences.len() < 2 || fences.iter().any(|fence| fence.title.is_some()) => None,
        () if differ(fences, outer) => Some("os"),
        () if differ(fences, |fence| fence.tool.clone()) => Some("tool"),
        () => None,
    }
}

/// Whether each block has such a label and no two have the same.
fn differ(fences: &[Fence], label: impl Fn(&Fence) -> Option<String>) -> bool {
    let labels: BTreeSet<String> = fences.iter().filter_map(label).collect();
    labels.len() == fences.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::BODY;
    use pulldown_cmark::Parser;

    fn by(infos: &[&str]) -> Option<&'static str> {
        let source: String = infos.iter().map(|info| format!("```{info}\nx\n```\n\n")).collect();
        let events: Vec<_> = Parser::new_ext(&source, BODY).into_offset_iter().collect();
        difference(&fences(&source, &events[0].1, &events[1..]))
    }

    #[test]
    fn blocks_with_a_system_or_tool_each_are_variants() {
        assert_eq!(by(&["bash tool=ollama os=linux", "powershell os=windows"]), Some("os"));
        assert_eq!(
            by(&["bash tool=ollama os=linux", "bash tool=vllm os=linux", "python tool=pytorch"]),
            Some("tool")
        );
    }

    #[test]
    fn steps_are_not_variants() {
        for infos in [
            &["bash os=linux"][..],
            &["bash os=linux", "bash os=linux"],
            &["bash os=linux", "powershell os=windows", "bash os=linux"],
            &["bash os=linux", "bash"],
            &["powershell os=windows", "bash os=wsl"],
            &["ini title=\".wslconfig\" os=linux", "powershell os=windows"],
        ] {
            assert_eq!(by(infos), None, "{infos:?}");
        }
    }

    #[test]
    fn a_run_is_opened_and_closed_once() {
        let source = "```bash os=linux\nx\n```\n```powershell os=windows\nx\n```\n";
        let events: Vec<_> = Parser::new_ext(source, BODY).into_offset_iter().collect();
        let mut run = Run::default();
        let mut written = String::new();
        for (at, (event, range)) in events.iter().enumerate() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => written += &run.before(source, range, &events[at + 1..]),
                Event::End(TagEnd::CodeBlock) => written += &format!("block\n{}", run.behind()),
                _ => {}
            }
        }
        assert_eq!(written, "<div class=\"variants\" data-by=\"os\">\nblock\nblock\n</div>\n");
    }
}
