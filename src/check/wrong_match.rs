//! Samples that do not match their own page, and near misses that do.

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::facts::map;
use crate::files::Spanned;
use crate::site::Page;
use crate::site::kinds::ErrorData;

pub(super) const RULE: Rule = Rule {
    code: "wrong-match",
    requirement: "samples match their own page best, and near misses do not match it",
    why: "a log with this text must lead to this page",
};

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let index = &context.compiled().index;
    let clear = |error: &&Page<ErrorData>| context.compiled().is_complete(&error.head.id.slug);
    let errors: Vec<_> = context.site.errors.iter().filter(clear).collect();
    let of_page = |error: &Page<ErrorData>| {
        let mut found = Vec::new();
        for signature in &error.data.signatures {
            for sample in &signature.samples {
                found.extend(sample_fault(context, error, sample));
            }
        }
        for near in &error.data.near_misses {
            if index.diagnose(&near.value).matches.iter().any(|hit| hit.slug == error.head.id.slug) {
                found.push(
                    Diagnostic::error(&RULE, near.span, "a signature of the page matches this near miss")
                        .help("use a longer signature, or add a distinguishing text to `not:`"),
                );
            }
        }
        found
    };
    map(&errors, |error| of_page(error)).into_iter().flatten().collect()
}

fn sample_fault(
    context: &CheckContext<'_>,
    error: &Page<ErrorData>,
    sample: &Spanned<String>,
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
    if !context.compiled().is_complete(&first.slug) {
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
