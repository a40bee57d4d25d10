//! What a site is made of, as hashes: who keeps results from one build to the next asks here whether they still hold.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::files::{Key, SourceId, Sources};
use crate::site::page::{Head, Site};

/// The hashes of a site.
///
/// Most edits change the body of one error, of which other pages show little. So there is the *world*, which is all of
/// the site but these bodies, and of them what others may show: whoever has a page show more of the body of another, or
/// a check look at more of it, adds it to `shown` below. A test edits a site at random and compares each warm build with
/// a clean one.
#[derive(Debug, Clone)]
pub struct Digest {
    /// Of the world.
    pub world: Key,
    /// Of everything.
    pub whole: Key,
}

impl Digest {
    /// Those of a site.
    pub fn new(site: &Site, sources: &Sources) -> Self {
        let errors: BTreeSet<SourceId> = site.errors.iter().map(|error| error.head.source).collect();
        let texts = sources.under("").filter(|(file, _)| !errors.contains(file));
        let texts = texts.map(|(_, source)| *source.key());
        let assets = sources.assets_under("").map(|asset| Key::of([asset.path.as_bytes(), &asset.bytes[..]]));
        // Drafts are part of a site or not, as was ordered.
        let heads = site.heads().map(|head| Key::of([&head.path]));
        let shown: Vec<Key> = site.errors.par_iter().map(|error| shown(&error.head, sources)).collect();
        let world = Key::of(texts.chain(assets).chain(heads).chain(shown));
        let bodies = site.errors.iter().map(|error| *sources.get(error.head.source).key());
        Self { whole: Key::of(std::iter::once(world).chain(bodies)), world }
    }

    /// That of a page in its world.
    pub fn page(&self, head: &Head, sources: &Sources) -> Key {
        Key::of([&self.world, sources.get(head.source).key()])
    }
}

/// What others may see of an error: its front matter, its lead and its headings as they are written, what it links to and
/// what it computes. Of a text with footnotes it is all: their marks are numbered through the text.
fn shown(head: &Head, sources: &Sources) -> Key {
    let source = sources.get(head.source);
    let body = sources.text(head.body.span);
    let outline = &head.body.outline;
    if body.contains("[^") {
        return *source.key();
    }
    let lead = outline.headings.first().map_or(body.len(), |heading| heading.range.start);
    let before = &source.text[..head.body.span.start];
    let headings = outline.headings.iter().flat_map(|heading| [&body[heading.range.clone()], &heading.id]);
    let links = outline.links.iter().flat_map(|link| [if link.image { "!" } else { "" }, &link.destination]);
    let calls = outline.calls.iter().map(|call| call.source.as_str());
    let parts = [before, &body[..lead], "headings"].into_iter().chain(headings);
    Key::of(parts.chain(["links"]).chain(links).chain(["calls"]).chain(calls))
}
