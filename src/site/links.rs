//! Where the links in the prose lead, page by page.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use crate::engine::Engine;
use crate::facts::{Fingerprint, Table};
use crate::files::Span;
use crate::site::page::{Head, PageId};

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum LinkTarget {
    /// A page, and a place in it.
    Page {
        /// Which page.
        page: PageId,
        /// Id of an element in it.
        anchor: Option<String>,
    },
    /// A page that kbgen makes itself, by address, and a place in it.
    Listing {
        /// Address relative to the root.
        address: String,
        /// Id of an element in it.
        anchor: Option<String>,
    },
    /// A place in the page the link stands in.
    Here {
        /// Id of an element in it.
        anchor: String,
    },
    /// A carried file, by its path in the sources.
    File {
        /// Path relative to the root of the site's sources.
        path: String,
    },
    /// Another site, or a mail address.
    Elsewhere {
        /// As it was written.
        url: String,
    },
}

/// What a link that leads nowhere misses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// No page there.
    Page,
    /// The page is there, the place in it is not.
    Anchor {
        /// The page.
        page: Option<PageId>,
        /// The id that is missing.
        anchor: String,
    },
    /// A copy of an image of another site: pages load nothing from elsewhere.
    Copy,
    /// It may be there: a file or folder on the way could not be read, which is reported.
    Unread,
    /// No such file.
    File {
        /// Path that was looked up.
        path: String,
    },
}

/// A link that leads nowhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dangling {
    /// Where its destination stands.
    pub span: Span,
    /// The destination as written.
    pub destination: String,
    /// Whether it is an image.
    pub image: bool,
    /// What it misses.
    pub missing: Missing,
}

/// The links of a page.
#[derive(Debug, Clone, Default)]
pub struct PageLinks {
    /// Targets in its body by the range of the destination, in order.
    pub targets: Vec<(Range<usize>, LinkTarget)>,
    /// Targets in one-line Markdown of its front matter by the destination as written.
    pub lines: BTreeMap<String, LinkTarget>,
    /// Pages that it points at, in its body or its front matter.
    pub points_at: Vec<PageId>,
    /// Links that lead nowhere.
    pub dangling: Vec<Dangling>,
}

/// Every link of the site.
#[derive(Debug)]
pub struct Links {
    pages: Table<String, Arc<(PageLinks, Fingerprint)>>,
    /// Pages that point at a page, each once, in order, by its address.
    pub backlinks: Arc<Table<String, Vec<PageId>>>,
    /// Links that lead nowhere.
    pub dangling: Vec<Dangling>,
}

impl Links {
    /// Puts the links of all pages together, by the paths of their files.
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

    /// The links of a page.
    pub fn of(&self, head: &Head) -> Option<&PageLinks> {
        self.pages.get(head.path.as_str()).map(|links| &links.0)
    }
}

impl PageLinks {
    /// What others depend on, and the page itself.
    pub fn says(self) -> (Self, Fingerprint) {
        let says = Fingerprint::of_data(&(&self.targets, &self.lines, &self.points_at));
        (self, says)
    }

    /// The target of the destination in a range of the body.
    pub fn target(&self, range: &Range<usize>) -> Option<&LinkTarget> {
        let at =
            self.targets.partition_point(|(known, _)| (known.start, known.end) < (range.start, range.end));
        self.targets.get(at).filter(|(known, _)| known == range).map(|(_, target)| target)
    }
}
