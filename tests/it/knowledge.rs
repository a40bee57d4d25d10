//! The knowledge base of this repository, read once.

use std::sync::OnceLock;

use kbgen::diagnosis::{Answer, Asked, Book, Compiled, answers, documents};
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::site::Site;
use kbgen_signature::WordIndex;

use crate::expect::repository;

/// The pages and their signatures.
pub struct Knowledge {
    site: Site,
    pub compiled: Compiled,
    book: Book,
    words: WordIndex,
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
            let words = WordIndex::build(&documents(&site, &sources));
            Self { site, compiled, book, words }
        })
    }

    /// The pages that `kbgen diagnose` asserts, best first.
    pub fn diagnose(&self, log: &str) -> Vec<Answer> {
        let found = self.compiled.index.read(log);
        let asked = Asked { index: &self.compiled.index, found: &found, end: log, limit: usize::MAX };
        answers(&self.book, || self.words.clone(), &asked).into_iter().filter(|answer| answer.exact).collect()
    }

    /// All that `kbgen diagnose` answers, best first.
    pub fn answers(&self, log: &str) -> Vec<Answer> {
        let found = self.compiled.index.read(log);
        let asked = Asked { index: &self.compiled.index, found: &found, end: log, limit: 5 };
        answers(&self.book, || self.words.clone(), &asked)
    }

    /// Slug and title of every error page.
    pub fn titles(&self) -> impl Iterator<Item = (&str, &str)> {
        self.site.errors.iter().map(|error| (error.head.id.slug.as_str(), error.head.title.value.as_str()))
    }

    /// Every sample of every page, with the slug of its page.
    pub fn samples(&self) -> impl Iterator<Item = (&str, &str)> {
        self.site.errors.iter().flat_map(|error| {
            let samples = error.data.signatures.iter().flat_map(|signature| &signature.samples);
            samples.map(|sample| (error.head.id.slug.as_str(), sample.value.as_str()))
        })
    }
}
