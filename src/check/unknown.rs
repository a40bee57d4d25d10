//! What is not known to be right: checks find nothing again in what an earlier build found nothing in.

use std::borrow::Cow;
use std::collections::BTreeSet;

use jiff::civil::Date;

use crate::check::{ALL, Check, Reach};
use crate::diag::Diagnostic;
use crate::files::{Key, Sources};
use crate::site::{Digest, Head, Site};
use crate::store::{Kind, Store};

/// What has to be judged of a site.
#[derive(Debug)]
pub struct Unknown<'s> {
    /// Every page but the errors that are known to be right, and those that could not be read.
    pub pages: Cow<'s, Site>,
    /// Checks of pages against each other.
    pub(super) checks: Vec<&'static Check>,
    sources: &'s Sources,
    digest: &'s Digest,
    today: String,
    store: &'s Store,
}

impl<'s> Unknown<'s> {
    /// What the store does not know of a site.
    pub fn new(
        site: &'s Site,
        sources: &'s Sources,
        digest: &'s Digest,
        today: Date,
        store: &'s Store,
    ) -> Self {
        let today = today.to_string();
        let mut unknown =
            Self { pages: Cow::Borrowed(site), checks: Vec::new(), sources, digest, today, store };
        let is_known = |head: &Head| store.knows(Kind::Right, &unknown.page(head));
        let errors: Vec<_> = site.errors.iter().filter(|error| !is_known(&error.head)).collect();
        let across = ALL.iter().filter(|check| check.reach != Reach::Page);
        let checks = across.filter(|check| !store.knows(Kind::Right, &unknown.check(check))).collect();
        if errors.len() < site.errors.len() {
            let errors = errors.into_iter().cloned().collect();
            unknown.pages = Cow::Owned(site.with_errors(errors));
        }
        if site.heads().any(Head::is_unread) {
            unknown.pages.to_mut().retain(|head| !head.is_unread());
        }
        unknown.checks = checks;
        unknown
    }

    /// Whether the signatures of all pages are held against each other.
    pub fn concerns_signatures(&self) -> bool {
        self.checks.iter().any(|check| check.reach == Reach::Site)
    }

    /// Remembers what nothing was found in.
    pub(super) fn learn(&self, found: &[Diagnostic]) {
        let faulty: BTreeSet<_> = found.iter().map(|finding| finding.span.source).collect();
        let right = self.pages.errors.iter().filter(|error| !faulty.contains(&error.head.source));
        right.for_each(|error| self.store.note(Kind::Right, self.page(&error.head)));
        let broken: BTreeSet<_> = found.iter().map(|finding| finding.code).collect();
        let kept = self.checks.iter().filter(|check| !broken.contains(check.rule.code));
        kept.for_each(|check| self.store.note(Kind::Right, self.check(check)));
    }

    fn page(&self, head: &Head) -> Key {
        Key::of([self.today.as_bytes(), self.digest.page(head, self.sources).as_ref()])
    }

    fn check(&self, check: &Check) -> Key {
        let of = if check.reach == Reach::Site { &self.digest.world } else { &self.digest.whole };
        Key::of([check.rule.code.as_bytes(), self.today.as_bytes(), of.as_ref()])
    }
}
