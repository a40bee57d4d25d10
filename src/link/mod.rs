//! Each link gets its target, or is listed as dangling. Whether that is an error is for `check` to say.

use std::collections::HashMap;

use crate::files::{Sources, Span};
use crate::markdown::{links_inline, refused_scheme};
use crate::site::{Dangling, Head, Kind, LISTINGS, Links, Missing, PageId, Site, Target, parts_of};

/// Pages that point at a page, some of them more than once.
type Pointers = HashMap<PageId, Vec<PageId>>;

/// Targets of all links in all bodies, and who points at whom.
pub fn resolve(site: &Site, sources: &Sources) -> Links {
    let mut links = Links::default();
    add(&mut links, site, &Finder::new(site, sources));
    links
}

/// Looks the links of a few pages up anew, which are part of the site already, in the place of `old` ones.
pub fn renew(links: &mut Links, old: &Site, few: &Site, site: &Site, sources: &Sources) {
    let mut pointers = Pointers::new();
    point_from_front_matter(old, &mut pointers);
    for head in old.heads() {
        let whole = Span::top(head.source)..=Span::new(head.source, usize::MAX, usize::MAX);
        let gone: Vec<Span> = links.targets.range(whole).map(|(span, _)| *span).collect();
        for span in gone {
            if let Some(Target::Page { page, .. }) = links.targets.remove(&span) {
                pointers.entry(page).or_default().push(head.id.clone());
            }
        }
        let lines = links.lines.range((head.id.clone(), String::new())..);
        let gone: Vec<_> =
            lines.map(|(key, _)| key).take_while(|(page, _)| *page == head.id).cloned().collect();
        gone.iter().for_each(|key| drop(links.lines.remove(key)));
        links.dangling.retain(|link| link.span.source != head.source);
    }
    for (page, from) in pointers {
        if let Some(known) = links.backlinks.get_mut(&page) {
            known.retain(|page| !from.contains(page));
        }
    }
    add(links, few, &Finder::new(site, sources));
}

/// Adds the links of these pages.
fn add(links: &mut Links, pages: &Site, finder: &Finder<'_>) {
    let mut pointers = Pointers::new();
    let mut targets = Vec::new();
    for head in pages.heads().filter(|head| !head.is_unread()) {
        for link in &head.body.outline.links {
            let span = head.body.span.part(link.range.start, link.range.end);
            match finder.target(head, &link.destination, link.image) {
                Ok(target) => {
                    if let Target::Page { page, .. } = &target {
                        pointers.entry(page.clone()).or_default().push(head.id.clone());
                    }
                    targets.push((span, target));
                }
                Err(missing) => links.dangling.push(Dangling {
                    span,
                    destination: link.destination.clone(),
                    image: link.image,
                    missing,
                }),
            }
        }
    }
    if links.targets.is_empty() {
        // Made at once it takes less time than one by one.
        links.targets = targets.into_iter().collect();
    } else {
        links.targets.extend(targets);
    }
    for error in &pages.errors {
        for cause in &error.data.causes {
            let found = [&cause.title, &cause.tell]
                .into_iter()
                .flat_map(|line| links_inline(&line.value).into_iter().map(|link| (link, line.span)));
            for (link, span) in found {
                match finder.target(&error.head, &link.destination, false) {
                    Ok(target) => {
                        links.lines.insert((error.head.id.clone(), link.destination), target);
                    }
                    Err(missing) => links.dangling.push(Dangling {
                        span,
                        destination: link.destination,
                        image: false,
                        missing,
                    }),
                }
            }
        }
    }
    point_from_front_matter(pages, &mut pointers);
    for (page, mut from) in pointers {
        from.retain(|other| *other != page);
        let known = links.backlinks.entry(page).or_default();
        known.extend(from);
        known.sort_unstable();
        known.dedup();
    }
}

/// Related pages count as links too.
fn point_from_front_matter(pages: &Site, pointers: &mut Pointers) {
    let mut point = |from: &Head, kind: Kind, slug: &str| {
        pointers.entry(PageId::new(kind, slug)).or_default().push(from.id.clone());
    };
    for error in &pages.errors {
        error.data.related.iter().for_each(|slug| point(&error.head, Kind::Error, &slug.value));
    }
    for guide in &pages.guides {
        guide.data.related.iter().for_each(|slug| point(&guide.head, Kind::Error, &slug.value));
    }
}

struct Finder<'s> {
    sources: &'s Sources,
    site: &'s Site,
    /// Of two pages with one name the first in path order.
    heads: HashMap<&'s PageId, &'s Head>,
}

