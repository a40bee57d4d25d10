//! An error page as Markdown.

use std::ops::Range;

use crate::markdown::links_inline;
use crate::render::prose::lead;
use crate::render::views::Shelf;
use crate::site::kinds::ErrorData;
use crate::site::{Head, Page};

/// The page as Markdown: title and what the front matter says in words, then the body with its figures filled in.
/// Links begin at `root`, which leads from where the text will lie to the root of the site.
pub(super) fn twin(shelf: &Shelf<'_>, error: &Page<ErrorData>, root: &str) -> String {
    let data = &error.data;
    let mut text = String::with_capacity(shelf.order.sources.get(error.head.source).text.len());
    text.push_str(&format!("# {}\n\n", error.head.title.value));
    for signature in &data.signatures {
        for sample in &signature.samples {
            let fence = "`".repeat(longest_run(&sample.value, '`').max(2) + 1);
            text.push_str(&format!("{fence}text\n{}\n{fence}\n\n", sample.value.trim_end()));
        }
    }
    text.push_str(&format!("## {}\n\n", shelf.say("Causes")));
    for (cause, number) in data.causes.iter().zip(1..) {
        let solutions: Vec<String> = cause.solutions.iter().map(|id| format!("`{}`", id.value)).collect();
        text.push_str(&format!(
            "{number}. **{}** {} {} {}: {}.\n",
            cause.title,
            shelf.say("How to tell:"),
            line(shelf, &error.head, &cause.tell.value, root),
            shelf.say("Solutions"),
            solutions.join(", ")
        ));
    }
    text.push('\n');
    text.push_str(body(shelf, &error.head, root).trim());
    text.push_str(&format!("\n\n## {}\n\n", shelf.say("Sources")));
    for source in &data.evidence.sources {
        text.push_str(&format!("- <{}>\n", source.value));
    }
    if let Some(verified) = &error.head.verified {
        text.push_str(&format!("\n{}: {}\n", shelf.say("Verified"), verified.value));
    }
    for change in &data.changes {
        text.push_str(&format!("\nChanged on {}: {}\n", change.date.value, change.what));
    }
    text
}

fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|c| c != wanted).map(str::len).max().unwrap_or(0)
}

/// The body with its figures filled in, and its links beginning at `root`.
fn body(shelf: &Shelf<'_>, head: &Head, root: &str) -> String {
    let text = shelf.order.sources.text(head.body.span);
    let place = |range: &Range<usize>| head.body.span.part(range.start, range.end);
    let figures = head.body.outline.calls.iter().filter_map(|call| {
        let figure = shelf.order.fits.prose.get(&place(&call.range))?;
        Some((call.range.clone(), figure.text.clone()))
    });
    let links = head.body.outline.links.iter().filter_map(|link| {
        let target = shelf.order.links.targets.get(&place(&link.range))?;
        (text[link.range.clone()] == link.destination)
            .then(|| (link.range.clone(), lead(root, target, shelf.assets)))
    });
    replaced(text, figures.chain(links).collect())
}

/// One line of Markdown, its links beginning at `root`.
pub(super) fn line(shelf: &Shelf<'_>, head: &Head, text: &str, root: &str) -> String {
    let links = links_inline(text).into_iter().filter_map(|link| {
        let target = shelf.order.links.lines.get(&(head.id.clone(), link.destination.clone()))?;
        (text[link.range.clone()] == link.destination).then(|| (link.range, lead(root, target, shelf.assets)))
    });
    replaced(text, links.collect())
}

/// The text with these ranges replaced; of two that overlap the first counts.
fn replaced(text: &str, mut changes: Vec<(Range<usize>, String)>) -> String {
    changes.sort_by_key(|(range, _)| range.start);
    let mut after = String::with_capacity(text.len());
    let mut at = 0;
    for (range, new) in changes.into_iter().filter(|(range, _)| range.end <= text.len()) {
        if range.start >= at {
            after.push_str(&text[at..range.start]);
            after.push_str(&new);
            at = range.end;
        }
    }
    after.push_str(&text[at..]);
    after
}
