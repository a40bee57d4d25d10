//! Pages: what all have in common, and the set of them.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::files::{Placed, SourceId, Span};
use crate::markdown::Outline;
use crate::site::kind::Kind;
use crate::site::kinds::{
    CategoryData, DeviceData, DocumentData, ErrorData, ExtractorData, GuideData, ModelData, QuantData,
    TermData, ToolData,
};

/// Names a page: its kind, and its slug within that kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PageId {
    /// Its kind.
    pub kind: Kind,
    /// The stem of its file.
    pub slug: String,
}

impl PageId {
    /// The page of a kind with a slug.
    pub fn new(kind: Kind, slug: impl Into<String>) -> Self {
        Self { kind, slug: slug.into() }
    }
}

/// The title of a page that gives none: `out-of-memory` becomes `Out of memory`.
pub fn title_of(slug: &str) -> String {
    let text = slug.replace(['-', '_'], " ");
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The parts of a page that could not be read because of a reported fault. No check judges them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Unread {
    /// Nothing: all of it was read.
    #[default]
    Nothing,
    /// The values of these fields of the front matter.
    Fields(BTreeSet<&'static str>),
    /// The page as a whole: it is known only to exist.
    Page,
}

/// What every page has.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Head {
    /// Its name.
    pub id: PageId,
    /// The file it was read from.
    pub source: SourceId,
    /// Path of that file, relative to the root of the site.
    pub path: String,
    /// Its title.
    pub title: Placed<String>,
    /// When it was last verified.
    pub verified: Option<Placed<Date>>,
    /// Old addresses that lead here.
    pub aliases: Vec<Placed<String>>,
    /// Whether it is published only on request.
    pub draft: bool,
    /// Where its front matter stands.
    pub front: Span,
    /// Values of the front matter with characters that are written as escapes (`"\u202E"`).
    pub escaped: Vec<Placed<String>>,
    /// Fields of the front matter that could not be read.
    #[serde(skip)] // Only pages that were read in full are kept.
    pub unread: Unread,
    /// Its prose.
    pub body: Body,
}

impl Head {
    /// Whether all that the front matter says in a field is known.
    pub fn knows(&self, field: &str) -> bool {
        match &self.unread {
            Unread::Nothing => true,
            Unread::Fields(fields) => !fields.contains(field),
            Unread::Page => false,
        }
    }

    /// Whether nothing of the page is known but that it exists.
    pub fn is_unread(&self) -> bool {
        self.unread == Unread::Page
    }

    /// Whether all of the page is known.
    pub fn is_read(&self) -> bool {
        self.unread == Unread::Nothing
    }
}

/// The Markdown below the front matter.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Body {
    /// Where it stands; ranges of the outline count from its first byte.
    pub span: Span,
    /// Headings, links, calls and faults in it.
    pub outline: Outline,
}

/// A page of one kind.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Page<T> {
    /// What every page has.
    pub head: Head,
    /// What pages of this kind have.
    pub data: T,
}

/// The whole knowledge base; each list is sorted by slug.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// Errors.
    pub errors: Vec<Page<ErrorData>>,
    /// Groups of errors.
    pub categories: Vec<Page<CategoryData>>,
    /// Programs.
    pub tools: Vec<Page<ToolData>>,
    /// How-tos.
    pub guides: Vec<Page<GuideData>>,
    /// Language models.
    pub models: Vec<Page<ModelData>>,
    /// Devices.
    pub devices: Vec<Page<DeviceData>>,
    /// Weight formats.
    pub quants: Vec<Page<QuantData>>,
    /// Glossary.
    pub terms: Vec<Page<TermData>>,
    /// How figures are read; they have no page in the site.
    pub extractors: Vec<Page<ExtractorData>>,
    /// Pages of their own.
    pub documents: Vec<Page<DocumentData>>,
}

impl Site {
    /// The heads of all that is a page in the site, kind by kind.
    pub fn heads(&self) -> impl Iterator<Item = &Head> {
        heads_of(&self.errors)
            .chain(heads_of(&self.categories))
            .chain(heads_of(&self.tools))
            .chain(heads_of(&self.guides))
            .chain(heads_of(&self.models))
            .chain(heads_of(&self.devices))
            .chain(heads_of(&self.quants))
            .chain(heads_of(&self.terms))
            .chain(heads_of(&self.documents))
    }

    /// Heads by name; of two pages with one name the first in path order.
    pub fn index(&self) -> BTreeMap<&PageId, &Head> {
        let mut index = BTreeMap::new();
        for head in self.heads() {
            index.entry(&head.id).or_insert(head);
        }
        index
    }

    /// The error of a slug; of two the first in path order.
    pub fn error(&self, slug: &str) -> Option<&Page<ErrorData>> {
        let at = self.errors.partition_point(|error| error.head.id.slug.as_str() < slug);
        self.errors.get(at).filter(|error| error.head.id.slug == slug)
    }

    /// The page of a name; of two the first in path order.
    pub fn head(&self, id: &PageId) -> Option<&Head> {
        self.named(id).next()
    }

