//! Pages: their common data, and the set of all pages.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::custom::{Collection, Declarations};
use crate::facts::{Fact, Facts, Fingerprint, Name};
use crate::files::{SourceId, Span, Spanned};
use crate::markdown::{Call, Outline};
use crate::pack::Pack;
use crate::site::address::{LISTINGS, Listing};
use crate::site::kind::Kind;
use crate::site::kinds::{
    CategoryData, DeviceData, DocumentData, EntryData, ErrorData, ExtractorData, GuideData, IncludeData,
    ModelData, QuantData, ReadingData, TermData, ToolData,
};
use crate::site::pages::Pages;
use crate::site::prose_call::included;

/// Identifies a page by kind and slug.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PageId {
    /// Kind of the page.
    pub kind: Kind,
    /// Stem of the file name.
    pub slug: String,
}

impl PageId {
    /// Creates an id.
    pub fn new(kind: Kind, slug: impl Into<String>) -> Self {
        Self { kind, slug: slug.into() }
    }
}

/// Parts of a page that could not be read because of a reported error. No check examines them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub enum Unread {
    /// Everything was read.
    #[default]
    Nothing,
    /// These fields of the front matter could not be read.
    Fields(BTreeSet<String>),
    /// The page as a whole could not be read; it is only known to exist.
    Page,
}

impl Unread {
    pub(super) fn as_bytes(&self) -> &'static [u8] {
        match self {
            Self::Nothing => b"read",
            Self::Fields(_) => b"fields",
            Self::Page => b"unread",
        }
    }
}

/// Data that all kinds of pages have.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Head {
    /// Id of the page.
    pub id: PageId,
    /// Source file.
    pub source: SourceId,
    /// Path of the source file, relative to the root of the site.
    pub path: String,
    /// Parts that could not be read.
    #[serde(skip)] // Only pages that were read in full are kept.
    pub unread: Unread,
    /// Front-matter fields of all kinds.
    pub front_matter: Fact<FrontMatter>,
    /// Body of the page.
    pub body: Fact<Body>,
}

/// Front-matter fields of all kinds.
#[derive(Debug, Serialize, Deserialize)]
pub struct FrontMatter {
    /// Title of the page.
    pub title: Spanned<String>,
    /// Date of the last verification.
    pub verified: Option<Spanned<Date>>,
    /// Old addresses that redirect here.
    pub aliases: Vec<Spanned<String>>,
    /// Span of the list of old addresses, which may be empty.
    pub aliases_span: Option<Span>,
    /// Whether the page is published only on request.
    pub draft: bool,
    /// Span of the front matter.
    pub front: Span,
    /// Values with escaped characters (`"\u202E"`).
    pub escaped: Vec<Spanned<String>>,
}

impl Deref for Head {
    type Target = FrontMatter;

    fn deref(&self) -> &FrontMatter {
        &self.front_matter
    }
}

impl Head {
    /// Creates a head; `body` comes with its text.
    pub fn new(
        id: PageId,
        source: SourceId,
        path: String,
        unread: Unread,
        front_matter: FrontMatter,
        (body, text): (Body, &str),
    ) -> Self {
        let FrontMatter { title, verified, aliases, aliases_span: _, draft, front: _, escaped } =
            &front_matter;
        let values =
            |placed: &[Spanned<String>]| placed.iter().map(|one| one.value.clone()).collect::<Vec<_>>();
        let verified = verified.as_ref().map(|day| day.value);
        let says =
            (&path, &title.value, verified, values(aliases), draft, values(escaped), unread.as_bytes());
        let says = Fingerprint::of_data(&says);
        let front_matter = Fact::new(Name::new("front", &path), says, front_matter);
        let body = Fact::new(Name::new("body", &path), Fingerprint::of([text]), body);
        Self { id, source, path, unread, front_matter, body }
    }

    /// Returns whether the value of a field, or its absence, is known.
    pub fn knows(&self, field: &str) -> bool {
        match &self.unread {
            Unread::Nothing => true,
            Unread::Fields(fields) => !fields.contains(field),
            Unread::Page => false,
        }
    }

    /// Returns whether the page is only known to exist.
    pub fn is_unread(&self) -> bool {
        self.unread == Unread::Page
    }

