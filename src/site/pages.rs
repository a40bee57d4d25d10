//! A list of the pages of a kind.

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::facts::{Facts, Fingerprint, Name, read};
use crate::site::kind::Kind;
use crate::site::page::Page;

/// The pages of a kind, sorted by slug. The set of slugs is a fact, too.
#[derive(Debug)]
pub struct Pages<T> {
    pages: Vec<Page<T>>,
    list: Option<(Name, Fingerprint)>,
    /// Index of the first page with each slug at the time of sorting, and the name of the fact that pages have it.
    by_slug: Option<Arc<HashMap<String, (usize, Name)>>>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Self { pages: Vec::new(), list: None, by_slug: None }
    }
}

impl<T> Clone for Pages<T> {
    fn clone(&self) -> Self {
        Self { pages: self.pages.clone(), list: self.list, by_slug: self.by_slug.clone() }
    }
}

impl<T> Deref for Pages<T> {
    type Target = Vec<Page<T>>;

    fn deref(&self) -> &Vec<Page<T>> {
        if let Some((name, _)) = self.list {
            read(name);
        }
        &self.pages
    }
}

impl<T> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut Vec<Page<T>> {
        &mut self.pages
    }
}

impl<'p, T> IntoIterator for &'p Pages<T> {
    type Item = &'p Page<T>;
    type IntoIter = std::slice::Iter<'p, Page<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Pages<T> {
    /// Returns the pages.
    pub(super) fn into_pages(self) -> Vec<Page<T>> {
        self.pages
    }

    /// Sorts the pages by slug; files with the same slug keep the order of their paths.
    pub(super) fn sort(&mut self, kind: Kind) {
        self.pages.sort_by(|a, b| (&a.head.id, &a.head.path).cmp(&(&b.head.id, &b.head.path)));
        let says =
            self.pages.iter().flat_map(|page| [page.head.path.as_bytes(), page.head.unread.as_bytes()]);
        self.list = Some((Name::new("pages", kind.name()), Fingerprint::of(says)));
        let slugs = self.pages.iter().enumerate().rev().map(|(at, page)| (page.head.id.slug.clone(), at));
        let named = slugs.map(|(slug, at)| {
            let name = Name::new(kind.name(), &slug);
            (slug, (at, name))
        });
        self.by_slug = Some(Arc::new(named.collect()));
    }

    /// Returns the pages with a slug. Records only a dependency on the set of slugs.
    pub(super) fn of_slug(&self, kind: Kind, slug: &str) -> &[Page<T>] {
        let known = self.by_slug.as_ref().and_then(|known| known.get(slug));
        if self.list.is_some() {
            read(known.map_or_else(|| Name::new(kind.name(), slug), |(_, name)| *name));
        }
        let has_slug = |at: usize| self.pages.get(at).is_some_and(|page| page.head.id.slug == slug);
        let is_first = |at: &usize| has_slug(*at) && !at.checked_sub(1).is_some_and(has_slug);
        let found = known.map(|(at, _)| *at).filter(is_first);
        let start =
            found.unwrap_or_else(|| self.pages.partition_point(|page| page.head.id.slug.as_str() < slug));
        let end = start + self.pages[start..].iter().take_while(|page| page.head.id.slug == slug).count();
        &self.pages[start..end]
    }

    pub(super) fn visit(&self, visit: &mut dyn FnMut(Name, Fingerprint)) {
        if let Some((name, fingerprint)) = self.list {
            visit(name, fingerprint);
        }
        for same in self.pages.chunk_by(|one, other| one.head.id.slug == other.head.id.slug) {
            let says = same.iter().flat_map(|page| [page.head.path.as_bytes(), page.head.unread.as_bytes()]);
            visit(Name::new(same[0].head.id.kind.name(), &same[0].head.id.slug), Fingerprint::of(says));
        }
        for page in &self.pages {
            page.head.front_matter.visit(visit);
            page.head.body.visit(visit);
            page.data.visit(visit);
        }
    }
}
