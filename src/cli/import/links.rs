//! Rewrites links between pages and to files of the old site.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::cli::import::imported_site::{ImportedPage, ImportedSite, Loss, LossKind};
use crate::cli::import::traced_text::Replacement;
use crate::link::join;
use crate::markdown::{self, Link};

/// Target of a link in the new site.
enum Target<'s> {
    /// Page, by its position.
    Page(usize),
    /// File, by its new path.
    File(&'s str),
}

/// Marks the destination of a Hugo `ref`, which names a page by its path or by its file name.
pub(super) const REFERENCE: &str = "@ref/";

/// Ids of the headings of a page, each with the letters and digits of the id and of the title.
type Anchors = Vec<(String, [String; 2])>;

/// Rewrites the links of all pages. `names` are the new slugs, `files` the new paths, and `url` is the old address.
pub(super) fn rewrite(
    site: &mut ImportedSite,
    names: &[String],
    files: &BTreeMap<String, String>,
    url: &str,
) {
    let resolver = Resolver::new(&site.pages, files, url);
    let anchors: Vec<Anchors> = site.pages.iter().map(|page| anchors(page.body.text())).collect();
    let drafts: Vec<bool> = site.pages.iter().map(|page| page.draft).collect();
    let mut edits = Vec::new();
    for (index, page) in site.pages.iter().enumerate() {
        let mut links = PageLinks {
            index,
            page,
            names,
            anchors: &anchors,
            drafts: &drafts,
            url,
            edits: Vec::new(),
            losses: &mut site.losses,
        };
        let outline = markdown::outline(page.body.text());
        for link in &outline.links {
            links.rewrite(link, &resolver);
        }
        links.remove_markers(&outline.links);
        edits.push(links.edits);
    }
    for (page, edits) in site.pages.iter_mut().zip(edits) {
        page.body.apply(edits);
    }
}

fn anchors(text: &str) -> Anchors {
    let headings = markdown::outline(text).headings.into_iter();
    headings.map(|one| (one.id.clone(), [plain(&one.id), plain(&one.title)])).collect()
}

/// Returns the letters and digits of a text in lower case: generators derive ids from titles in different ways.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Pages and files of the old site by the paths that links use.
struct Resolver<'s> {
    pages: HashMap<String, usize>,
    stems: HashMap<String, Option<usize>>,
    files: &'s BTreeMap<String, String>,
    url: &'s str,
}

impl<'s> Resolver<'s> {
    fn new(pages: &[ImportedPage], files: &'s BTreeMap<String, String>, url: &'s str) -> Self {
        let (mut paths, mut stems) = (HashMap::new(), HashMap::new());
        for (index, page) in pages.iter().enumerate() {
            let keys = page.aliases.iter().chain([&page.address, &page.path]);
            for key in keys {
                paths
                    .entry(key.trim_end_matches("index.html").trim_matches('/').to_lowercase())
                    .or_insert(index);
            }
            let stem = page
                .path
                .trim_end_matches("/_index.md")
                .trim_end_matches("/index.md")
                .trim_end_matches(".md");
            let stem = stem.rsplit('/').next().unwrap_or(stem).to_lowercase();
            stems.entry(stem).and_modify(|known| *known = None).or_insert(Some(index));
        }
        // The path of a file is preferred to an alias of another page.
        for (index, page) in pages.iter().enumerate() {
            paths.insert(page.path.to_lowercase(), index);
        }
        Self { pages: paths, stems, files, url }
    }

