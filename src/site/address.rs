//! Addresses of pages, relative to the root of the site and without a leading slash.

use crate::i18n::text;
use crate::markdown::is_reserved_id;
use crate::pack::Pack;
use crate::site::kind::Kind;
use crate::site::page::PageId;

/// A page that kbgen generates without a file below `content/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listing {
    /// Address; empty for the home page.
    pub address: &'static str,
    /// English title.
    pub title: &'static str,
    /// Pack that a site must enable to have the page.
    pub pack: Option<Pack>,
}

/// Returns a page of every site.
const fn base(address: &'static str, title: &'static str) -> Listing {
    Listing { address, title, pack: None }
}

/// Returns a page of the pack for language models.
const fn llm(address: &'static str, title: &'static str) -> Listing {
    Listing { address, title, pack: Some(Pack::Llm) }
}

/// The generated pages of all packs; [`Site::listings`](crate::site::Site::listings) returns those of a site.
pub const LISTINGS: &[Listing] = &[
    base("", text("Home")),
    base("errors/", text("Errors")),
    base("diagnose/", text("Diagnose")),
    llm("will-it-run/", text("Will it run?")),
    llm("compare/", text("Compare devices")),
    llm("choose-gpu/", text("Choose a GPU")),
    llm("cost-vs-cloud/", text("Cost vs. cloud")),
    llm("benchmarks/", text("Benchmarks")),
    llm("models/", text("Models")),
    llm("models-by-memory/", text("Models by memory")),
    llm("hardware/", text("Hardware")),
    llm("quants/", text("Quantizations")),
    base("guides/", text("Guides")),
    base("tools/", text("Tools")),
    base("glossary/", text("Glossary")),
    base("search/", text("Search")),
    base("changes/", text("Recent changes")),
];

/// First path components that are reserved for kbgen, including future use.
const RESERVED: &[&str] = &[
    "404",
    "assets",
    "badges",
    "benchmarks",
    "categories",
    "changes",
    "choose-gpu",
    "compare",
    "cost-vs-cloud",
    "data",
    "diagnose",
    "errors",
    "feed",
    "glossary",
    "guides",
    "hardware",
    "index",
    "kb",
    "llms",
    "models",
    "models-by-memory",
    "opensearch",
    "quants",
    "robots",
    "schema",
    "search",
    "sitemap",
    "social",
    "static",
    "tools",
    "will-it-run",
];

/// Returns whether kbgen reserves an output path: by its first component, with any extension. A site may replace `robots.txt`.
pub fn is_generated(path: &str) -> bool {
    let first = path.split('/').next().unwrap_or(path);
    let stem = first.split('.').next().unwrap_or(first);
    path != ROBOTS
        && (first.starts_with('_')
            || first.starts_with(".kbgen")
            || first == ".nojekyll"
            || RESERVED.contains(&stem))
}

/// Output path of the rules for crawlers.
pub const ROBOTS: &str = "robots.txt";

/// Files for programs that every site has.
pub const DATA_FILES: [&str; 5] = ["feed.xml", "kb.json", "llms.txt", "llms-full.txt", "sitemap.xml"];

/// Folders that contain only files, whose names depend on the pages and the theme.
pub const FILE_FOLDERS: &[&str] = &["assets", "badges", "data", "schema", "social", "static"];

/// Returns the element ids that the templates of a kind use.
pub fn parts_of(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Error => &["is-this-it", "which-cause", "next", "sources"],
        Kind::Model => &[
            "typical",
            "memory",
            "devices",
            "backlinks",
            "plot-summary",
            "h-compute",
            "h-driver",
            "h-other",
            "h-over",
        ],
        Kind::Hardware | Kind::Quant => &["models", "backlinks"],
        Kind::Tool => &["errors"],
        Kind::Entry => &["backlinks"],
        _ => &[],
    }
}

/// Reserved device names of Windows, with any extension.
const DEVICES: &[&str] = &[
    "aux", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "con", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9", "nul", "prn",
];

/// Extensions of the files that kbgen writes next to page folders: `errors/x.json`, `feed.xml`.
const FILE_ENDINGS: &[&str] = &[".br", ".gz", ".html", ".js", ".json", ".md", ".svg", ".txt", ".xml"];

/// Returns whether a folder with this name could conflict with a file that kbgen writes.
pub fn is_file_name(name: &str) -> bool {
    name.starts_with('_') || FILE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Returns whether an old address can redirect to a page: `/a/b/`, with or without the slash at its end.
pub fn is_alias(address: &str) -> bool {
    let is_char = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let is_part = |part: &str| {
        !part.is_empty() && !part.starts_with('.') && !is_file_name(part) && part.chars().all(is_char)
    };
    let path = address.strip_prefix('/');
    path.is_some_and(|path| path.strip_suffix('/').unwrap_or(path).split('/').all(is_part))
}

/// Returns whether Windows reserves this name for a device, in any case and with any extension.
pub fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    DEVICES.iter().any(|device| device.eq_ignore_ascii_case(stem))
}

