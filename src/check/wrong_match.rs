//! A sample does not lead to its own page, or something that must not match does.

use crate::check::Subject;
use crate::diag::{Diagnostic, Rule};
use crate::facts::map;
use crate::files::Spanned;
use crate::site::Page;
use crate::site::kinds::ErrorData;

pub(super) const RULE: Rule = Rule {
    code: "wrong-match",
    demands: "every sample leads to its own page first, and no near miss leads there",
    why: "a reader who pastes this very text must land here and nowhere else",
};

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let index = &subject.compiled().index;
    let clear = |error: &&Page<ErrorData>| subject.compiled().is_complete(&error.head.id.slug);
    let errors: Vec<_> = subject.site.errors.iter().filter(clear).collect();
    let of_page = |error: &Page<ErrorData>| {
        let mut found = Vec::new();
        for signature in &error.data.signatures {
            for sample in &signature.samples {
                found.extend(sample_fault(subject, error, sample));
            }
        }
        for near in &error.data.near_misses {
            if index.diagnose(&near.value).matches.iter().any(|hit| hit.slug == error.head.id.slug) {
                found.push(
                    Diagnostic::error(
                        &RULE,
                        near.span,
                        "this text must not match, but a signature of the page does",
                    )
                    .help("make the signature longer, or name what tells them apart under `not:`"),
                );
            }
        }
        found
    };
    map(&errors, |error| of_page(error)).into_iter().flatten().collect()
}

fn sample_fault(
    subject: &Subject<'_>,
    error: &Page<ErrorData>,
    sample: &Spanned<String>,
) -> Option<Diagnostic> {
    let hits = &subject.hits()[&sample.span].matches;
    let own = &error.head.id.slug;
    let first = hits.first();
    if first.is_some_and(|hit| hit.slug == *own) {
        return None;
    }
    let Some(first) = first else {
        return Some(Diagnostic::error(&RULE, sample.span, "no signature matches this sample").help(
            "hold the pattern against the sample letter by letter; case and runs of space do not matter",
        ));
    };
    if !subject.compiled().is_complete(&first.slug) {
        return None;
    }
    let other = &subject.site.error(&first.slug)?.head;
    let message = format!("this sample leads to `{}` first", first.slug);
    let help = match hits.iter().any(|hit| hit.slug == *own) {
        true => "both pages know it: make this signature more specific, or tell them apart with `when:`",
        false => "the signatures of this page do not match it at all",
    };
    Some(Diagnostic::error(&RULE, sample.span, message).related(other.title.span, "this page").help(help))
}
