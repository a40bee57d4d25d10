//! Solutions that are not in the order of their causes.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::site::Page;
use crate::site::kinds::ErrorData;

pub(super) const RULE: Rule = Rule {
    code: "solution-order",
    requirement: "solutions are in the order of their causes, and the sections of the body are in the order of \
              `solutions:`",
    why: "causes are sorted by likelihood, so the first fix should belong to the likeliest cause",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let errors = &context.pages.errors;
    errors.iter().filter_map(|error| in_front_matter(&error.data).or_else(|| in_body(error))).collect()
}

/// Order required by the causes of a page.
struct CauseOrder<'d> {
    /// The first solution of each cause, in the order of the causes.
    firsts: Vec<&'d str>,
    /// Index of the first cause that names a solution.
    named_by: BTreeMap<&'d str, usize>,
}

impl<'d> CauseOrder<'d> {
    /// Returns none unless causes name exactly the declared solutions; `cause-solution` reports that.
    fn of(data: &'d ErrorData) -> Option<Self> {
        let mut named_by = BTreeMap::new();
        for (at, cause) in data.causes.iter().enumerate() {
            for named in &cause.solutions {
                named_by.entry(named.value.as_str()).or_insert(at);
            }
        }
        let declared: BTreeSet<&str> =
            data.solutions.iter().map(|solution| solution.id.value.as_str()).collect();
        let is_complete = named_by.keys().eq(&declared) && declared.len() == data.solutions.len();
        let firsts = data.causes.iter().map(|cause| Some(cause.solutions.first()?.value.as_str()));
        Some(Self { firsts: firsts.collect::<Option<_>>()?, named_by }).filter(|_| is_complete)
    }

    /// Returns how many leading causes have their first solution among `taken`, given that `known` have.
    fn extend(&self, known: usize, taken: &BTreeSet<&str>) -> usize {
        known + self.firsts[known..].iter().take_while(|first| taken.contains(**first)).count()
    }

    /// Returns the first solution that comes too early, and the solution that has to come before it.
    fn misplaced(&self, ids: &[&'d str]) -> Option<(usize, &'d str)> {
        let (mut taken, mut known) = (BTreeSet::new(), 0);
        ids.iter().enumerate().find_map(|(at, id)| {
            taken.insert(*id);
            known = self.extend(known, &taken);
            (self.named_by[id] >= known).then(|| (at, self.firsts[known]))
        })
    }

    /// Returns the order nearest to `ids` that has no misplaced solution: each time the first that may come next.
    fn sorted(&self, ids: &[&'d str]) -> Vec<&'d str> {
        let place: BTreeMap<&str, usize> = ids.iter().enumerate().map(|(at, id)| (*id, at)).collect();
        let mut waiting: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (id, at) in &place {
            waiting.entry(self.named_by[id]).or_default().insert(*at);
        }
        let (mut ready, mut taken, mut sorted) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        let mut known = 0;
        while sorted.len() < place.len() {
            let first = self.firsts.get(known).map(|first| place[first]);
            let next =
                ready.first().copied().into_iter().chain(first).min().expect("a cause has a first solution");
            ready.remove(&next);
            taken.insert(ids[next]);
            sorted.push(ids[next]);
            let before = known;
            known = self.extend(known, &taken);
            let opened = (before..known).filter_map(|cause| waiting.remove(&cause)).flatten();
            ready.extend(opened.filter(|at| !taken.contains(ids[*at])));
        }
        sorted
    }
}

fn in_front_matter(data: &ErrorData) -> Option<Diagnostic> {
    let order = CauseOrder::of(data)?;
    let ids: Vec<&str> = data.solutions.iter().map(|solution| solution.id.value.as_str()).collect();
    let (at, before) = order.misplaced(&ids)?;
    let cause =
        order.firsts.iter().position(|first| *first == before).map(|cause| &data.causes[cause].id.value)?;
    let message =
        format!("solution `{}` comes before `{before}`, the first solution of cause `{cause}`", ids[at]);
    let help = format!("order `solutions:` and the sections: {}", list(order.sorted(&ids)));
    Some(Diagnostic::warning(&RULE, data.solutions[at].id.span, message).help(help))
}

fn in_body(error: &Page<ErrorData>) -> Option<Diagnostic> {
    let body = &error.head.body;
    let solutions = error.data.solutions.iter().enumerate();
    let declared: BTreeMap<&str, usize> =
        solutions.map(|(at, solution)| (solution.id.value.as_str(), at)).collect();
    let headings = body.outline.headings.iter().filter(|heading| heading.level == 2);
    let sections: Vec<_> =
        headings.filter_map(|heading| Some((*declared.get(heading.id.as_str())?, heading))).collect();
    let pair = sections.windows(2).find(|pair| pair[0].0 > pair[1].0)?;
    let (early, late) = (pair[0].1, pair[1].1);
    let mut expected: Vec<usize> = sections.iter().map(|(at, _)| *at).collect();
    expected.sort_unstable();
    let expected = expected.into_iter().map(|at| error.data.solutions[at].id.value.as_str());
    let message = format!("section `{}` comes before `{}`, unlike in `solutions:`", early.id, late.id);
    let help = format!("order the sections: {}", list(expected));
    Some(Diagnostic::warning(&RULE, body.span.part(early.range.start, early.range.end), message).help(help))
}

fn list<'i>(ids: impl IntoIterator<Item = &'i str>) -> String {
    ids.into_iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(", ")
}
