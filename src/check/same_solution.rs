//! A solution says word for word what a solution of another page says.

use std::collections::BTreeMap;

use crate::check::Subject;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::markdown;
use crate::site::Page;
use crate::site::kinds::ErrorData;

pub(super) const RULE: Rule = Rule {
    code: "same-solution",
    demands: "no two pages have the same text for a solution",
    why: "what holds for every error says nothing of this one; a text that is needed twice is a guide to link",
};

/// A shorter text says little more than a command, which may well be the same.
const SHORT: usize = 160;

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut known: BTreeMap<String, (&str, Span)> = BTreeMap::new();
    let mut found = Vec::new();
    for error in &subject.site.errors {
        let slug = error.head.id.slug.as_str();
        for solution in &error.data.solutions {
            let Some((text, at)) = section(subject, error, &solution.id.value) else { continue };
            if text.len() < SHORT {
                continue;
            }
            let (page, first) = *known.entry(text).or_insert((slug, at));
            if page != slug {
                found.push(
                    Diagnostic::warning(
                        &RULE,
                        at,
                        format!("`{page}` has the same text under a heading of its own"),
                    )
                    .related(first, "here")
                    .help("say what is particular to this error, or move the text to a guide and link it"),
                );
            }
        }
    }
    found
}

/// The words under the heading of a solution, and where the heading stands.
fn section(subject: &Subject<'_>, error: &Page<ErrorData>, id: &str) -> Option<(String, Span)> {
    let body = &error.head.body;
    let headings = &body.outline.headings;
    let at = headings.iter().position(|heading| heading.level == 2 && heading.id == id)?;
    let text = subject.sources.text(body.span);
    let end = headings[at + 1..].iter().find(|heading| heading.level <= 2);
    let end = end.map_or(text.len(), |heading| heading.range.start);
    let range = &headings[at].range;
    let plain = markdown::plain(&text[range.end..end]).to_lowercase();
    let words: Vec<&str> = plain.split_whitespace().collect();
    Some((words.join(" "), body.span.part(range.start, range.end)))
}
