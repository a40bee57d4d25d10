//! Resolved links, by page.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use crate::engine::Engine;
use crate::facts::{Fingerprint, Table};
use crate::files::Span;
use crate::site::page::{Head, PageId};

/// Target of a link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum LinkTarget {
    /// A page, or an element in it.
    Page {
        /// Target page.
        page: PageId,
        /// Id of an element in it.
        anchor: Option<String>,
    },
    /// A generated page, or an element in it.
    Listing {
        /// Address relative to the root.
        address: String,
        /// Id of an element in it.
        anchor: Option<String>,
    },
    /// An element in the same page.
    Here {
        /// Id of the element.
        anchor: String,
    },
    /// A file next to a page, by its source path.
    File {
        /// Path relative to the root of the site's sources.
        path: String,
    },
    /// An external address or an email address.
    Elsewhere {
        /// Address as written.
        url: String,
    },
}

/// Why a link is dangling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// There is no such page.
    Page,
    /// The page exists, but has no element with this id.
    Anchor {
        /// Target page; `None` for a generated one.
        page: Option<PageId>,
        /// The missing id.
        anchor: String,
    },
    /// An image on another site: pages load no external files.
    Copy,
    /// Unknown: a file or folder on the path could not be read, which is reported.
    Unread,
    /// There is no such file.
    File {
        /// Path that was looked up.
        path: String,
    },
}

/// A link without a valid target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dangling {
    /// Span of the destination.
    pub span: Span,
    /// Destination as written.
    pub destination: String,
    /// Whether it is an image.
    pub image: bool,
    /// Why it is dangling.
    pub missing: Missing,
}

/// The links of a page.
#[derive(Debug, Clone, Default)]
pub struct PageLinks {
    /// Targets of links in the body, by range of the destination, in order.
    pub targets: Vec<(Range<usize>, LinkTarget)>,
    /// Targets of links in one-line Markdown of the front matter, by destination as written.
    pub lines: BTreeMap<String, LinkTarget>,
    /// Pages that the body or front matter links to.
    pub points_at: Vec<PageId>,
    /// Links without a valid target.
    pub dangling: Vec<Dangling>,
}

/// All links of a site.
#[derive(Debug)]
pub struct Links {
    pages: Table<String, Arc<(PageLinks, Fingerprint)>>,
    /// Pages that link to a page, sorted and without duplicates, by address.
    pub backlinks: Arc<Table<String, Vec<PageId>>>,
    /// Links without a valid target.
    pub dangling: Vec<Dangling>,
}

impl Links {
    /// Combines the links of all pages, by path of their files.
    pub fn new(pages: Vec<(&Head, Arc<(PageLinks, Fingerprint)>)>, engine: &Engine) -> Self {
        let dangling = pages.iter().flat_map(|(_, links)| links.0.dangling.clone()).collect();
        let heads: Vec<&Head> = pages.iter().map(|(head, _)| *head).collect();
        let rows = pages.into_iter().map(|(head, links)| (head.path.clone(), links));
        let pages = Table::new("links", rows, |links| links.1);
        engine.register(&pages);
        let backlinks = engine.value("backlinks", || {
            let mut pointers: HashMap<String, Vec<PageId>> = HashMap::new();
            pages.read_keys();
            for head in heads {
                let links = pages.get(head.path.as_str()).map_or(&[][..], |links| &links.0.points_at);
                for page in links.iter().filter(|page| **page != head.id) {
                    pointers.entry(page.address()).or_default().push(head.id.clone());
                }
            }
            for from in pointers.values_mut() {
                from.sort_unstable();
                from.dedup();
            }
            Table::new("backlinks", pointers, Clone::clone)
        });
        engine.register(&*backlinks);
        Self { pages, backlinks, dangling }
    }

    /// Returns the links of a page.
    pub fn of(&self, head: &Head) -> Option<&PageLinks> {
        self.pages.get(head.path.as_str()).map(|links| &links.0)
    }
}

impl PageLinks {
    /// Returns the links with the fingerprint of what other pages depend on.
    pub fn with_fingerprint(self) -> (Self, Fingerprint) {
        let says = Fingerprint::of_data(&(&self.targets, &self.lines, &self.points_at));
        (self, says)
    }

    /// Returns the target of the destination in a range of the body.
    pub fn target(&self, range: &Range<usize>) -> Option<&LinkTarget> {
        let at =
            self.targets.partition_point(|(known, _)| (known.start, known.end) < (range.start, range.end));
        self.targets.get(at).filter(|(known, _)| known == range).map(|(_, target)| target)
    }
}
