//! Pages: what all have in common, and the set of them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::facts::{Fact, Facts, Fingerprint, Name};
use crate::files::{Placed, SourceId, Span};
use crate::markdown::Outline;
use crate::site::kind::Kind;
use crate::site::kinds::{
    CategoryData, DeviceData, DocumentData, ErrorData, ExtractorData, GuideData, ModelData, QuantData,
    ReadingData, TermData, ToolData,
};
use crate::site::pages::Pages;

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

impl Unread {
    pub(super) fn says(&self) -> &'static [u8] {
        match self {
            Self::Nothing => b"read",
            Self::Fields(_) => b"fields",
            Self::Page => b"unread",
        }
    }
}

/// What every page has: what names it, and facts about it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Head {
    /// Its name.
    pub id: PageId,
    /// The file it was read from.
    pub source: SourceId,
    /// Path of that file, relative to the root of the site.
    pub path: String,
    /// Fields of the front matter that could not be read.
    #[serde(skip)] // Only pages that were read in full are kept.
    pub unread: Unread,
    /// The front matter that pages of all kinds have.
    pub front_matter: Fact<FrontMatter>,
    /// Its prose.
    pub body: Fact<Body>,
}

/// The front matter that pages of all kinds have.
#[derive(Debug, Serialize, Deserialize)]
pub struct FrontMatter {
    /// Its title.
    pub title: Placed<String>,
    /// When it was last verified.
    pub verified: Option<Placed<Date>>,
    /// Old addresses that lead here.
    pub aliases: Vec<Placed<String>>,
    /// Whether it is published only on request.
    pub draft: bool,
    /// Where it stands.
    pub front: Span,
    /// Values with characters that are written as escapes (`"\u202E"`).
    pub escaped: Vec<Placed<String>>,
}

impl Deref for Head {
    type Target = FrontMatter;

    fn deref(&self) -> &FrontMatter {
        &self.front_matter
    }
}

