//! Solutions with the same text on several pages.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::engine::Kind;
use crate::facts::map;
use crate::files::{Key, Span};
use crate::site::Page;
use crate::site::kinds::ErrorData;

pub(super) const RULE: Rule = Rule {
    code: "same-solution",
    requirement: "solutions on different pages have different texts",
    why: "a shared text is not specific to an error; move it to a guide and link it",
};

/// Minimum length in bytes. Shorter texts are little more than a command, which may be the same.
const SHORT: usize = 160;

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut known: BTreeMap<Key, (&str, Span)> = BTreeMap::new();
    let mut found = Vec::new();
    let errors = &context.site.errors;
    let of_page = |error: &Page<ErrorData>| {
        context.engine.query(Kind::Solutions, &error.head.path, || solutions(context, error))
    };
    let all: Vec<Vec<(Key, usize, usize)>> = map(errors, of_page);
    for (error, solutions) in errors.iter().zip(all) {
        let slug = error.head.id.slug.as_str();
        for (words, start, end) in solutions {
            let at = error.head.body.span.part(start, end);
            let (page, first) = *known.entry(words).or_insert((slug, at));
            if page != slug {
                found.push(
                    Diagnostic::warning(&RULE, at, format!("`{page}` has a solution with the same text"))
                        .related(first, "here")
                        .help(
                            "write what is specific to this error, or move the text to a guide and link it",
                        ),
                );
            }
        }
    }
    found
}

/// Returns the hash of each solution's words, and the range of its heading in the body.
fn solutions(context: &CheckContext<'_>, error: &Page<ErrorData>) -> Vec<(Key, usize, usize)> {
    let sections =
        error.data.solutions.iter().filter_map(|solution| section(context, error, &solution.id.value));
    let long = sections.filter(|(words, _)| words.len() >= SHORT);
    long.map(|(words, heading)| (Key::of([words]), heading.start, heading.end)).collect()
}

/// Returns the words of a solution, without the marks between them, and the range of its heading in the body.
fn section(context: &CheckContext<'_>, error: &Page<ErrorData>, id: &str) -> Option<(String, Range<usize>)> {
    let body = &error.head.body;
    let headings = &body.outline.headings;
    let at = headings.iter().position(|heading| heading.level == 2 && heading.id == id)?;
    let text = context.sources.text(body.span);
    let end = headings[at + 1..].iter().find(|heading| heading.level <= 2);
    let end = end.map_or(text.len(), |heading| heading.range.start);
    let range = &headings[at].range;
    let source = text[range.end..end].to_lowercase();
    let words: Vec<&str> =
        source.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    Some((words.join(" "), range.clone()))
}
