//! The net under the signatures: pages that speak of the same words.

use rayon::prelude::*;

use crate::diagnosis::{Answer, Book};
use crate::files::{Key, Sources};
use crate::markdown;
use crate::signature::{Counted, Document, Figures, NEAR, WordCounts, WordIndex};
use crate::site::kinds::{ErrorData, GuideData, SignatureText};
use crate::site::{Head, Page, Site};
use crate::store::{self, Store};

/// The word index of errors and guides. The words of some pages together are kept.
pub fn words(site: &Site, sources: &Sources, store: &Store) -> WordIndex {
    let counted = |heads: &[&Head], documents: &dyn Fn() -> Vec<Document>| -> Counted {
        let key = || Key::of(heads.iter().map(|head| sources.get(head.source).key()));
        store.get_or(store::Kind::Words, key, || Counted::of(&documents()))
    };
    // Where one part ends depends on the page alone, so that a new page leaves all other parts as they are.
    let goes_on = |_: &Page<ErrorData>, next: &Page<ErrorData>| {
        !Key::of([&next.head.id.slug]).as_ref()[0].is_multiple_of(TOGETHER)
    };
    let parts: Vec<&[Page<ErrorData>]> = site.errors.chunk_by(goes_on).collect();
    let of_part = parts.into_par_iter().map(|errors| {
        let heads: Vec<&Head> = errors.iter().map(|error| &error.head).collect();
        let counted = counted(&heads, &|| errors.iter().map(|error| of_error(error, sources)).collect());
        (heads, counted)
    });
    let mut all: Vec<(Vec<&Head>, Counted)> = of_part.collect();
    let guides: Vec<&Head> = site.guides.iter().map(|guide| &guide.head).collect();
    let of_guides = counted(&guides, &|| site.guides.iter().map(|guide| of_guide(guide, sources)).collect());
    all.push((guides, of_guides));
    let mut counts = WordCounts::default();
    for (heads, counted) in all {
        let names = heads.into_iter().map(|head| (head.id.address(), head.title.value.clone()));
        counts.add(names, &counted);
    }
    counts.finish()
}

/// So many pages, more or less, are counted and kept together.
const TOGETHER: u8 = 64;

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
