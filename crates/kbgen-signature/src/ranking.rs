//! Ranks the pages that match a log.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::figure::Figures;
use crate::index::Match;
use crate::scanner::Occurrence;
use crate::table::{Kind, TablePage};

/// Matches with fewer characters between them belong to one event.
const EVENT_GAP: usize = 160;
/// Maximum length of an event, in characters.
const EVENT_LENGTH: usize = 480;

/// A signature that matches the log.
pub(crate) struct Candidate<'table> {
    pub occurrence: Occurrence,
    pub weight: usize,
    pub page: &'table TablePage,
    pub figures: Figures,
    pub weak: bool,
    pub brief: bool,
}

/// Sorts by the kind of page, then by event, then by the weight of the signature; weak signatures come last.
///
/// An earlier event precedes a later one, which is often its consequence, unless the weight of the later one is much higher,
/// or the earlier one only says how a program ended. A cause that the program survived ranks as a warning.
pub(crate) fn rank(mut candidates: Vec<Candidate<'_>>) -> Vec<Match> {
    const EVENT_BONUS: [usize; 6] = [60, 40, 28, 18, 10, 4];
    const MAX_STRENGTH: usize = 30;
    const MAX_WEIGHT: usize = 199;
    candidates.sort_by_key(|candidate| (candidate.weak, candidate.occurrence.start));
    let strong = candidates.iter().take_while(|candidate| !candidate.weak).count();
    let is_failure = |found: &&Candidate<'_>| {
        found.page.kind == Kind::Cause && !found.occurrence.is_survivable && !found.brief
    };
    let last_failure =
        candidates[..strong].iter().filter(is_failure).map(|found| found.occurrence.start).max();
    let kind = |found: &Candidate<'_>| {
        let is_survived = found.occurrence.is_survivable && Some(found.occurrence.start) < last_failure;
        if is_survived { found.page.kind.min(Kind::Warning) } else { found.page.kind }
    };
    let events = events(&candidates[..strong]);
    let mut strongest: BTreeMap<(usize, Kind), usize> = BTreeMap::new();
    for (candidate, event) in candidates.iter().zip(&events) {
        let strongest_weight = strongest.entry((*event, kind(candidate))).or_default();
        *strongest_weight = candidate.weight.max(*strongest_weight);
    }
    let score = |at: usize| {
        let candidate = &candidates[at];
        if candidate.weak {
            return candidate.weight.min(MAX_WEIGHT) as u32;
        }
        let of_event = strongest[&(events[at], kind(candidate))];
        let bonus = if candidate.brief { None } else { EVENT_BONUS.get(events[at]).copied() };
        let strength = of_event.min(MAX_STRENGTH) + bonus.unwrap_or(0);
        let kind = match kind(candidate) {
            Kind::Cause => 60_000,
            Kind::Warning => 30_000,
            Kind::Wrapper | Kind::Reading => 0,
        };
        (kind + strength * (MAX_WEIGHT + 1) + candidate.weight.min(MAX_WEIGHT)) as u32
    };
    let scores: Vec<u32> = (0..candidates.len()).map(score).collect();
    let mut matches: Vec<Match> = candidates
        .into_iter()
        .zip(scores)
        .map(|(candidate, score)| Match {
            slug: candidate.page.slug.clone(),
            score,
            line: candidate.occurrence.line,
            column: candidate.occurrence.column,
            quote: candidate.occurrence.quote,
            cause: candidate
                .page
                .causes
                .iter()
                .find(|cause| cause.when.holds(&candidate.figures))
                .map(|cause| cause.id.clone()),
            figures: candidate.figures,
            weak: candidate.weak,
            brief: candidate.brief,
            survivable: candidate.occurrence.is_survivable,
        })
        .collect();
    matches.sort_by_key(|found| Reverse(found.score));
    matches
}

/// Returns the number of the event of each candidate; candidates are sorted by position.
fn events(candidates: &[Candidate<'_>]) -> Vec<usize> {
    let mut events = Vec::with_capacity(candidates.len());
    let (mut event, mut begin, mut end) = (0, 0, 0);
    for (at, Candidate { occurrence, .. }) in candidates.iter().enumerate() {
        if at > 0 && (occurrence.start >= end + EVENT_GAP || occurrence.start >= begin + EVENT_LENGTH) {
            event += 1;
            end = 0;
        }
        if end == 0 {
            begin = occurrence.start;
        }
        end = end.max(occurrence.end);
        events.push(event);
    }
    events
}
