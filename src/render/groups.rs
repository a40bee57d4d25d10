//! Files that are made of the same things. Where none of these changed since the last build, none of its files is made again.
//!
//! There is a group for each error page with its twins, one for the files that hold the bodies of all errors, and one for
//! everything else.

use std::collections::BTreeMap;

use crate::files::{Key, PROGRAM};
use crate::render::Order;
use crate::render::data::WHOLE;
use crate::render::diagnose::TABLE;
use crate::render::hosting;

/// The keys of all groups of a site.
pub(super) struct Groups {
    /// Of all that belongs to no other group.
    pub rest: Key,
    /// Of the files that hold the bodies of all errors.
    pub bodies: Key,
    /// Of error pages and their twins, by slug.
    pub errors: BTreeMap<String, Key>,
}

impl Groups {
    /// Those of a site without errors.
    pub fn new(order: &Order<'_>) -> Self {
        let Order { sources, site, config, today, audience, digest, .. } = order;
        let options = format!("{PROGRAM} {} {today} {audience:?}", config.base_url);
        let key = |name: &str, of: &Key| Key::of([name.as_bytes(), options.as_bytes(), of.as_ref()]);
        let errors = site.errors.iter().map(|error| &error.head);
        let errors = errors.map(|head| (head.id.slug.clone(), key("error", &digest.page(head, sources))));
        Self {
            rest: key("rest", &digest.world),
            bodies: key("bodies", &digest.whole),
            errors: errors.collect(),
        }
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
        Some(slug.and_then(|slug| self.errors.get(slug)).unwrap_or(&self.rest))
    }
}

/// How the files of an error end.
const SUFFIXES: [&str; 3] = ["/index.html", ".json", ".md"];
