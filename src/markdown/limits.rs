//! Limits of a text: how many calls, links, footnote references and headings it may have.

use std::ops::Range;

use crate::markdown::fault::{Fault, FaultKind};
use crate::markdown::outline::Outline;

/// Most estimator calls in a text.
const MAX_CALLS: usize = 256;
/// Most links and images in a text: names near a broken one are looked for among all pages.
const MAX_LINKS: usize = 2_000;
/// Most references to footnotes in a text: each is a mark and a way back.
const MAX_NOTES: usize = 1_000;
/// Most headings of a text: names near a broken anchor are looked for among their ids.
const MAX_HEADINGS: usize = 1_000;

/// Cuts lists that are too long and reports each at its first surplus item. Headings stay: rendering takes them one by
/// one.
pub(super) fn apply(outline: &mut Outline, notes: &mut Vec<Range<usize>>) {
    let Outline { calls, links, headings, faults, .. } = outline;
    faults.extend(too_many("estimator calls", calls, MAX_CALLS, |call| &call.range));
    faults.extend(too_many("links and images", links, MAX_LINKS, |link| &link.range));
    faults.extend(too_many("references to footnotes", notes, MAX_NOTES, |at| at));
    faults.extend(headings.get(MAX_HEADINGS).map(|first| Fault {
        range: first.range.clone(),
        kind: FaultKind::TooMany("headings", headings.len(), MAX_HEADINGS),
    }));
}

fn too_many<T>(
    what: &'static str,
    list: &mut Vec<T>,
    most: usize,
    range: impl Fn(&T) -> &Range<usize>,
) -> Option<Fault> {
    let range = range(list.get(most)?).clone();
    let kind = FaultKind::TooMany(what, list.len(), most);
    list.truncate(most);
    Some(Fault { range, kind })
}
