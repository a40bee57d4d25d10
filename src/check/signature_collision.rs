//! Signatures of two pages find the same log, and nothing says which of the pages leads.

use std::collections::{BTreeMap, BTreeSet};

use kbgen_signature::Pattern;

use crate::check::Subject;
use crate::diag::{Diagnostic, Rule};
use crate::diagnosis;
use crate::files::{Span, Spanned};
use crate::site::kinds::{ErrorData, ErrorKind, Signature};
use crate::site::{Page, PageId};

pub(super) const RULE: Rule = Rule {
    code: "signature-collision",
    demands: "no two pages find the same log with equal right: their signatures differ in what they look for, or in `when`",
    why: "which page a reader gets first would be left to chance",
};

const HELP: &str = "tell the pages apart with `when:` or a longer text, or let one page carry both";

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut told = BTreeSet::new();
    let is_judged = |error: &&Page<ErrorData>| {
        error.data.kind != ErrorKind::Symptom && subject.compiled().is_complete(&error.head.id.slug)
    };
    let errors = || subject.site.errors.iter().filter(is_judged);
    let mut known: BTreeMap<_, (&PageId, Span)> = BTreeMap::new();
    for error in errors() {
        for signature in &error.data.signatures {
            let Some(at) = signature.texts().first().map(|text| text.span) else { continue };
            let Some(shape) = shape(signature) else { continue };
            let (page, first) = *known.entry(shape).or_insert((&error.head.id, at));
            if *page != error.head.id && told.insert((first, at)) {
                let message = format!("`{}` has the same signature", page.slug);
                found.push(Diagnostic::error(&RULE, at, message).related(first, "here").help(HELP));
            }
        }
    }
    for error in errors() {
        for signature in &error.data.signatures {
            for sample in &signature.samples {
                let Some(other) = tie(subject, error, sample) else { continue };
                let Some((here, there)) = pattern_in(error, sample).zip(pattern_in(other, sample)) else {
                    continue;
                };
                if told.insert((here, there)) && told.insert((there, here)) {
                    let message = format!(
                        "this signature and one of `{}` find one log with equal right",
                        other.head.id.slug
                    );
                    found.push(
                        Diagnostic::error(&RULE, here, message)
                            .related(there, "the other")
                            .related(sample.span, "in this sample")
                            .help(HELP),
                    );
                }
            }
        }
    }
    found
}

/// What a signature looks for, whatever it calls its figures, and its condition.
fn shape(signature: &Signature) -> Option<(Vec<String>, Option<&str>)> {
    let mut looked_for = BTreeSet::new();
    for text in signature.texts() {
        looked_for.insert(Pattern::parse(&text.value).ok()?.shape());
    }
    let when = signature.when.as_ref().map(|when| when.value.as_str());
    Some((looked_for.into_iter().collect(), when))
}

/// Another page that finds a sample of this page as well as the page itself does.
fn tie<'s>(
    subject: &Subject<'s>,
    error: &Page<ErrorData>,
    sample: &Spanned<String>,
) -> Option<&'s Page<ErrorData>> {
    let hits = &subject.hits()[&sample.span].matches;
    let best = hits.first()?.score;
    let tied: Vec<&str> =
        hits.iter().take_while(|hit| hit.score == best).map(|hit| hit.slug.as_str()).collect();
    let own = error.head.id.slug.as_str();
    let other = tied.iter().find(|slug| **slug != own).filter(|_| tied.contains(&own))?;
    subject.site.error(other).filter(|other| subject.compiled().is_complete(&other.head.id.slug))
}

/// The first pattern of the page that stands in a text.
fn pattern_in(error: &Page<ErrorData>, text: &Spanned<String>) -> Option<Span> {
    let mut patterns = error.data.signatures.iter().filter_map(|signature| signature.texts().first());
    patterns.find(|pattern| diagnosis::finds(&pattern.value, &text.value)).map(|pattern| pattern.span)
}
