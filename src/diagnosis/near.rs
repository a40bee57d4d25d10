//! The net under the signatures: pages that speak of the same words.

use rayon::prelude::*;

use crate::diagnosis::{Answer, Book};
use crate::files::Sources;
use crate::markdown;
use crate::signature::{Counted, Document, Figures, NEAR, WordCounts, WordIndex};
use crate::site::kinds::{ErrorData, GuideData, SignatureText};
use crate::site::{Head, Page, Site};
use crate::store::{self, Store};

/// The word index of errors and guides. The words of each are kept.
pub fn words(site: &Site, sources: &Sources, store: &Store) -> WordIndex {
    let counted = |head: &Head, document: &dyn Fn() -> Document| {
        let key = || *sources.get(head.source).key();
        store.get_or(store::Kind::Words, key, || Counted::of(&document()))
    };
    let mut counts = WordCounts::default();
    let mut add = |head: &Head, counted: &Counted| {
        counts.add(head.id.address(), head.title.value.clone(), counted);
    };
    // Some at a time, so that the words of all are there only once.
    for errors in site.errors.chunks(AT_ONCE) {
        let of = |error: &Page<ErrorData>| counted(&error.head, &|| of_error(error, sources));
        let counted: Vec<Counted> = errors.par_iter().map(of).collect();
        errors.iter().zip(&counted).for_each(|(error, counted)| add(&error.head, counted));
    }
    for guide in &site.guides {
        add(&guide.head, &counted(&guide.head, &|| of_guide(guide, sources)));
    }
    counts.finish()
}

/// Pages whose words are counted at once.
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
pub fn near(book: &Book, words: &WordIndex, log: &str, limit: usize) -> Vec<Answer> {
    words
        .search(log, limit)
        .into_iter()
        .filter(|hit| hit.share >= NEAR)
        .filter_map(|hit| {
            let (slug, _) = book.errors.iter().find(|(_, error)| error.address == hit.address)?;
            Some(Answer {
                slug: slug.clone(),
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
