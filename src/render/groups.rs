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
        let options = Key::of([format!("{PROGRAM} {} {today} {audience:?}", config.base_url)]);
        let errors = site.errors.iter().map(|error| &error.head);
        let errors = errors
            .map(|head| (head.id.slug.clone(), Key::of([options, digest.page(head, sources)])))
            .collect();
        Self { rest: Key::of([options, digest.world]), bodies: Key::of([options, digest.whole]), errors }
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
