//! A signature takes so many steps that others may not be searched for.

use std::collections::{BTreeMap, HashMap};

use kbgen_signature::{Pattern, STEPS_PER_WINDOW};

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;

pub(super) const RULE: Rule = Rule {
    code: "costly-signature",
    demands: "searching for a signature takes few steps, and few signatures are searched by the same text",
    why: "a log is read up to a limit of steps, in the program and on the page: a costly signature makes every diagnosis slow, and beyond the limit others are missed",
};

/// Most signatures that are searched by the same text: each place where it occurs costs all of them.
const CROWD: usize = 32;
/// Most steps of one signature in one stretch of a sample.
const COSTLY: u64 = STEPS_PER_WINDOW as u64 / 8;

const HELP: &str = "give the signature a longer literal text that no other has, and fewer `{any}` holes";

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let index = &context.compiled().index;
    let crowds: Vec<&[usize]> = index.anchor_groups().filter(|group| group.len() > CROWD).collect();
    let costs = context
        .sample_matches()
        .values()
        .filter_map(|found| found.costliest.filter(|cost| cost.steps > COSTLY));
    let costs: BTreeMap<usize, u64> = costs.map(|cost| (cost.pattern, cost.steps)).collect();
    if crowds.is_empty() && costs.is_empty() {
        return Vec::new();
    }
    let places = places(context);
    let mut found = Vec::new();
    for group in crowds {
        let text = index.anchor_text(group[0]);
        let message = format!("{} signatures are searched by the same text, `{text}`", group.len());
        let spans = group.iter().filter_map(|pattern| places.get(index.pattern(*pattern)));
        found.extend(spans.map(|span| Diagnostic::error(&RULE, *span, message.clone()).help(HELP)));
    }
    for (pattern, steps) in costs {
        let Some(span) = places.get(index.pattern(pattern)) else { continue };
        let message =
            format!("this signature takes {steps} steps in one sample, and at most {COSTLY} are allowed");
        found.push(Diagnostic::error(&RULE, *span, message).help(HELP));
    }
    found
}

/// Where each pattern is written.
fn places(context: &CheckContext<'_>) -> HashMap<Pattern, Span> {
    let mut places = HashMap::new();
    for signature in context.site.errors.iter().flat_map(|error| &error.data.signatures) {
        for text in signature.texts().iter().chain(&signature.not) {
            if let Ok(pattern) = Pattern::parse(&text.value) {
                places.entry(pattern).or_insert(text.span);
            }
        }
    }
    places
}
