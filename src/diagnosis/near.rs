//! The net under the signatures: pages that speak of the same words.

use rayon::prelude::*;

use crate::diagnosis::Answer;
use crate::files::Sources;
use crate::markdown;
use crate::signature::{Document, Figures, NEAR, WordCounts, WordIndex};
use crate::site::kinds::{ErrorData, GuideData, SignatureText};
use crate::site::{Head, Page, Site};

/// The word index of errors and guides.
pub fn words(site: &Site, sources: &Sources) -> WordIndex {
    let mut counts = WordCounts::default();
    // Some at a time: the words of a page are much less than its text.
    for errors in site.errors.chunks(AT_ONCE) {
        counts.add(&errors.par_iter().map(|error| of_error(error, sources)).collect::<Vec<_>>());
    }
    counts.add(&site.guides.iter().map(|guide| of_guide(guide, sources)).collect::<Vec<_>>());
    counts.finish()
}

/// Pages whose texts are there at once.
const AT_ONCE: usize = 256;

/// Errors, then guides; addresses are those of the pages.
pub fn documents(site: &Site, sources: &Sources) -> Vec<Document> {
    let errors = site.errors.iter().map(|error| of_error(error, sources));
    errors.chain(site.guides.iter().map(|guide| of_guide(guide, sources))).collect()
}

fn of_error(error: &Page<ErrorData>, sources: &Sources) -> Document {
    document(&error.head, wordings(error), sources)
}

fn of_guide(guide: &Page<GuideData>, sources: &Sources) -> Document {
    document(&guide.head, String::new(), sources)
}

/// Errors that are near a log, the nearest first; none of them is known to be the right one.
pub fn near(site: &Site, sources: &Sources, log: &str, limit: usize) -> Vec<Answer> {
    words(site, sources)
        .search(log, limit)
        .into_iter()
        .filter(|hit| hit.share >= NEAR)
        .filter_map(|hit| {
            let error = site.errors.iter().find(|error| error.head.id.address() == hit.address)?;
            Some(Answer {
                slug: error.head.id.slug.clone(),
                title: hit.title,
                url: format!("/{}", hit.address),
                score: f64::from(hit.score),
                exact: false,
                line: None,
                figures: Figures::default(),
                cause: None,
                conclusion: None,
            })
        })
        .collect()
}

fn document(head: &Head, signatures: String, sources: &Sources) -> Document {
    Document {
        address: head.id.address(),
        title: head.title.value.clone(),
        signatures,
        body: markdown::plain(sources.text(head.body.span)),
    }
}

/// Patterns and samples of an error.
fn wordings(error: &Page<ErrorData>) -> String {
    let mut texts: Vec<&str> = Vec::new();
    for signature in &error.data.signatures {
        match &signature.text {
            SignatureText::Pattern(pattern) => texts.push(&pattern.value),
            SignatureText::All(fragments) => {
                texts.extend(fragments.iter().map(|fragment| fragment.value.as_str()))
            }
            SignatureText::Unclear => {}
        }
        texts.extend(signature.samples.iter().map(|sample| sample.value.as_str()));
    }
    texts.join("\n")
}
