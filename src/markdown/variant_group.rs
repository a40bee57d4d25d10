//! Groups of adjacent code blocks that are alternatives for different systems or tools.

use std::collections::BTreeSet;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

use crate::markdown::fence::{self, Fence};

/// Systems that run inside another one; commands for them can be the next step instead of an alternative.
const NESTED_SYSTEMS: [&str; 2] = ["docker", "wsl"];

/// Adjacent code blocks.
#[derive(Debug, Default)]
pub(crate) struct VariantGroup {
    /// Number of blocks that have not ended.
    remaining: usize,
    /// The attribute that distinguishes the variants, `os` or `tool`; `None` if they are not variants.
    attribute: Option<&'static str>,
}

impl VariantGroup {
    /// Returns the HTML before the code block at `range`; `after` has the events after its start. Detects the group at its first
    /// block.
    pub fn open(
        &mut self,
        source: &str,
        range: &Range<usize>,
        after: &[(Event<'_>, Range<usize>)],
    ) -> String {
        if self.remaining > 0 {
            return String::new();
        }
        let fences = fences(source, range, after);
        *self = Self { remaining: fences.len(), attribute: difference(&fences) };
        self.attribute
            .map(|attribute| format!("<div class=\"variants\" data-by=\"{attribute}\">\n"))
            .unwrap_or_default()
    }

    /// Returns the HTML after the block.
    pub fn close(&mut self) -> &'static str {
        self.remaining = self.remaining.saturating_sub(1);
        if self.remaining == 0 && self.attribute.take().is_some() { "</div>\n" } else { "" }
    }
}

/// Returns the code block at `range` and the adjacent ones after it.
fn fences(source: &str, range: &Range<usize>, after: &[(Event<'_>, Range<usize>)]) -> Vec<Fence> {
    let mut fences = vec![fence::parse(source, range).0];
    let mut rest = after;
    while let Some(end) = rest.iter().position(|(event, _)| matches!(event, Event::End(TagEnd::CodeBlock))) {
        rest = &rest[end + 1..];
        let Some((Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))), next)) = rest.first() else {
            break;
        };
        fences.push(fence::parse(source, next).0);
    }
    fences
}

/// Returns the attribute that distinguishes variants: no block has a title, and each has a different system, or else a different
/// tool.
fn difference(fences: &[Fence]) -> Option<&'static str> {
    let outer = |fence: &Fence| fence.os.clone().filter(|os| !NESTED_SYSTEMS.contains(&os.as_str()));
    match () {
        () if fences.len() < 2 || fences.iter().any(|fence| fence.title.is_some()) => None,
        () if differ(fences, outer) => Some("os"),
        () if differ(fences, |fence| fence.tool.clone()) => Some("tool"),
        () => None,
    }
}

/// Returns whether all blocks have a label and all labels differ.
fn differ(fences: &[Fence], label: impl Fn(&Fence) -> Option<String>) -> bool {
    let labels: BTreeSet<String> = fences.iter().filter_map(label).collect();
    labels.len() == fences.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::BODY;
    use pulldown_cmark::Parser;

    fn attribute(infos: &[&str]) -> Option<&'static str> {
        let source: String = infos.iter().map(|info| format!("```{info}\nx\n```\n\n")).collect();
        let events: Vec<_> = Parser::new_ext(&source, BODY).into_offset_iter().collect();
        difference(&fences(&source, &events[0].1, &events[1..]))
    }

    #[test]
    fn blocks_with_different_systems_or_tools_are_variants() {
        assert_eq!(attribute(&["bash tool=ollama os=linux", "powershell os=windows"]), Some("os"));
        assert_eq!(
            attribute(&["bash tool=ollama os=linux", "bash tool=vllm os=linux", "python tool=pytorch"]),
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
            assert_eq!(attribute(infos), None, "{infos:?}");
        }
    }

    #[test]
    fn a_group_is_opened_and_closed_once() {
        let source = "```bash os=linux\nx\n```\n```powershell os=windows\nx\n```\n";
        let events: Vec<_> = Parser::new_ext(source, BODY).into_offset_iter().collect();
        let mut group = VariantGroup::default();
        let mut written = String::new();
        for (at, (event, range)) in events.iter().enumerate() {
            match event {
                Event::Start(Tag::CodeBlock(_)) => written += &group.open(source, range, &events[at + 1..]),
                Event::End(TagEnd::CodeBlock) => written += &format!("block\n{}", group.close()),
                _ => {}
            }
        }
        assert_eq!(written, "<div class=\"variants\" data-by=\"os\">\nblock\nblock\n</div>\n");
    }
}
