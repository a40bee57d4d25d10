//! Finds the pages for a log: pages with a matching signature, and pages with a matching title or similar text.

use std::collections::{BTreeMap, BTreeSet};

use kbgen_signature::{
    Diagnosis, Document, Figures, Questions, TermCounts, TextIndex, TextIndexBuilder, is_question,
};

use crate::diagnosis::{DiagnosedPage, DiagnosisDb, Evidence, describe_match};
use crate::engine::{self, Engine};
use crate::facts::map;
use crate::files::{Key, Sources};
use crate::markdown;
use crate::site::kinds::{ErrorData, GuideData, SignatureText};
use crate::site::{Head, Kind, Page, Site};

/// Builds the text index of errors and guides. Caches term counts by groups of pages.
pub fn text_index(site: &Site, sources: &Sources, engine: &Engine) -> TextIndex {
    // Group boundaries depend on single pages only, so that a new page does not change other groups.
    let is_same_group = |_: &Page<ErrorData>, next: &Page<ErrorData>| {
        !Key::of([&next.head.id.slug]).as_ref()[0].is_multiple_of(GROUP_SIZE)
    };
    let groups: Vec<&[Page<ErrorData>]> = site.errors.chunk_by(is_same_group).collect();
    let counts = map(&groups, |errors| {
        let name = Key::of(errors.iter().map(|error| &error.head.id.slug)).to_string();
        engine.query(engine::Kind::Words, &name, || {
            TermCounts::of(&errors.iter().map(|error| error_document(error, sources)).collect::<Vec<_>>())
        })
    });
    let guide_counts = engine.query(engine::Kind::Words, "guides/", || {
        TermCounts::of(&site.guides.iter().map(|guide| guide_document(guide, sources)).collect::<Vec<_>>())
    });
    let questions: Vec<Document> = question_documents(site).collect();
    let boosts = Boosts::of(site);
    let mut builder = TextIndexBuilder::default();
    let mut add = |heads: &mut dyn Iterator<Item = &Head>, counts| {
        builder
            .add(heads.map(|head| (head.id.address(), head.title.value.clone(), boosts.get(head))), counts);
    };
    for (errors, counts) in groups.iter().zip(counts) {
        add(&mut errors.iter().map(|error| &error.head), counts);
    }
    add(&mut site.guides.iter().map(|guide| &guide.head), guide_counts);
    let counts = TermCounts::of(&questions);
    builder.add(questions.into_iter().map(|question| (question.address, question.title, 0)), counts);
    builder.finish()
}

/// Minimum [`kbgen_signature::SearchHit::share`] of a page for the first line of a post, which is only a part of it.
///
/// Of 15 posts whose first line alone has a suggestion, 5 have a right one; with this minimum 3 of 5.
const MIN_POST_SHARE: u32 = 80;
/// Average number of pages in a group.
const GROUP_SIZE: u8 = 64;
/// Boost of a guide, which is about more than one error.
const GUIDE_BOOST: f64 = 100.0;
/// Boost for each factor of e in the number of pages that name a page as related.
const RELATED_BOOST: f64 = 10.0;

/// Percentages for typed questions of the pages that answer many: guides, and pages that others name as related.
struct Boosts<'s>(BTreeMap<&'s str, u32>);

impl<'s> Boosts<'s> {
    fn of(site: &'s Site) -> Self {
        let mut counts = BTreeMap::new();
        let errors = site.errors.iter().flat_map(|error| &error.data.related);
        let guides = site.guides.iter().flat_map(|guide| &guide.data.related);
        for slug in errors.chain(guides) {
            *counts.entry(slug.value.as_str()).or_default() += 1;
        }
        Self(counts)
    }

    fn get(&self, head: &Head) -> u8 {
        let related = self.0.get(head.id.slug.as_str()).copied().unwrap_or_default();
        let guide = if head.id.kind == Kind::Guide { GUIDE_BOOST } else { 0.0 };
        (guide + RELATED_BOOST * f64::from(related).ln_1p()) as u8
    }
}

/// Returns a document for each question of an error or guide, with the question as its title.
fn question_documents(site: &Site) -> impl Iterator<Item = Document> {
    let errors = site.errors.iter().map(|error| (&error.head, &error.data.questions));
    let guides = site.guides.iter().map(|guide| (&guide.head, &guide.data.questions));
    errors.chain(guides).flat_map(|(head, questions)| {
        let document = |title: &String| Document {
            address: head.id.address(),
            title: title.clone(),
            ..Document::default()
        };
        questions.iter().map(document)
    })
}

/// Returns the indexed texts of all errors, of all guides, then of the questions.
pub fn documents(site: &Site, sources: &Sources) -> Vec<Document> {
    let boosts = Boosts::of(site);
    let errors = site.errors.iter().map(|page| (&page.head, error_document(page, sources)));
    let guides = site.guides.iter().map(|page| (&page.head, guide_document(page, sources)));
    let pages = errors.chain(guides).map(|(head, page)| Document { boost: boosts.get(head), ..page });
    pages.chain(question_documents(site)).collect()
}