    fn target(&self, from: &ImportedPage, path: &str) -> Option<Target<'s>> {
        let path = path.split('?').next().unwrap_or(path).replace("%20", " ");
        if let Some(path) = path.strip_prefix(self.url) {
            return self.at(path);
        }
        if let Some(path) = path.strip_prefix("@/").or_else(|| path.strip_prefix('/')) {
            return self.at(path);
        }
        if let Some(named) = path.strip_prefix(REFERENCE) {
            let named = named.trim_start_matches('/');
            let stem = named.trim_end_matches(".md").rsplit('/').next().unwrap_or(named).to_lowercase();
            let by_stem = || self.stems.get(&stem).copied().flatten().map(Target::Page);
            return self.at(&join(&from.path, named)).or_else(|| self.at(named)).or_else(by_stem);
        }
        let is_file = from.address.ends_with(".html");
        let folder = if is_file || from.address.is_empty() {
            from.address.clone()
        } else {
            format!("{}/", from.address)
        };
        self.at(&join(&from.path, &path)).or_else(|| self.at(&join(&folder, &path)))
    }

    fn at(&self, path: &str) -> Option<Target<'s>> {
        let path = path.trim_end_matches("index.html").trim_matches('/');
        if let Some(file) = self.files.get(path) {
            return Some(Target::File(file));
        }
        let lower = path.to_lowercase();
        let forms =
            ["", ".md", "/_index.md", "/index.md", "/readme.md"].map(|ending| format!("{lower}{ending}"));
        forms
            .iter()
            .find_map(|form| self.pages.get(form.trim_start_matches('/')))
            .map(|index| Target::Page(*index))
    }
}

/// Links of one page.
struct PageLinks<'s> {
    index: usize,
    page: &'s ImportedPage,
    names: &'s [String],
    anchors: &'s [Anchors],
    drafts: &'s [bool],
    url: &'s str,
    edits: Vec<Replacement>,
    losses: &'s mut Vec<Loss>,
}