impl<'s> Finder<'s> {
    fn new(site: &'s Site, sources: &'s Sources) -> Self {
        let mut heads = HashMap::new();
        for head in site.heads() {
            heads.entry(&head.id).or_insert(head);
        }
        Self { sources, site, heads }
    }

    /// The page that was read from a file.
    fn by_path(&self, path: &str) -> Option<&'s Head> {
        let id = PageId::of_path(path)?;
        let first = self.heads.get(&id).filter(|head| head.path == path);
        first.copied().or_else(|| self.site.named(&id).find(|head| head.path == path))
    }

    fn target(&self, from: &Head, destination: &str, image: bool) -> Result<Target, Missing> {
        // One with a scheme that is not allowed is never published: that is said about it already.
        let is_refused = refused_scheme(destination).is_some();
        if image && is_elsewhere(destination) && !is_refused {
            return Err(Missing::Copy);
        }
        if is_elsewhere(destination) || is_refused {
            return Ok(Target::Elsewhere { url: destination.to_string() });
        }
        let (path, anchor) = match destination.split_once('#') {
            Some((path, anchor)) => (path, Some(anchor.to_string()).filter(|anchor| !anchor.is_empty())),
            None => (destination, None),
        };
        if path.is_empty() {
            let anchor = anchor.unwrap_or_default();
            return match has_anchor(from, &anchor) {
                true => Ok(Target::Here { anchor }),
                false => Err(Missing::Anchor { page: None, anchor }),
            };
        }
        if let Some(address) = path.strip_prefix('/') {
            return self.by_address(address, anchor, image);
        }
        let path = join(&from.path, path);
        if path.ends_with(".md") {
            let head = self.by_path(&path).ok_or_else(|| self.absent(&path))?;
            return self.page(head, anchor);
        }
        match self.sources.asset(&path) {
            Some(_) => Ok(Target::File { path }),
            None if self.sources.is_unread(&path) => Err(Missing::Unread),
            None if image || has_extension(&path) => Err(Missing::File { path }),
            None => Err(Missing::Page),
        }
    }

    fn by_address(&self, address: &str, anchor: Option<String>, image: bool) -> Result<Target, Missing> {
        let file = format!("static/{}", address.strip_prefix("static/").unwrap_or(address));
        if self.sources.asset(&file).is_some() {
            return Ok(Target::File { path: file });
        }
        if self.sources.is_unread(&file) {
            return Err(Missing::Unread);
        }
        if image || (has_extension(address) && !address.ends_with('/') && !address.ends_with(".md")) {
            let known = ["feed.xml", "kb.json", "llms.txt", "sitemap.xml"].contains(&address);
            if known && !image {
                return Ok(Target::Listing { address: address.to_string(), anchor });
            }
            return Err(Missing::File { path: file });
        }
        let slashed = format!("{}/", address.trim_end_matches('/'));
        let wanted = if slashed == "/" { "" } else { slashed.as_str() };
        if wanted == "glossary/"
            && let Some(anchor) = anchor
        {
            let page = PageId::new(Kind::Term, anchor);
            return match self.heads.get(&page) {
                Some(_) => Ok(Target::Page { page, anchor: None }),
                None => Err(Missing::Page),
            };
        }
        if LISTINGS.iter().any(|listing| listing.address == wanted) {
            return Ok(Target::Listing { address: wanted.to_string(), anchor });
        }
        let page = PageId::of_address(wanted).ok_or(Missing::Page)?;
        let folder = format!("content/{}/", page.kind.folder());
        let head = self.heads.get(&page).ok_or_else(|| self.absent(&folder))?;
        self.page(head, anchor)
    }

    /// Tells why a path leads to no page: nothing is known if there is a file that is no page of a kind, or a folder
    /// that cannot be read.
    fn absent(&self, path: &str) -> Missing {
        let is_misplaced = PageId::of_path(path).is_none() && self.sources.find(path).is_some();
        match is_misplaced || self.sources.is_unread(path) {
            true => Missing::Unread,
            false => Missing::Page,
        }
    }

    fn page(&self, head: &Head, anchor: Option<String>) -> Result<Target, Missing> {
        match anchor {
            Some(anchor) if !head.is_unread() && !has_anchor(head, &anchor) => {
                Err(Missing::Anchor { page: Some(head.id.clone()), anchor })
            }
            anchor => Ok(Target::Page { page: head.id.clone(), anchor }),
        }
    }
}

/// Whether a destination leaves the site, or names a mail address.
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

/// `relative` as seen from the folder of the file `from`, with `.` and `..` taken away.
fn join(from: &str, relative: &str) -> String {
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