/// Returns whether kbgen has a page or folder with this name at the root of a site, or a kind of pages.
pub fn is_root_name(name: &str) -> bool {
    RESERVED.contains(&name) || Kind::of_folder(name).is_some()
}

/// Returns why a page of this kind cannot have this slug within its folder, if so.
pub fn why_reserved(kind: Kind, slug: &str) -> Option<&'static str> {
    if is_device(slug) {
        return Some("it is a device name on Windows");
    }
    if kind == Kind::Term && is_reserved_id(slug) {
        return Some("it is an id on the glossary page");
    }
    if slug == "index" {
        return Some("every page is written as `index.html`");
    }
    if is_file_name(slug) {
        return Some("kbgen writes files with this extension");
    }
    if kind == Kind::Document && RESERVED.contains(&slug) {
        return Some("kbgen generates a page or folder with this name");
    }
    None
}

/// Returns whether a link leads to a web address instead of a page of the site.
pub fn is_web_address(target: &str) -> bool {
    ["https://", "http://"].iter().any(|scheme| target.len() > scheme.len() && target.starts_with(scheme))
}

impl PageId {
    /// Returns the id of an entry of a collection.
    pub fn entry(collection: &str, slug: &str) -> Self {
        Self::new(Kind::Entry, format!("{collection}/{slug}"))
    }

    /// Returns the folder below `content/`.
    pub fn folder(&self) -> &str {
        match self.kind {
            Kind::Entry => self.slug.split('/').next().unwrap_or_default(),
            kind => kind.folder(),
        }
    }

    /// Returns the slug within its folder.
    pub fn name(&self) -> &str {
        self.slug.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the address of the page; that of a glossary entry has a fragment.
    pub fn address(&self) -> String {
        let slug = &self.slug;
        match self.kind {
            Kind::Category => format!("categories/{slug}/"),
            Kind::Term => format!("glossary/#{slug}"),
            Kind::Document | Kind::Entry => format!("{slug}/"),
            kind => format!("{}/{slug}/", kind.folder()),
        }
    }

    /// Returns the page id for a source path, whether or not the page exists.
    pub fn of_path(path: &str) -> Option<Self> {
        let parts: Vec<&str> = path.strip_prefix("content/")?.strip_suffix(".md")?.split('/').collect();
        let kind = Kind::of_folder(parts[0]).unwrap_or(Kind::Entry);
        match parts[1..] {
            [.., slug] if kind == Kind::Entry => Some(Self::entry(parts[0], &slug.to_lowercase())),
            [category, "_index"] if kind == Kind::Error => {
                Some(Self::new(Kind::Category, category.to_lowercase()))
            }
            [.., slug] => Some(Self::new(kind, slug.to_lowercase())),
            [] => None,
        }
    }

    /// Returns the page id for an address without a leading slash and fragment, whether or not the page exists.
    pub fn of_address(address: &str) -> Option<Self> {
        let address = address.trim_end_matches('/');
        let (first, slug) = match address.split_once('/') {
            Some((first, slug)) if !slug.contains('/') => (first, slug),
            Some(_) => return None,
            None => return Some(Self::new(Kind::Document, address)),
        };
        let kind = match first {
            "categories" => Kind::Category,
            "glossary" | "pages" => return None,
            folder => match Kind::of_folder(folder) {
                Some(kind) => kind,
                None => return Some(Self::entry(folder, slug)),
            },
        };
        Some(Self::new(kind, slug))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_pages() {
        let of = |path: &str| PageId::of_path(path).map(|id| (id.kind, id.slug));
        assert_eq!(of("content/errors/memory/full.md"), Some((Kind::Error, "full".into())));
        assert_eq!(of("content/errors/memory/_index.md"), Some((Kind::Category, "memory".into())));
        assert_eq!(of("content/models/qwen/Qwen-3.md"), Some((Kind::Model, "qwen-3".into())));
        assert_eq!(of("content/errors.md"), None);
        assert_eq!(of("content/lints/a/Dead.md"), Some((Kind::Entry, "lints/dead".into())));
        assert_eq!(of("content/errors/memory/types.png"), None);
        assert_eq!(of("static/models/x.md"), None);
    }

    #[test]
    fn addresses_lead_back_to_their_pages() {
        for kind in Kind::ALL.into_iter().filter(|kind| *kind != Kind::Term) {
            let id = PageId::new(kind, "some-slug");
            assert_eq!(PageId::of_address(&id.address()), Some(id));
        }
        assert_eq!(PageId::of_address("errors/a/b/"), None);
        assert_eq!(PageId::of_address("lints/dead/"), Some(PageId::entry("lints", "dead")));
    }
}
