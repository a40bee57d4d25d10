//! Code blocks that say the same for different systems or tools: a reader needs one of them.

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use crate::markdown::fence::{self, Fence};

/// Systems that run inside another: what is typed there may be the next step, not another way.
const INNER: [&str; 2] = ["docker", "wsl"];

/// How the element begins that holds variants.
pub(crate) const OPENING: &str = "<div class=\"variants\"";

/// Variants of one command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Variants {
    /// How many blocks they are.
    pub count: usize,
    /// The label by which they differ: `os` or `tool`.
    pub by: &'static str,
}

/// Whether the code block in `range` of `source` is the first of several variants; `after` is what follows its
/// opening. Variants follow each other with nothing between, without titles, and each has a system of its own
/// or else a tool of its own.
pub(crate) fn variants(
    source: &str,
    range: &Range<usize>,
    after: &[(Event<'_>, Range<usize>)],
) -> Option<Variants> {
    let mut fences = vec![fence::read(source, range).0];
    let mut rest = after;
    loop {
        let end = rest.iter().position(|(event, _)| matches!(event, Event::End(TagEnd::CodeBlock)))?;
        rest = &rest[end + 1..];
        match rest.first() {
            Some((Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))), next)) => {
                fences.push(fence::read(source, next).0);
            }
            _ => break,
        }
    }
    if fences.len() < 2 || fences.iter().any(|fence| fence.title.is_some()) {
        return None;
    }
    let outer = |fence: &Fence| fence.os.clone().filter(|os| !INNER.contains(&os.as_str()));
    let by = match () {
        () if differ(&fences, outer) => "os",
        () if differ(&fences, |fence| fence.tool.clone()) => "tool",
        () => return None,
    };
    Some(Variants { count: fences.len(), by })
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

    fn first(infos: &[&str]) -> Option<Variants> {
        let source: String = infos.iter().map(|info| format!("```{info}\nx\n```\n\n")).collect();
        let events: Vec<_> = Parser::new_ext(&source, BODY).into_offset_iter().collect();
        variants(&source, &events[0].1, &events[1..])
    }

    #[test]
    fn blocks_with_a_system_or_tool_each_are_variants() {
        let systems = first(&["bash tool=ollama os=linux", "powershell os=windows"]);
        assert_eq!(systems, Some(Variants { count: 2, by: "os" }));
        let tools = first(&["bash tool=ollama os=linux", "bash tool=vllm os=linux", "python tool=pytorch"]);
        assert_eq!(tools, Some(Variants { count: 3, by: "tool" }));
    }

    #[test]
    fn steps_are_not_variants() {
        for infos in [
            &["bash os=linux"][..],
            &["bash os=linux", "bash os=linux"],
            &["bash os=linux", "bash"],
            &["powershell os=windows", "bash os=wsl"],
            &["ini title=\".wslconfig\" os=linux", "powershell os=windows"],
        ] {
            assert_eq!(first(infos), None, "{infos:?}");
        }
    }
}
