//! Where the links in the prose lead, page by page.

use std::collections::BTreeMap;

use crate::files::Span;
use crate::site::page::PageId;

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
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

/// Pages that point at a page, each once, in order.
pub type Backlinks = BTreeMap<PageId, Vec<PageId>>;

/// Every link of the site.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Targets by the place of the destination.
    pub targets: BTreeMap<Span, Target>,
    /// Targets in one-line Markdown of front matter, by page and destination as written.
    pub lines: BTreeMap<(PageId, String), Target>,
    /// Those that lead nowhere.
    pub dangling: Vec<Dangling>,
    /// Who points at whom, front matter and prose together.
    pub backlinks: Backlinks,
}
