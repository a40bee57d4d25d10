//! Samples that do not match their own page, and near misses that match a page.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::signature_collision::{colliding_pages, pair};
use crate::check::{CheckContext, pattern_in};
use crate::diag::{Diagnostic, Rule};
use crate::facts::map;
use crate::files::{Span, Spanned};
use crate::site::Page;
use crate::site::kinds::ErrorData;

pub(super) const RULE: Rule = Rule {
    code: "wrong-match",
    requirement: "samples match their own page best, and near misses match no page",
    why: "a log with this text must lead to this page",
};

/// Number of pages whose samples another page takes before its signature is reported, and not their samples.
const MIN_PAGES_OF_GENERAL: usize = 2;

/// Number of unrelated pages whose near misses a signature must match to be reported. A near miss is often the message
/// of one other page.
const MIN_PAGES_OF_NEAR_MISSES: usize = 3;

/// Maximum number of pages named in a message.
const MAX_NAMED: usize = 5;

const NEAR_HELP: &str = "use a longer signature, or add a distinguishing text to `not:`";

/// A sample or a near miss, and its page.
type Text<'s> = (&'s Page<ErrorData>, &'s Spanned<String>);

/// Samples or near misses by the slug of the page that they match.
type Matched<'s> = BTreeMap<String, Vec<Text<'s>>>;

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let general = general_pages(context);
    let colliding = colliding_pages(context);
    let mut found = Vec::new();
    let mut near: Matched<'_> = BTreeMap::new();
    for (error, text, slug) in near_misses(context) {
        if slug == error.head.id.slug {
            let message = "a signature of the page matches this near miss";
            found.push(Diagnostic::error(&RULE, text.span, message).help(NEAR_HELP));
        } else if !is_related(error, context.site.error(&slug)) {
            near.entry(slug).or_default().push((error, text));
        }
    }
    for error in complete_pages(context) {
        let samples = error.data.signatures.iter().flat_map(|signature| &signature.samples);
        let is_consequence = |other: &str| {
            general.contains_key(other) || colliding.contains(&pair(other, &error.head.id.slug))
        };
        found.extend(samples.filter_map(|sample| sample_fault(context, error, sample, &is_consequence)));
    }
    for (place, taken) in by_signature(context, &general) {
        let message = format!("this signature also matches samples of {}", list(&taken));
        found.push(
            Diagnostic::error(&RULE, place, message)
                .related(taken[0].1.span, "such as this sample")
                .help("add literal text that only this message has, or a distinguishing text to `not:`"),
        );
    }
    let near = by_signature(context, &near).into_iter();
    for (place, near) in near.filter(|(_, near)| pages_of(near).len() >= MIN_PAGES_OF_NEAR_MISSES) {
        if found.iter().any(|finding| finding.span == place) {
            continue;
        }
        let message = format!("this signature matches near misses of {}", list(&near));
        found.push(
            Diagnostic::warning(&RULE, place, message)
                .related(near[0].1.span, "such as this near miss")
                .help(format!("{NEAR_HELP}; if it is right, name one of the pages in `related:`")),
        );
    }
    found
}

fn complete_pages<'s>(context: &CheckContext<'s>) -> impl Iterator<Item = &'s Page<ErrorData>> {
    let compiled = context.compiled();
    context.site.errors.iter().filter(|error| compiled.is_complete(&error.head.id.slug))
}

/// Returns the pages that match samples of several other pages at least as well as these pages, with the samples.
pub(super) fn general_pages<'s>(context: &CheckContext<'s>) -> Matched<'s> {
    let mut taken: Matched<'_> = BTreeMap::new();
    for error in complete_pages(context) {
        for sample in error.data.signatures.iter().flat_map(|signature| &signature.samples) {
            let hits = &context.sample_matches()[&sample.span].matches;
            let own = &error.head.id.slug;
            let Some(score) = hits.iter().find(|hit| hit.slug == *own).map(|hit| hit.score) else { continue };
            let others = hits.iter().filter(|hit| hit.slug != *own && hit.score >= score);
            for other in others.filter(|hit| context.compiled().is_complete(&hit.slug)) {
                taken.entry(other.slug.clone()).or_default().push((error, sample));
            }
        }
    }
    taken.retain(|_, samples| pages_of(samples).len() >= MIN_PAGES_OF_GENERAL);
    taken
}

