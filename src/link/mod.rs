//! Resolves the targets of all links, and rewrites them when a page moves. Whether a dangling link is an error is up to
//! `check`.

mod moves;

pub use moves::{Move, Unwritable};

use rayon::prelude::*;

use crate::custom::named_entries;
use crate::engine::Engine;
use crate::facts::Fact;
use crate::files::Sources;
use crate::markdown::{Link, links_inline, refused_scheme};
use crate::site::kinds::{EntryData, ErrorData, GuideData};
use crate::site::{
    DATA_FILES, Dangling, Head, Kind, LinkTarget, Links, Missing, PageId, PageLinks, Site, parts_of,
};

/// Resolves the links of all bodies and front matter.
pub fn resolve(site: &Site, sources: &Sources, engine: &Engine) -> Links {
    let finder = LinkResolver { site, sources };
    let errors = site.errors.iter().map(|error| (&error.head, PathTarget::Error(&error.data)));
    let guides = site.guides.iter().map(|guide| (&guide.head, PathTarget::Guide(&guide.data)));
    let entries = site.entries.iter().map(|entry| (&entry.head, PathTarget::Entry(&entry.data)));
    let is_other = |head: &&Head| !matches!(head.id.kind, Kind::Error | Kind::Guide | Kind::Entry);
    let others = site.heads().filter(is_other).map(|head| (head, PathTarget::Nothing));
    let pages: Vec<(&Head, PathTarget<'_>)> =
        errors.chain(guides).chain(entries).chain(others).filter(|(head, _)| !head.is_unread()).collect();
    let links = |(head, named): &(&'_ Head, PathTarget<'_>)| {
        engine.value(&format!("links {}", head.path), || finder.links(head, *named).with_fingerprint())
    };
    let found: Vec<_> = pages.par_iter().map(links).collect();
    Links::new(pages.into_iter().map(|(head, _)| head).zip(found).collect(), engine)
}

/// Pages named in front matter.
#[derive(Debug, Clone, Copy)]
enum PathTarget<'s> {
    Error(&'s Fact<ErrorData>),
    Guide(&'s Fact<GuideData>),
    Entry(&'s Fact<EntryData>),
    Nothing,
}

struct LinkResolver<'s> {
    sources: &'s Sources,
    site: &'s Site,
}

impl<'s> LinkResolver<'s> {
    /// Resolves the links of a page. Related pages count as links, too.
    fn links(&self, head: &Head, named: PathTarget<'_>) -> PageLinks {
        let mut links = PageLinks::default();
        for link in &head.body.outline.links {
            match self.target(head, link) {
                Ok(target) => links.targets.push((link.range.clone(), target)),
                Err(missing) => links.dangling.push(Dangling {
                    span: head.body.span.part(link.range.start, link.range.end),
                    destination: link.destination.clone(),
                    image: link.image,
                    missing,
                }),
            }
        }
        links.targets.sort_by_key(|(range, _)| (range.start, range.end));
        let pages = links.targets.iter().filter_map(|(_, target)| match target {
            LinkTarget::Page { page, .. } => Some(page.clone()),
            _ => None,
        });
        // A text without a page is no backlink.
        links.points_at = if head.id.kind == Kind::Include { Vec::new() } else { pages.collect() };
        let related = match named {
            PathTarget::Error(data) => &data.related,
            PathTarget::Guide(data) => &data.related,
            PathTarget::Entry(_) | PathTarget::Nothing => &Vec::new(),
        };
        let own = match named {
            PathTarget::Error(data) => &data.own,
            PathTarget::Entry(data) => &data.own,
            PathTarget::Guide(_) | PathTarget::Nothing => &Vec::new(),
        };
        links.points_at.extend(named_entries(own).map(|id| PageId::new(Kind::Entry, id.value)));
        links.points_at.extend(related.iter().map(|slug| PageId::new(Kind::Error, slug.value.as_str())));
        if let PathTarget::Error(data) = named {
            self.add_lines(&mut links, head, data);
        }
        if !links.dangling.is_empty() {
            // Edits above the body move its spans.
            self.sources.get(head.source).text.touch();
        }
        links
    }

    fn add_lines(&self, links: &mut PageLinks, head: &Head, data: &ErrorData) {
        for line in data.causes.iter().flat_map(|cause| [&cause.title, &cause.tell]) {
            for link in links_inline(&line.value) {
                // In a line, an image becomes its text.
                let link = Link { image: false, ..link };
                match self.target(head, &link) {
                    Ok(target) => {
                        links.lines.insert(link.destination, target);
                    }
                    Err(missing) => links.dangling.push(Dangling {
                        span: line.span,
                        destination: link.destination,
                        image: false,
                        missing,
                    }),
                }
            }
        }
    }

    /// Returns the page of a file.
    fn by_path(&self, path: &str) -> Option<&'s Head> {
        let id = PageId::of_path(path).filter(|id| id.kind != Kind::Include)?;
        self.site.named(&id).find(|head| head.path == path)
    }

    fn target(&self, from: &Head, link: &Link) -> Result<LinkTarget, Missing> {
        let Link { destination, image, .. } = link;
        // A link with a forbidden scheme is never published and already reported.
        let is_refused = refused_scheme(destination).is_some();
        if *image && is_elsewhere(destination) && !is_refused {
            return Err(Missing::Copy);
        }
        if is_elsewhere(destination) || is_refused {
            return Ok(LinkTarget::Elsewhere { url: destination.clone() });
        }
        let (path, anchor) = match destination.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor.to_string()).filter(|anchor| !anchor.is_empty())),
            None => (destination.as_str(), None),
        };
        if path.is_empty() {
            let anchor = anchor.unwrap_or_default();
            return match has_anchor(from, &anchor) {
                true => Ok(LinkTarget::Here { anchor }),
                false => Err(Missing::Anchor { page: None, anchor }),
            };
        }
        if let Some(address) = path.strip_prefix('/') {
            return self.by_address(address, anchor, *image);
        }
        let path = join(&from.path, path);
        if path.ends_with(".md") {
            let head = self.by_path(&path).ok_or_else(|| self.absent(&path))?;
            return self.page(head, anchor);
        }
        match self.sources.asset(&path) {
            Some(_) => Ok(LinkTarget::File { path }),
            None if self.sources.is_unread(&path) => Err(Missing::Unread),
            None if *image || has_extension(&path) => Err(Missing::File { path }),
            None => Err(Missing::Page),
        }
    }

    fn by_address(&self, address: &str, anchor: Option<String>, image: bool) -> Result<LinkTarget, Missing> {
        let file = format!("static/{}", address.strip_prefix("static/").unwrap_or(address));
        if self.sources.asset(&file).is_some() {
            return Ok(LinkTarget::File { path: file });
        }
        if self.sources.is_unread(&file) {
            return Err(Missing::Unread);
        }
        if image || (has_extension(address) && !address.ends_with('/') && !address.ends_with(".md")) {
            if DATA_FILES.contains(&address) && !image {
                return Ok(LinkTarget::Listing { address: address.to_string(), anchor });
            }
            return Err(Missing::File { path: file });
        }
        let slashed = format!("{}/", address.trim_end_matches('/'));
        let wanted = if slashed == "/" { "" } else { slashed.as_str() };
        if wanted == "glossary/"
            && let Some(anchor) = anchor
        {
            let page = PageId::new(Kind::Term, anchor);
            return match self.site.head(&page) {
                Some(_) => Ok(LinkTarget::Page { page, anchor: None }),
                None => Err(Missing::Page),
            };
        }
        if self.site.has_list(wanted) {
            return Ok(LinkTarget::Listing { address: wanted.to_string(), anchor });
        }
        let page = PageId::of_address(wanted).filter(|id| id.kind != Kind::Include).ok_or(Missing::Page)?;
        let folder = format!("content/{}/", page.folder());
        let head = self.site.head(&page).ok_or_else(|| self.absent(&folder))?;
        self.page(head, anchor)
    }

    /// Returns why a path leads to no page; [`Missing::Unread`] if the file exists but is not a page, or is in an
    /// unreadable folder.
    fn absent(&self, path: &str) -> Missing {
        let is_page = |id: PageId| {
            id.kind != Kind::Entry || self.site.collections().iter().any(|own| own.name.value == id.folder())
        };
        let is_misplaced = !PageId::of_path(path).is_some_and(is_page) && self.sources.find(path).is_some();
        match is_misplaced || self.sources.is_unread(path) {
            true => Missing::Unread,
            false => Missing::Page,
        }
    }

    fn page(&self, head: &Head, anchor: Option<String>) -> Result<LinkTarget, Missing> {
        match anchor {
            Some(anchor) if !head.is_unread() && !has_anchor(head, &anchor) => {
                Err(Missing::Anchor { page: Some(head.id.clone()), anchor })
            }
            anchor => Ok(LinkTarget::Page { page: head.id.clone(), anchor }),
        }
    }
}

/// Returns whether a destination is outside the site or an email address.
fn is_elsewhere(destination: &str) -> bool {
    let lower = destination.to_ascii_lowercase();
    destination.starts_with("//")
        || ["http:", "https:", "mailto:"].iter().any(|scheme| lower.starts_with(scheme))
}

fn has_anchor(head: &Head, anchor: &str) -> bool {
    let in_body = head.body.outline.headings.iter().any(|heading| heading.id == anchor);
    let in_template = parts_of(head.id.kind).contains(&anchor);
    in_body || in_template || anchor == "top"
}

fn has_extension(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty() && (1..=5).contains(&extension.len()) && extension.chars().all(char::is_alphabetic)
    })
}

/// Resolves `relative` against the folder of the file `from`, including `.` and `..`.
pub fn join(from: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::join;

    #[test]
    fn relative_paths_start_at_the_folder_of_the_page() {
        assert_eq!(join("content/errors/a/x.md", "../b/y.md"), "content/errors/b/y.md");
        assert_eq!(join("content/errors/a/x.md", "./img/z.png"), "content/errors/a/img/z.png");
        assert_eq!(join("content/a.md", "../../../etc/passwd"), "etc/passwd");
    }
}
