//! The pages for a log: those that a signature finds, and those that only have its title or its words.

use std::collections::BTreeSet;

use kbgen_signature::{
    Counted, Diagnosis, Document, Figures, Index, Match, NEAR, NEAR_QUESTION, WordCounts, WordIndex,
    is_question,
};
use rayon::prelude::*;

use crate::diagnosis::{Answer, Book, Evidence, answer};
use crate::files::{Key, Sources};
use crate::markdown;
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

/// The pages for a log, best first. A typed title leads to its page before all signatures, but asserts nothing; what
/// else is only near is offered where no signature asserts a page, those first that a weak signature finds.
pub fn answers(book: &Book, words: impl FnOnce() -> WordIndex, asked: &Asked<'_>) -> Vec<Answer> {
    let question = is_question(asked.end);
    let (weak, strong): (Vec<&Match>, Vec<&Match>) = asked.found.matches.iter().partition(|found| found.weak);
    let exact: Vec<Answer> = strong.into_iter().filter_map(|found| answer(book, found.clone())).collect();
    if !question && !exact.is_empty() {
        return exact.into_iter().take(asked.limit).collect();
    }
    let words = words();
    let titled = words.titled(asked.end);
    let near = |address: &str, title: &str, found_by| book.near(address, title, found_by);
    let is_asserted = !exact.is_empty();
    let mut offered: Vec<Answer> = Vec::new();
    let (whole, held): (Vec<_>, Vec<_>) = titled.iter().partition(|titled| titled.whole);
    offered.extend(whole.iter().filter_map(|titled| near(titled.address, titled.title, Evidence::Title)));
    for found in &mut offered {
        if let Some(exact) = exact.iter().find(|exact| exact.slug == found.slug) {
            *found = exact.clone();
        }
    }
    offered.extend(exact);
    if !is_asserted {
        offered.extend(held.iter().filter_map(|titled| near(titled.address, titled.title, Evidence::Title)));
        offered.extend(weak.into_iter().filter_map(|found| {
            let error = book.errors.get(&found.slug)?;
            let near = near(&error.address, &error.title, Evidence::Weak)?;
            Some(Answer { score: f64::from(found.score), line: Some(found.line), ..near })
        }));
        let begun = if question { asked.index.begun(asked.end) } else { Vec::new() };
        offered.extend(begun.into_iter().filter_map(|slug| {
            let error = book.errors.get(slug)?;
            near(&error.address, &error.title, Evidence::Beginning)
        }));
        let least = if question { NEAR_QUESTION } else { NEAR };
        let hits = words.search(asked.end, asked.limit).into_iter().filter(|hit| hit.share >= least);
        offered.extend(hits.filter_map(|hit| {
            let found = near(&hit.address, &hit.title, Evidence::Words)?;
            Some(Answer { score: f64::from(hit.score), ..found })
        }));
    }
    let mut known = BTreeSet::new();
    offered.retain(|found| known.insert(found.slug.clone()));
    offered.truncate(asked.limit);
    offered
}

/// The input of a diagnosis.
#[derive(Debug)]
pub struct Asked<'a> {
    /// The signatures.
    pub index: &'a Index,
    /// The matches of the signatures.
    pub found: &'a Diagnosis,
    /// The log, or its end where it is long.
    pub end: &'a str,
    /// Most pages.
    pub limit: usize,
}

impl Book {
    /// The error at an address, as a page that is only near.
    fn near(&self, address: &str, title: &str, found_by: Evidence) -> Option<Answer> {
        let (slug, _) = self.errors.iter().find(|(_, error)| error.address == address)?;
        Some(Answer {
            slug: slug.clone(),
            title: title.to_owned(),
            url: format!("/{address}"),
            score: 0.0,
            exact: false,
            found_by,
            line: None,
            figures: Figures::default(),
            cause: None,
            conclusion: None,
        })
    }
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
        match signature.text() {
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