/// Returns each near miss that matches a page, with its page and the slug of the matching one.
fn near_misses<'s>(context: &CheckContext<'s>) -> Vec<(&'s Page<ErrorData>, &'s Spanned<String>, String)> {
    let texts: Vec<Text<'_>> = complete_pages(context)
        .flat_map(|error| error.data.near_misses.iter().map(move |near| (error, near)))
        .collect();
    let matches = |(error, near): &Text<'s>| -> Vec<_> {
        let hits = context.compiled().index.diagnose(&near.value).matches;
        hits.into_iter().map(|hit| (*error, *near, hit.slug)).collect()
    };
    map(&texts, matches).into_iter().flatten().collect()
}

fn is_related(error: &Page<ErrorData>, other: Option<&Page<ErrorData>>) -> bool {
    let names = |from: &Page<ErrorData>, to: &Page<ErrorData>| {
        from.data.related.iter().any(|slug| slug.value == to.head.id.slug)
    };
    other.is_some_and(|other| names(error, other) || names(other, error))
}

fn pages_of<'s>(texts: &[Text<'s>]) -> BTreeSet<&'s str> {
    texts.iter().map(|(error, _)| error.head.id.slug.as_str()).collect()
}

/// Groups texts by the signature that they match.
fn by_signature<'s>(context: &CheckContext<'_>, matched: &Matched<'s>) -> BTreeMap<Span, Vec<Text<'s>>> {
    let mut found: BTreeMap<Span, Vec<Text<'_>>> = BTreeMap::new();
    for (slug, texts) in matched {
        let Some(page) = context.site.error(slug) else { continue };
        for text in texts {
            let place = pattern_in(page, text.1).unwrap_or(page.head.title.span);
            found.entry(place).or_default().push(*text);
        }
    }
    found
}

/// Names the pages of texts.
fn list(texts: &[Text<'_>]) -> String {
    let pages = pages_of(texts);
    let named: Vec<String> = pages.iter().take(MAX_NAMED).map(|page| format!("`{page}`")).collect();
    let more = if pages.len() > MAX_NAMED { ", …" } else { "" };
    match pages.len() {
        1 => named.concat(),
        count => format!("{count} pages: {}{more}", named.join(", ")),
    }
}

fn sample_fault(
    context: &CheckContext<'_>,
    error: &Page<ErrorData>,
    sample: &Spanned<String>,
    is_consequence: &dyn Fn(&str) -> bool,
) -> Option<Diagnostic> {
    let hits = &context.sample_matches()[&sample.span].matches;
    let own = &error.head.id.slug;
    let first = hits.first();
    if first.is_some_and(|hit| hit.slug == *own) {
        return None;
    }
    let Some(first) = first else {
        return Some(
            Diagnostic::error(&RULE, sample.span, "no signature matches this sample")
                .help("compare the pattern with the sample; case and repeated spaces do not matter"),
        );
    };
    if is_consequence(&first.slug) || !context.compiled().is_complete(&first.slug) {
        return None;
    }
    let other = &context.site.error(&first.slug)?.head;
    let message = format!("this sample matches `{}` best", first.slug);
    let help = match hits.iter().any(|hit| hit.slug == *own) {
        true => "make this signature more specific, or distinguish the pages with `when:`",
        false => "add a signature that matches it",
    };
    Some(Diagnostic::error(&RULE, sample.span, message).related(other.title.span, "this page").help(help))
}