impl Head {
    /// Makes a head; `body` comes with its text.
    pub fn new(
        id: PageId,
        source: SourceId,
        path: String,
        unread: Unread,
        front_matter: FrontMatter,
        (body, text): (Body, &str),
    ) -> Self {
        let FrontMatter { title, verified, aliases, draft, front: _, escaped } = &front_matter;
        let values =
            |placed: &[Placed<String>]| placed.iter().map(|one| one.value.clone()).collect::<Vec<_>>();
        let verified = verified.as_ref().map(|day| day.value);
        let says = (&path, &title.value, verified, values(aliases), draft, values(escaped), unread.says());
        let says = Fingerprint::of_data(&says);
        let front_matter = Fact::new(Name::new("front", &path), says, front_matter);
        let body = Fact::new(Name::new("body", &path), Fingerprint::of([text]), body);
        Self { id, source, path, unread, front_matter, body }
    }

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
#[derive(Debug, Serialize, Deserialize)]
pub struct Body {
    /// Where it stands; ranges of the outline count from its first byte.
    pub span: Span,
    /// Headings, links, calls and faults in it.
    pub outline: Outline,
}

/// A page of one kind.
#[derive(Debug, Serialize, Deserialize)]
pub struct Page<T> {
    /// What every page has.
    pub head: Head,
    /// What pages of this kind have.
    pub data: Fact<T>,
}

impl<T> Clone for Page<T> {
    fn clone(&self) -> Self {
        Self { head: self.head.clone(), data: self.data.clone() }
    }
}

/// The whole knowledge base; each list is sorted by slug.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// Errors.
    pub errors: Pages<ErrorData>,
    /// Groups of errors.
    pub categories: Pages<CategoryData>,
    /// Programs.
    pub tools: Pages<ToolData>,
    /// How-tos.
    pub guides: Pages<GuideData>,
    /// Language models.
    pub models: Pages<ModelData>,
    /// Devices.
    pub devices: Pages<DeviceData>,
    /// Weight formats.
    pub quants: Pages<QuantData>,
    /// Glossary.
    pub terms: Pages<TermData>,
    /// How figures are read; they have no page in the site.
    pub extractors: Pages<ExtractorData>,
    /// What kinds of messages say; they have no page in the site.
    pub readings: Pages<ReadingData>,
    /// Pages of their own.
    pub documents: Pages<DocumentData>,
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
        self.errors.of_slug(Kind::Error, slug).first()
    }

    /// The page of a name; of two the first in path order.
    pub fn head(&self, id: &PageId) -> Option<&Head> {
        self.named(id).next()
    }

    /// All pages of a name, in path order; there should be one.
    pub fn named(&self, id: &PageId) -> Box<dyn Iterator<Item = &Head> + '_> {
        fn heads<'p, T>(pages: &'p Pages<T>, id: &PageId) -> Box<dyn Iterator<Item = &'p Head> + 'p> {
            Box::new(pages.of_slug(id.kind, &id.slug).iter().map(|page| &page.head))
        }
        match id.kind {
            Kind::Error => heads(&self.errors, id),
            Kind::Category => heads(&self.categories, id),
            Kind::Tool => heads(&self.tools, id),
            Kind::Guide => heads(&self.guides, id),
            Kind::Model => heads(&self.models, id),
            Kind::Hardware => heads(&self.devices, id),
            Kind::Quant => heads(&self.quants, id),
            Kind::Term => heads(&self.terms, id),
            Kind::Document => heads(&self.documents, id),
            // They have no page.
            Kind::Extractor | Kind::Reading => Box::new(std::iter::empty()),
        }
    }

    /// Slugs of a kind, sorted.
    pub fn slugs(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.heads().filter(move |head| head.id.kind == kind).map(|head| head.id.slug.as_str())
    }

    /// Each page as a site of its own, extractors and readings included.
    pub fn one_by_one(&self) -> impl Iterator<Item = (&Head, Self)> {
        fn alone<T>(pages: &Pages<T>, add: fn(&mut Site, Page<T>)) -> impl Iterator<Item = (&Head, Site)> {
            pages.iter().map(move |page| {
                let mut site = Site::default();
                add(&mut site, page.clone());
                (&page.head, site)
            })
        }
        alone(&self.errors, |site, page| site.errors.push(page))
            .chain(alone(&self.categories, |site, page| site.categories.push(page)))
            .chain(alone(&self.tools, |site, page| site.tools.push(page)))
            .chain(alone(&self.guides, |site, page| site.guides.push(page)))
            .chain(alone(&self.models, |site, page| site.models.push(page)))
            .chain(alone(&self.devices, |site, page| site.devices.push(page)))
            .chain(alone(&self.quants, |site, page| site.quants.push(page)))
            .chain(alone(&self.terms, |site, page| site.terms.push(page)))
            .chain(alone(&self.extractors, |site, page| site.extractors.push(page)))
            .chain(alone(&self.readings, |site, page| site.readings.push(page)))
            .chain(alone(&self.documents, |site, page| site.documents.push(page)))
    }

    /// Keeps the pages whose heads are as asked, and all extractors and readings.
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
        let unpublished = heads_of(&self.extractors).chain(heads_of(&self.readings));
        let mut heads = self.heads().chain(unpublished).filter(|head| head.id.kind == kind);
        heads.all(|head| fields.iter().all(|field| head.knows(field)))
    }

    /// Puts the pages of another behind its own.
    pub fn append(&mut self, other: Self) {
        self.errors.extend(other.errors.into_pages());
        self.categories.extend(other.categories.into_pages());
        self.tools.extend(other.tools.into_pages());
        self.guides.extend(other.guides.into_pages());
        self.models.extend(other.models.into_pages());
        self.devices.extend(other.devices.into_pages());
        self.quants.extend(other.quants.into_pages());
        self.terms.extend(other.terms.into_pages());
        self.extractors.extend(other.extractors.into_pages());
        self.readings.extend(other.readings.into_pages());
        self.documents.extend(other.documents.into_pages());
    }

    /// Puts every list in the order of its slugs; files that share one stay in the order of their paths.
    pub fn sort(&mut self) {
        self.errors.sort(Kind::Error);
        self.categories.sort(Kind::Category);
        self.tools.sort(Kind::Tool);
        self.guides.sort(Kind::Guide);
        self.models.sort(Kind::Model);
        self.devices.sort(Kind::Hardware);
        self.quants.sort(Kind::Quant);
        self.terms.sort(Kind::Term);
        self.extractors.sort(Kind::Extractor);
        self.readings.sort(Kind::Reading);
        self.documents.sort(Kind::Document);
    }
}

impl Facts for Site {
    fn tell(&self, tell: &mut dyn FnMut(Name, Fingerprint)) {
        self.errors.tell(tell);
        self.categories.tell(tell);
        self.tools.tell(tell);
        self.guides.tell(tell);
        self.models.tell(tell);
        self.devices.tell(tell);
        self.quants.tell(tell);
        self.terms.tell(tell);
        self.extractors.tell(tell);
        self.readings.tell(tell);
        self.documents.tell(tell);
    }
}

fn heads_of<T>(pages: &[Page<T>]) -> impl Iterator<Item = &Head> {
    pages.iter().map(|page| &page.head)
}
