//! Signatures that are expensive to match.

use std::collections::{BTreeMap, HashMap};

use kbgen_signature::{MAX_STEPS_PER_WINDOW, Pattern};

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;

pub(super) const RULE: Rule = Rule {
    code: "costly-signature",
    requirement: "matching a signature takes few steps, and few signatures share the same literal text",
    why: "an expensive signature slows down every diagnosis, and beyond a limit of steps other signatures are skipped",
};

/// Maximum number of signatures with the same search text. Each occurrence of the text tries all of them.
const MAX_SHARED_TEXT: usize = 32;
/// Maximum number of steps of one signature in one window of a sample.
const MAX_STEPS: u64 = MAX_STEPS_PER_WINDOW as u64 / 8;

const HELP: &str = "use a longer, unique literal text and fewer `{any}` placeholders";

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let index = &context.compiled().index;
    let groups: Vec<&[usize]> = index.anchor_groups().filter(|group| group.len() > MAX_SHARED_TEXT).collect();
    let costs = context
        .sample_matches()
        .values()
        .filter_map(|found| found.costliest.filter(|cost| cost.steps > MAX_STEPS));
    let costs: BTreeMap<usize, u64> = costs.map(|cost| (cost.pattern, cost.steps)).collect();
    if groups.is_empty() && costs.is_empty() {
        return Vec::new();
    }
    let places = places(context);
    let mut found = Vec::new();
    for group in groups {
        let text = index.anchor_text(group[0]);
        let message = format!("{} signatures share the search text `{text}`", group.len());
        let spans = group.iter().filter_map(|pattern| places.get(index.pattern(*pattern)));
        found.extend(spans.map(|span| Diagnostic::error(&RULE, *span, message.clone()).help(HELP)));
    }
    for (pattern, steps) in costs {
        let Some(span) = places.get(index.pattern(pattern)) else { continue };
        let message =
            format!("this signature takes {steps} steps in one sample; at most {MAX_STEPS} are allowed");
        found.push(Diagnostic::error(&RULE, *span, message).help(HELP));
    }
    found
}

/// Returns the span of each pattern.
fn places(context: &CheckContext<'_>) -> HashMap<Pattern, Span> {
    let mut places = HashMap::new();
    for signature in context.site.errors.iter().flat_map(|error| &error.data.signatures) {
        for text in signature.texts().iter().chain(&signature.not).chain(&signature.not_on_line) {
            if let Ok(pattern) = Pattern::parse(&text.value) {
                places.entry(pattern).or_insert(text.span);
            }
        }
    }
    places
}