    /// Returns whether the whole page was read.
    pub fn is_read(&self) -> bool {
        self.unread == Unread::Nothing
    }
}

/// The Markdown below the front matter.
#[derive(Debug, Serialize, Deserialize)]
pub struct Body {
    /// Span of the body; ranges of the outline are relative to its start.
    pub span: Span,
    /// Headings, links, calls and errors of the body.
    pub outline: Outline,
}

/// A page of one kind.
#[derive(Debug, Serialize, Deserialize)]
pub struct Page<T> {
    /// Data that all kinds have.
    pub head: Head,
    /// Data of this kind.
    pub data: Fact<T>,
}

impl<T> Clone for Page<T> {
    fn clone(&self) -> Self {
        Self { head: self.head.clone(), data: self.data.clone() }
    }
}

/// Makes a site of one page.
pub type MakeSite<'p> = Box<dyn Fn() -> Site + Send + Sync + 'p>;

/// Declares the lists of a site: first those of kinds whose texts pages show, then those of rules.
macro_rules! site {
    (shown { $($(#[doc = $doc:literal])+ $list:ident: $data:ident = $kind:ident,)+ }
     rules { $($(#[doc = $rule_doc:literal])+ $rules:ident: $rule_data:ident = $rule_kind:ident,)+ }) => {
        /// The whole knowledge base; each list is sorted by slug.
        #[derive(Debug, Clone, Default)]
        pub struct Site {
            $($(#[doc = $doc])+ pub $list: Pages<$data>,)+
            $($(#[doc = $rule_doc])+ pub $rules: Pages<$rule_data>,)+
            /// Declarations in `site.toml`; `None` for sites of a few pages, which have none.
            pub declared: Option<Fact<Declarations>>,
        }

        impl Site {
            /// Iterates over the heads of all pages and included texts, kind by kind.
            pub fn heads(&self) -> impl Iterator<Item = &Head> {
                std::iter::empty()$(.chain(heads_of(&self.$list)))+
            }

            /// Returns all pages and included texts with an id, in path order; more than one is an error.
            pub fn named(&self, id: &PageId) -> Box<dyn Iterator<Item = &Head> + '_> {
                match id.kind {
                    $(Kind::$kind => {
                        Box::new(self.$list.of_slug(id.kind, &id.slug).iter().map(|page| &page.head))
                    })+
                    $(Kind::$rule_kind)|+ => Box::new(std::iter::empty()),
                }
            }

            /// Returns each page, extractors and readings included, with a function that makes a site of only it.
            pub fn split_pages(&self) -> impl Iterator<Item = (&Head, MakeSite<'_>)> {
                fn single_page<T: Send + Sync>(
                    pages: &Pages<T>,
                    add: fn(&mut Site, Page<T>),
                ) -> impl Iterator<Item = (&Head, MakeSite<'_>)> {
                    pages.iter().map(move |page| {
                        let make = move || {
                            let mut site = Site::default();
                            add(&mut site, page.clone());
                            site
                        };
                        (&page.head, Box::new(make) as MakeSite<'_>)
                    })
                }
                std::iter::empty()
                    $(.chain(single_page(&self.$list, |site, page| site.$list.push(page))))+
                    $(.chain(single_page(&self.$rules, |site, page| site.$rules.push(page))))+
            }

            /// Removes pages for which `keep` returns `false`; keeps all extractors and readings.
            pub fn retain(&mut self, keep: impl Fn(&Head) -> bool) {
                $(self.$list.retain(|page| keep(&page.head));)+
            }

            /// Returns whether these fields could be read on all pages of a kind.
            pub fn knows(&self, kind: Kind, fields: &[&str]) -> bool {
                let mut heads = self.heads()$(.chain(heads_of(&self.$rules)))+;
                heads.all(|head| head.id.kind != kind || fields.iter().all(|field| head.knows(field)))
            }

            /// Appends the pages of another site.
            pub fn append(&mut self, other: Self) {
                $(self.$list.extend(other.$list.into_pages());)+
                $(self.$rules.extend(other.$rules.into_pages());)+
            }

            /// Sorts all lists by slug; files with the same slug keep the order of their paths.
            pub fn sort(&mut self) {
                $(self.$list.sort(Kind::$kind);)+
                $(self.$rules.sort(Kind::$rule_kind);)+
            }
        }

        impl Facts for Site {
            fn visit(&self, visit: &mut dyn FnMut(Name, Fingerprint)) {
                $(self.$list.visit(visit);)+
                $(self.$rules.visit(visit);)+
                self.declared.iter().for_each(|declared| declared.visit(visit));
            }
        }
    };
}

site! {
    shown {
        /// Error pages.
        errors: ErrorData = Error,
        /// Groups of errors.
        categories: CategoryData = Category,
        /// Programs that print errors.
        tools: ToolData = Tool,
        /// Instructions.
        guides: GuideData = Guide,
        /// Language models.
        models: ModelData = Model,
        /// Hardware pages.
        devices: DeviceData = Hardware,
        /// Weight formats.
        quants: QuantData = Quant,
        /// Glossary entries.
        terms: TermData = Term,
        /// Standalone pages.
        documents: DocumentData = Document,
        /// Entries of declared collections.
        entries: EntryData = Entry,
        /// Texts that pages include; they have no page.
        includes: IncludeData = Include,
    }
    rules {
        /// Rules to read figures; they have no page.
        extractors: ExtractorData = Extractor,
        /// Rules to put kinds of messages into words; they have no page in the site.
        readings: ReadingData = Reading,
    }
}

impl Site {
    /// Returns whether the site enables a pack; that no pack is needed is always true.
    pub fn has(&self, pack: Option<Pack>) -> bool {
        pack.is_none() || self.declared.as_ref().is_some_and(|declared| declared.has(pack))
    }

    /// Returns the pages that kbgen generates for the site.
    pub fn listings(&self) -> impl Iterator<Item = &'static Listing> {
        LISTINGS.iter().filter(|listing| self.generates(listing))
    }

    fn generates(&self, listing: &Listing) -> bool {
        let is_omitted = || self.declared.as_ref().is_some_and(|declared| declared.omits(listing.address));
        self.has(listing.pack) && !is_omitted()
    }

    /// Returns the declared collections.
    pub fn collections(&self) -> &[Collection] {
        self.declared.as_ref().map(|declared| declared.collections.as_slice()).unwrap_or_default()
    }

    /// Returns the addresses of all lists: generated pages and collections.
    pub fn list_addresses(&self) -> impl Iterator<Item = String> {
        let collections = self.collections().iter().map(Collection::address);
        self.listings().map(|listing| listing.address.to_string()).chain(collections)
    }

    /// Returns whether an address is that of a list.
    pub fn has_list(&self, address: &str) -> bool {
        LISTINGS.iter().any(|listing| listing.address == address && self.generates(listing))
            || self.collections().iter().any(|own| address.strip_suffix('/') == Some(&own.name.value))
    }

    /// Returns the heads by id; of duplicates the first in path order.
    pub fn index(&self) -> BTreeMap<&PageId, &Head> {
        let mut index = BTreeMap::new();
        for head in self.heads() {
            index.entry(&head.id).or_insert(head);
        }
        index
    }

    /// Returns the error with a slug; of duplicates the first in path order.
    pub fn error(&self, slug: &str) -> Option<&Page<ErrorData>> {
        self.errors.of_slug(Kind::Error, slug).first()
    }

    /// Returns the page with an id; of duplicates the first in path order.
    pub fn head(&self, id: &PageId) -> Option<&Head> {
        self.named(id).next()
    }

    /// Returns the text that a call includes.
    pub fn included(&self, call: &Call) -> Option<&Head> {
        let name = included(&call.source)?.ok()?.value;
        self.head(&PageId::new(Kind::Include, name)).filter(|head| !head.is_unread())
    }

    /// Iterates over the slugs of a kind, sorted.
    pub fn slugs(&self, kind: Kind) -> impl Iterator<Item = &str> {
        self.heads().filter(move |head| head.id.kind == kind).map(|head| head.id.slug.as_str())
    }
}

fn heads_of<T>(pages: &[Page<T>]) -> impl Iterator<Item = &Head> {
    pages.iter().map(|page| &page.head)
}
