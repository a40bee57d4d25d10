//! Files that are made of the same things. Where none of these changed since the last build, none of its files is made again.
//!
//! There is a group for each error page with its twins, one for the files that hold the bodies of all errors, and the
//! *world*: everything else. The world is made of all that the site consists of but the bodies of errors, of which it sees
//! what [`Groups::new`] takes of them: whoever has pages show more of other pages' bodies adds it there. A test edits a
//! site at random and compares each warm build with a clean one.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::files::{Key, PROGRAM, SourceId, Sources};
use crate::render::Order;
use crate::render::data::WHOLE;
use crate::render::diagnose::TABLE;
use crate::render::hosting;
use crate::site::Head;

/// The keys of all groups of a site.
pub(super) struct Groups {
    /// Of all that belongs to no other group.
    pub world: Key,
    /// Of the files that hold the bodies of all errors.
    pub bodies: Key,
    /// Of error pages and their twins, by slug.
    pub errors: BTreeMap<String, Key>,
}

impl Groups {
    /// Those of a site without errors.
    pub fn new(order: &Order<'_>) -> Self {
        let (sources, site) = (order.sources, order.site);
        let own: BTreeSet<SourceId> = site.errors.iter().map(|error| error.head.source).collect();
        let texts = sources.under("").filter(|(file, _)| !own.contains(file));
        let texts = texts.flat_map(|(_, source)| [source.path.as_bytes(), source.text.as_bytes()]);
        let assets = sources.assets_under("").flat_map(|asset| [asset.path.as_bytes(), &asset.bytes[..]]);
        // Drafts are part of a site or not.
        let heads: Vec<&str> = site.heads().map(|head| head.path.as_str()).collect();
        let Order { config, today, audience, .. } = order;
        let options = format!("{PROGRAM} {} {today} {audience:?} {heads:?}", config.base_url);
        let shown: Vec<(Key, Key)> = site
            .errors
            .par_iter()
            .map(|error| (Key::of([&sources.get(error.head.source).text]), shown(&error.head, sources)))
            .collect();
        let rest = [Key::of([options]), Key::of(texts.chain(assets))];
        let world = Key::of(rest.iter().chain(shown.iter().map(|(_, shown)| shown)));
        let bodies = Key::of(std::iter::once(&world).chain(shown.iter().map(|(text, _)| text)));
        let errors = site.errors.iter().zip(&shown);
        let errors =
            errors.map(|(error, (text, _))| (error.head.id.slug.clone(), Key::of([&world, text]))).collect();
        Self { world, bodies, errors }
    }

    /// The group that a file belongs to.
    pub fn of(&self, path: &str) -> Option<&Key> {
        if hosting::FILES.contains(&path) {
            // They are made in no time, and counted by what they say.
            return None;
        }
        if [WHOLE, TABLE].contains(&path) {
            return Some(&self.bodies);
        }
        let inner = path.strip_prefix("errors/");
        let slug = inner.and_then(|inner| SUFFIXES.iter().find_map(|suffix| inner.strip_suffix(suffix)));
        Some(slug.and_then(|slug| self.errors.get(slug)).unwrap_or(&self.world))
    }
}

/// How the files of an error end.
const SUFFIXES: [&str; 3] = ["/index.html", ".json", ".md"];

/// What other pages may show of an error: its front matter, its lead and its headings as they are written, and what it
/// links to. Of a text with footnotes it is all: they number the marks in the lead.
fn shown(head: &Head, sources: &Sources) -> Key {
    let whole = &sources.get(head.source).text;
    let body = sources.text(head.body.span);
    let outline = &head.body.outline;
    if !outline.footnotes.is_empty() || body.contains("[^") {
        return Key::of([whole]);
    }
    let lead = outline.headings.first().map_or(body.len(), |heading| heading.range.start);
    let front = &whole[..head.body.span.start];
    let headings = outline.headings.iter().flat_map(|heading| [&body[heading.range.clone()], &heading.id]);
    let links = outline.links.iter().flat_map(|link| [if link.image { "!" } else { "" }, &link.destination]);
    let calls = outline.calls.iter().map(|call| call.source.as_str());
    let parts = [front, &body[..lead], "headings"].into_iter().chain(headings);
    Key::of(parts.chain(["links"]).chain(links).chain(["calls"]).chain(calls))
}
