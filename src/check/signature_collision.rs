//! Signatures of two pages that match the same log with the same score, and duplicate signatures of one page.

use std::collections::{BTreeMap, BTreeSet};

use kbgen_signature::Pattern;

use crate::check::wrong_match::general_pages;
use crate::check::{CheckContext, pattern_in};
use crate::diag::{Diagnostic, Rule};
use crate::files::{Span, Spanned};
use crate::site::kinds::{ErrorData, ErrorKind, Signature};
use crate::site::{Page, PageId};

pub(super) const RULE: Rule = Rule {
    code: "signature-collision",
    requirement: "signatures differ in their patterns or in `when`",
    why: "the order of the matching pages would be arbitrary, and a page needs no signature twice",
};

const HELP: &str = "distinguish the pages with `when:` or a longer text, or merge them";

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let collisions = collisions(context).into_iter().map(|(_, finding)| finding);
    collisions.chain(context.site.errors.iter().flat_map(duplicates)).collect()
}

/// Reports signatures that a page has twice.
fn duplicates(error: &Page<ErrorData>) -> Vec<Diagnostic> {
    let mut known = BTreeMap::new();
    let mut found = Vec::new();
    for signature in &error.data.signatures {
        let Some(at) = signature.texts().first().map(|text| text.span) else { continue };
        let values = |texts: &[Spanned<String>]| {
            texts.iter().map(|text| text.value.to_lowercase()).collect::<Vec<_>>()
        };
        let texts = [signature.texts(), &signature.not, &signature.not_on_line].map(values);
        let name = |name: &Option<Spanned<String>>| name.as_ref().map(|name| name.value.clone());
        let all = (texts, name(&signature.when), name(&signature.extract));
        let first = *known.entry(all).or_insert(at);
        if first != at {
            found.push(
                Diagnostic::error(&RULE, at, "the page has this signature twice")
                    .related(first, "first defined here")
                    .help("remove one of the two; the other may have the samples of both"),
            );
        }
    }
    found
}

/// Slugs of two pages, sorted.
pub(super) type Pair = (String, String);

pub(super) fn pair(one: &str, other: &str) -> Pair {
    (one.min(other).to_owned(), one.max(other).to_owned())
}

/// Returns the pairs of pages with a finding.
pub(super) fn colliding_pages(context: &CheckContext<'_>) -> BTreeSet<Pair> {
    collisions(context).into_iter().map(|(pages, _)| pages).collect()
}

fn collisions(context: &CheckContext<'_>) -> Vec<(Pair, Diagnostic)> {
    let general = general_pages(context);
    let mut found = Vec::new();
    let mut reported = BTreeSet::new();
    let is_checked = |error: &&Page<ErrorData>| {
        error.data.kind != ErrorKind::Symptom && context.compiled().is_complete(&error.head.id.slug)
    };
    let errors = || context.site.errors.iter().filter(is_checked);
    let mut known: BTreeMap<_, (&PageId, Span)> = BTreeMap::new();
    for error in errors() {
        for signature in &error.data.signatures {
            let Some(at) = signature.texts().first().map(|text| text.span) else { continue };
            let Some(shape) = shape(signature) else { continue };
            let (page, first) = *known.entry(shape).or_insert((&error.head.id, at));
            if *page != error.head.id && reported.insert((first, at)) {
                let message = format!("`{}` has the same signature", page.slug);
                let finding = Diagnostic::error(&RULE, at, message).related(first, "here").help(HELP);
                found.push((pair(&page.slug, &error.head.id.slug), finding));
            }
        }
    }
    for error in errors() {
        for signature in &error.data.signatures {
            for sample in &signature.samples {
                let Some(other) = tie(context, error, sample) else { continue };
                let pages = [&error.head.id.slug, &other.head.id.slug];
                if pages.iter().any(|slug| general.contains_key(*slug)) {
                    continue;
                }
                let Some((here, there)) = pattern_in(error, sample).zip(pattern_in(other, sample)) else {
                    continue;
                };
                if reported.insert((here, there)) && reported.insert((there, here)) {
                    let message = format!(
                        "this signature and one of `{}` match the same log with the same score",
                        other.head.id.slug
                    );
                    let finding = Diagnostic::error(&RULE, here, message)
                        .related(there, "other signature")
                        .related(sample.span, "in this sample")
                        .help(HELP);
                    found.push((pair(pages[0], pages[1]), finding));
                }
            }
        }
    }
    found
}

/// Returns the patterns of a signature without the names of figures, and its condition.
fn shape(signature: &Signature) -> Option<(Vec<String>, Option<&str>)> {
    let mut looked_for = BTreeSet::new();
    for text in signature.texts() {
        looked_for.insert(Pattern::parse(&text.value).ok()?.shape());
    }
    let when = signature.when.as_ref().map(|when| when.value.as_str());
    Some((looked_for.into_iter().collect(), when))
}

/// Returns another page that matches a sample with the same score as its own page.
fn tie<'s>(
    context: &CheckContext<'s>,
    error: &Page<ErrorData>,
    sample: &Spanned<String>,
) -> Option<&'s Page<ErrorData>> {
    let hits = &context.sample_matches()[&sample.span].matches;
    let best = hits.first()?.score;
    let tied: Vec<&str> =
        hits.iter().take_while(|hit| hit.score == best).map(|hit| hit.slug.as_str()).collect();
    let own = error.head.id.slug.as_str();
    let other = tied.iter().find(|slug| **slug != own).filter(|_| tied.contains(&own))?;
    context.site.error(other).filter(|other| context.compiled().is_complete(&other.head.id.slug))
}
