//! The knowledge base of this repository, read once.

use std::sync::OnceLock;

use kbgen::parts::diagnosis::{Answer, Book, Compiled, answer};
use kbgen::parts::load::{self, Drafts};
use kbgen::parts::site::Site;

use crate::expect::repository;

/// The pages and their signatures.
pub struct Knowledge {
    site: Site,
    pub compiled: Compiled,
    book: Book,
}

impl Knowledge {
    /// What stands in `content/`.
    pub fn read() -> &'static Self {
        static READ: OnceLock<Knowledge> = OnceLock::new();
        READ.get_or_init(|| {
            let (sources, _) = load::read(&repository("")).expect("the repository can be read");
            let (site, _) = load::pages(&sources, Drafts::Exclude);
            let compiled = Compiled::new(&site, &sources);
            let book = Book::new(&site, &sources);
            Self { site, compiled, book }
        })
    }

    /// What `kbgen diagnose` answers, best first.
    pub fn diagnose(&self, log: &str) -> Vec<Answer> {
        let found = self.compiled.index.diagnose(log);
        found.into_iter().filter_map(|found| answer(&self.book, found)).collect()
    }

    /// Every sample of every page, with the slug of its page.
    pub fn samples(&self) -> impl Iterator<Item = (&str, &str)> {
        self.site.errors.iter().flat_map(|error| {
            let samples = error.data.signatures.iter().flat_map(|signature| &signature.samples);
            samples.map(|sample| (error.head.id.slug.as_str(), sample.value.as_str()))
        })
    }
}