impl PageLinks<'_> {
    fn lose(&mut self, link: &Link, message: String) {
        let line = self.page.body.line(link.range.start);
        self.losses.push(Loss::new(&self.page.file, line, LossKind::Link, message));
    }

    fn rewrite(&mut self, link: &Link, resolver: &Resolver<'_>) {
        let destination = link.destination.as_str();
        let shown: String = destination.trim_start_matches(REFERENCE).chars().take(120).collect();
        let lower = destination.to_ascii_lowercase();
        let is_elsewhere = ["http:", "https:", "mailto:"].iter().any(|scheme| lower.starts_with(scheme));
        let is_own = destination.starts_with(self.url) && !self.url.is_empty();
        if destination == "#top" || (is_elsewhere && !is_own && !link.image) {
            return;
        }
        if self.page.body.text()[link.range.clone()].starts_with(['[', '!']) {
            // A link without a destination.
            self.edits.push((link.range.clone(), link.text.clone()));
            return;
        }
        let (path, anchor) = destination.split_once('#').unwrap_or((destination, ""));
        let target = match path {
            "" => Some(Target::Page(self.index)),
            path => resolver.target(self.page, path),
        };
        // A published page cannot link to a draft.
        let is_draft = |index: usize| self.drafts[index] && !self.page.draft;
        let target = target.filter(|target| !matches!(target, Target::Page(index) if is_draft(*index)));
        let new = match target {
            Some(Target::File(path)) => format!("/{}", path.trim_start_matches("static/")),
            Some(Target::Page(index)) if !link.image => self.page_link(link, index, anchor),
            _ if is_elsewhere && !link.image => return,
            _ => {
                let address =
                    if is_elsewhere { destination.to_string() } else { self.old_address(destination) };
                if link.image {
                    self.lose(link, format!("image `{shown}` is not part of the site: a link to it"));
                    return self.link_to_image(link, &encoded(&address));
                }
                self.lose(link, format!("no published page or file `{shown}`: links to the old site"));
                encoded(&address)
            }
        };
        if new != destination {
            self.edits.push((link.range.clone(), new));
        }
    }

    /// Removes the marks of references outside links, where Hugo writes the address of the page as text.
    fn remove_markers(&mut self, links: &[Link]) {
        let page = self.page;
        for (at, mark) in page.body.text().match_indices(REFERENCE) {
            if !links.iter().any(|link| link.range.contains(&at)) {
                self.edits.push((at..at + mark.len(), String::new()));
                let message = "reference to a page outside a link: kept as text";
                self.losses.push(Loss::new(&page.file, page.body.line(at), LossKind::Link, message));
            }
        }
    }

    fn page_link(&mut self, link: &Link, index: usize, anchor: &str) -> String {
        let page = if index == self.index { String::new() } else { format!("{}.md", self.names[index]) };
        if anchor.is_empty() {
            return if page.is_empty() { "#top".into() } else { page };
        }
        let known = &self.anchors[index];
        let wanted = plain(anchor);
        let exact = known.iter().find(|(id, _)| id == anchor);
        let found =
            exact.or_else(|| known.iter().find(|(_, forms)| !wanted.is_empty() && forms.contains(&wanted)));
        match found {
            Some((id, _)) => format!("{page}#{id}"),
            None => {
                let anchor: String = anchor.chars().take(80).collect();
                self.lose(link, format!("no heading `#{anchor}`: links to the top of the page"));
                if page.is_empty() { "#top".into() } else { page }
            }
        }
    }

    /// Returns the address of a destination in the old site.
    fn old_address(&self, destination: &str) -> String {
        let path = destination.strip_prefix(REFERENCE).or_else(|| destination.strip_prefix("@/"));
        let path = match path.or_else(|| destination.strip_prefix('/')) {
            Some(path) => path.trim_start_matches('/').to_string(),
            None => join(&format!("{}/", self.page.address.trim_end_matches(".html")), destination),
        };
        format!("{}{path}", self.url)
    }

    /// Replaces an image by a link, or by its text inside a link.
    fn link_to_image(&mut self, link: &Link, address: &str) {
        let text = self.page.body.text();
        let before = &text[..link.range.start];
        let start = before.rfind("![").filter(|_| before.trim_end_matches('<').ends_with("]("));
        let Some(start) = start else { return self.references_to_image(&link.range, address) };
        let alt = before[start + 2..].trim_end_matches('<').trim_end_matches("](").trim();
        let name = link.destination.rsplit('/').find(|part| !part.is_empty()).unwrap_or("image");
        let alt = if alt.is_empty() {
            name.replace(['[', ']', '<', '>', '_', '*', '`'], " ")
        } else {
            alt.to_string()
        };
        let end = text[link.range.end..].find(')').map_or(text.len(), |at| link.range.end + at + 1);
        let is_nested = text[..start].trim_end().ends_with('[') || text[end..].trim_start().starts_with("](");
        let new = if is_nested { alt } else { format!("[{alt}]({address})") };
        self.edits.push((start..end, new));
    }

    /// Replaces images with a definition by links.
    fn references_to_image(&mut self, definition: &Range<usize>, address: &str) {
        let text = self.page.body.text();
        let line = text[..definition.start].rsplit('\n').next().unwrap_or_default();
        self.edits.push((definition.clone(), address.to_string()));
        let Some(label) = line
            .split_once("]:")
            .and_then(|(label, _)| label.split_once('['))
            .map(|(_, label)| label.to_lowercase())
        else {
            return;
        };
        for (at, _) in text.match_indices("![") {
            let rest = text[at + 1..].lines().next().unwrap_or_default().to_lowercase();
            if rest.starts_with(&format!("[{label}]")) || rest.contains(&format!("][{label}]")) {
                self.edits.push((at..at + 1, String::new()));
            }
        }
    }
}

/// Encodes characters that would end a destination or are not part of an address.
fn encoded(address: &str) -> String {
    let mut out = String::new();
    for byte in address.bytes() {
        match byte {
            b'a'..=b'z'
            | b'A'..=b'Z'
            | b'0'..=b'9'
            | b'-'
            | b'.'
            | b'_'
            | b'~'
            | b'/'
            | b'?'
            | b'#'
            | b'='
            | b'&'
            | b'%'
            | b'+'
            | b':'
            | b'@'
            | b','
            | b';' => out.push(byte.into()),
            byte => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