    /// All pages of a name, in path order; there should be one.
    pub fn named(&self, id: &PageId) -> Box<dyn Iterator<Item = &Head> + '_> {
        match id.kind {
            Kind::Error => named(&self.errors, &id.slug),
            Kind::Category => named(&self.categories, &id.slug),
            Kind::Tool => named(&self.tools, &id.slug),
            Kind::Guide => named(&self.guides, &id.slug),
            Kind::Model => named(&self.models, &id.slug),
            Kind::Hardware => named(&self.devices, &id.slug),
            Kind::Quant => named(&self.quants, &id.slug),
            Kind::Term => named(&self.terms, &id.slug),
            Kind::Document => named(&self.documents, &id.slug),
            // It has no page.
            Kind::Extractor => Box::new(std::iter::empty()),
        }
    }

    /// Slugs of a kind, sorted.
    pub fn slugs(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.heads().filter(move |head| head.id.kind == kind).map(|head| head.id.slug.as_str())
    }

    /// The same with other errors.
    pub fn with_errors(&self, errors: Vec<Page<ErrorData>>) -> Self {
        Self {
            errors,
            categories: self.categories.clone(),
            tools: self.tools.clone(),
            guides: self.guides.clone(),
            models: self.models.clone(),
            devices: self.devices.clone(),
            quants: self.quants.clone(),
            terms: self.terms.clone(),
            extractors: self.extractors.clone(),
            documents: self.documents.clone(),
        }
    }

    /// Keeps the pages whose heads are as asked, and all extractors.
    pub fn retain(&mut self, keep: impl Fn(&Head) -> bool) {
        self.errors.retain(|page| keep(&page.head));
        self.categories.retain(|page| keep(&page.head));
        self.tools.retain(|page| keep(&page.head));
        self.guides.retain(|page| keep(&page.head));
        self.models.retain(|page| keep(&page.head));
        self.devices.retain(|page| keep(&page.head));
        self.quants.retain(|page| keep(&page.head));
        self.terms.retain(|page| keep(&page.head));
        self.documents.retain(|page| keep(&page.head));
    }

    /// Whether all of these fields are known of the pages of this kind.
    pub fn knows(&self, kind: Kind, fields: &[&str]) -> bool {
        let extractors = heads_of(&self.extractors);
        let mut heads = self.heads().chain(extractors).filter(|head| head.id.kind == kind);
        heads.all(|head| fields.iter().all(|field| head.knows(field)))
    }

    /// Puts the pages of another behind its own.
    pub fn append(&mut self, other: Self) {
        self.errors.extend(other.errors);
        self.categories.extend(other.categories);
        self.tools.extend(other.tools);
        self.guides.extend(other.guides);
        self.models.extend(other.models);
        self.devices.extend(other.devices);
        self.quants.extend(other.quants);
        self.terms.extend(other.terms);
        self.extractors.extend(other.extractors);
        self.documents.extend(other.documents);
    }

    /// Puts every list in the order of its slugs; files that share one stay in the order of their paths.
    pub fn sort(&mut self) {
        sort_pages(&mut self.errors);
        sort_pages(&mut self.categories);
        sort_pages(&mut self.tools);
        sort_pages(&mut self.guides);
        sort_pages(&mut self.models);
        sort_pages(&mut self.devices);
        sort_pages(&mut self.quants);
        sort_pages(&mut self.terms);
        sort_pages(&mut self.extractors);
        sort_pages(&mut self.documents);
    }
}

impl Site {
    /// Puts each page of `few` in the place of the one from the same file; `few` holds those instead afterwards.
    /// A page without such a place stays where it is.
    pub fn exchange(&mut self, few: &mut Self) {
        exchange_pages(&mut self.errors, &mut few.errors);
        exchange_pages(&mut self.categories, &mut few.categories);
        exchange_pages(&mut self.tools, &mut few.tools);
        exchange_pages(&mut self.guides, &mut few.guides);
        exchange_pages(&mut self.models, &mut few.models);
        exchange_pages(&mut self.devices, &mut few.devices);
        exchange_pages(&mut self.quants, &mut few.quants);
        exchange_pages(&mut self.terms, &mut few.terms);
        exchange_pages(&mut self.extractors, &mut few.extractors);
        exchange_pages(&mut self.documents, &mut few.documents);
    }
}

fn exchange_pages<T>(pages: &mut [Page<T>], few: &mut [Page<T>]) {
    for new in few {
        if let Some(old) = pages.iter_mut().find(|old| old.head.source == new.head.source) {
            std::mem::swap(old, new);
        }
    }
}

/// The pages of a list in order that have a slug.
fn named<'p, T>(pages: &'p [Page<T>], slug: &str) -> Box<dyn Iterator<Item = &'p Head> + 'p> {
    let start = pages.partition_point(|page| page.head.id.slug.as_str() < slug);
    let end = start + pages[start..].partition_point(|page| page.head.id.slug.as_str() == slug);
    Box::new(heads_of(&pages[start..end]))
}

fn heads_of<T>(pages: &[Page<T>]) -> impl Iterator<Item = &Head> {
    pages.iter().map(|page| &page.head)
}

fn sort_pages<T>(pages: &mut [Page<T>]) {
    pages.sort_by(|a, b| (&a.head.id, &a.head.path).cmp(&(&b.head.id, &b.head.path)));
}