fn error_document(error: &Page<ErrorData>, sources: &Sources) -> Document {
    document(&error.head, wordings(error), sources)
}

fn guide_document(guide: &Page<GuideData>, sources: &Sources) -> Document {
    document(&guide.head, String::new(), sources)
}

/// Returns the pages for a log, best first. Pages whose title is the question come first, but are not asserted. If no signature
/// asserts a page, pages with a weak signature follow, and for a question those with a truncated message or similar text. The
/// first line of a short post is a question, too, if no signature asserts a page.
pub fn rank_pages<'i>(
    db: &DiagnosisDb,
    text_index: impl FnOnce() -> &'i TextIndex,
    input: &DiagnosisInput<'_>,
) -> Vec<DiagnosedPage> {
    let (weak, strong): (Vec<_>, Vec<_>) = input.diagnosis.matches.iter().partition(|found| found.weak);
    let exact: Vec<_> = strong.into_iter().filter_map(|found| describe_match(db, found)).collect();
    let similar = |address: &str, title: &str, found_by| db.similar_page(address, title, found_by);
    let weak = weak.into_iter().filter_map(|found| {
        let error = db.errors.get(&found.slug)?;
        let page = similar(&error.address, &error.title, Evidence::Weak)?;
        Some(DiagnosedPage { score: f64::from(found.score), line: Some(found.line), ..page })
    });
    let is_asserted = !exact.is_empty();
    let is_question = is_question(input.text);
    let questions = Questions::of(input.text);
    if questions.titles.is_empty() || is_asserted && !is_question {
        let pages = if is_asserted { exact } else { weak.collect() };
        return pages.into_iter().take(input.limit).collect();
    }
    let text_index = text_index();
    let titles: Vec<_> = questions.titles.iter().flat_map(|text| text_index.title_matches(text)).collect();
    let mut pages: Vec<DiagnosedPage> = Vec::new();
    let (whole, partial): (Vec<_>, Vec<_>) = titles.iter().partition(|title| title.whole);
    pages.extend(whole.iter().filter_map(|found| similar(found.address, found.title, Evidence::Title)));
    for found in &mut pages {
        if let Some(exact) = exact.iter().find(|exact| exact.slug == found.slug) {
            *found = exact.clone();
        }
    }
    pages.extend(exact);
    if !is_asserted {
        pages.extend(partial.iter().filter_map(|found| similar(found.address, found.title, Evidence::Title)));
        pages.extend(weak);
        let truncated = if is_question { db.index.truncated_matches(input.text) } else { Vec::new() };
        pages.extend(truncated.into_iter().filter_map(|slug| {
            let error = db.errors.get(slug)?;
            similar(&error.address, &error.title, Evidence::Beginning)
        }));
        let least = if is_question { 0 } else { MIN_POST_SHARE };
        let hits = questions.searched.into_iter().flat_map(|text| {
            let hits = text_index.search(text, input.limit).into_iter();
            hits.filter(move |hit| hit.is_suggested(text) && hit.share >= least)
        });
        pages.extend(hits.filter_map(|hit| {
            let page = similar(&hit.address, &hit.title, Evidence::Words)?;
            Some(DiagnosedPage { score: f64::from(hit.score), ..page })
        }));
    }
    let mut known = BTreeSet::new();
    pages.retain(|found| known.insert(found.slug.clone()));
    pages.truncate(input.limit);
    pages
}

/// The input of a diagnosis.
#[derive(Debug)]
pub struct DiagnosisInput<'a> {
    /// Result of the index for the whole log.
    pub diagnosis: &'a Diagnosis,
    /// The log, or the end of a long one.
    pub text: &'a str,
    /// Maximum number of pages in the result.
    pub limit: usize,
}

impl DiagnosisDb {
    /// Returns the error or guide at an address as a page that is not asserted. `None` for an error that is not in the database.
    fn similar_page(&self, address: &str, title: &str, found_by: Evidence) -> Option<DiagnosedPage> {
        let slug = slug_of_address(address);
        // A page found by its question shows its own title.
        let title = match self.errors.get(slug) {
            Some(error) => &error.title,
            None if address.starts_with(Kind::Guide.folder()) => title,
            None => return None,
        };
        Some(DiagnosedPage {
            slug: slug.to_owned(),
            title: title.to_owned(),
            url: format!("/{address}"),
            score: 0.0,
            exact: false,
            found_by,
            line: None,
            figures: Figures::default(),
            cause: None,
            conclusion: None,
            names_cause: false,
        })
    }
}

/// Returns the slug that names a page in answers: that of an error, or the address of a guide without its last slash.
pub fn slug_of_address(address: &str) -> &str {
    let address = address.trim_end_matches('/');
    address.strip_prefix("errors/").unwrap_or(address)
}

fn document(head: &Head, signatures: String, sources: &Sources) -> Document {
    Document {
        address: head.id.address(),
        title: head.title.value.clone(),
        signatures,
        body: markdown::plain(sources.text(head.body.span)),
        ..Document::default()
    }
}

/// Returns the patterns and samples of an error page, one per line.
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
