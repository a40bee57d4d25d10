//! Limits on the number of calls, links, footnote references and headings in a text.

use std::ops::Range;

use crate::markdown::markdown_error::{MarkdownError, MarkdownErrorKind as Kind};
use crate::markdown::outline::Outline;

/// Maximum estimator calls in a text.
const MAX_CALLS: usize = 256;
/// Maximum links and images in a text; the suggestion for each broken one searches all pages.
const MAX_LINKS: usize = 2_000;
/// Maximum references to footnotes in a text; each adds a mark and a back link.
const MAX_NOTES: usize = 1_000;
/// Maximum headings in a text; the suggestion for each broken anchor searches their ids.
const MAX_HEADINGS: usize = 1_000;

/// Truncates lists that are too long and reports each at its first surplus item. Does not truncate the headings, because
/// rendering needs all of them.
pub(super) fn apply(outline: &mut Outline, notes: &mut Vec<Range<usize>>) {
    let Outline { calls, links, headings, errors, .. } = outline;
    errors.extend(too_many("estimator calls", calls, MAX_CALLS, |call| &call.range));
    errors.extend(too_many("links and images", links, MAX_LINKS, |link| &link.range));
    errors.extend(too_many("references to footnotes", notes, MAX_NOTES, |at| at));
    errors.extend(headings.get(MAX_HEADINGS).map(|first| MarkdownError {
        range: first.range.clone(),
        kind: Kind::TooMany("headings", headings.len(), MAX_HEADINGS),
    }));
}

fn too_many<T>(
    what: &'static str,
    list: &mut Vec<T>,
    most: usize,
    range: impl Fn(&T) -> &Range<usize>,
) -> Option<MarkdownError> {
    let range = range(list.get(most)?).clone();
    let kind = Kind::TooMany(what, list.len(), most);
    list.truncate(most);
    Some(MarkdownError { range, kind })
}
