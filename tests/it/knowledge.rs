//! The knowledge base of this repository, loaded once.

use std::sync::OnceLock;

use kbgen::diagnosis::{
    DiagnosedPage, DiagnosisDb, DiagnosisInput, documents, rank_pages, shared_extractors,
};
use kbgen::files::Sources;
use kbgen::load;
use kbgen::load::Drafts;
use kbgen::site::Site;
use kbgen_signature::{Extractor, LogEnd, Reading, TextIndex, Traceback};

use crate::expect::repository;

/// Pages and signatures.
pub struct Knowledge {
    sources: Sources,
    site: Site,
    pub db: DiagnosisDb,
    words: TextIndex,
}

impl Knowledge {
    /// Sources of `content/`.
    pub fn read() -> &'static Self {
        static READ: OnceLock<Knowledge> = OnceLock::new();
        READ.get_or_init(|| {
            let (sources, _) = load::read(&repository("")).expect("the repository can be read");
            let (site, _) = load::pages(&sources, Drafts::Exclude);
            let db = DiagnosisDb::new(&site, &sources);
            let words = TextIndex::build(&documents(&site, &sources));
            Self { sources, site, db, words }
        })
    }

    /// Returns the extractors that pages share.
    pub fn extractors(&self) -> Vec<Extractor> {
        shared_extractors(&self.site, &self.sources)
    }

    /// Returns the slugs of the pages identified by `kbgen diagnose`, best first.
    pub fn diagnose(&self, log: &str) -> Vec<DiagnosedPage> {
        let found = self.db.index.diagnose(log);
        let input = DiagnosisInput { diagnosis: &found, text: log, limit: usize::MAX };
        rank_pages(&self.db, || &self.words, &input).into_iter().filter(|answer| answer.exact).collect()
    }

    /// Returns all results of `kbgen diagnose`, best first.
    pub fn answers(&self, log: &str) -> Vec<DiagnosedPage> {
        let found = self.db.index.diagnose(log);
        let input = DiagnosisInput { diagnosis: &found, text: log, limit: 5 };
        rank_pages(&self.db, || &self.words, &input)
    }

    /// Returns what the log says, whatever pages it has.
    pub fn readings(&self, log: &str) -> Vec<Reading> {
        let index = &self.db.index;
        index.readings(&index.diagnose(log), Traceback::read(log).as_ref(), &LogEnd::new(log, 0))
    }

    /// Returns slug, text and sentence of every sample of a reading.
    pub fn reading_samples(&self) -> impl Iterator<Item = (&str, &str, &str)> {
        self.site.readings.iter().flat_map(|page| {
            let slug = page.head.id.slug.as_str();
            page.data.samples.iter().map(move |it| (slug, it.text.value.as_str(), it.says.value.as_str()))
        })
    }

    /// Returns slug and title of every error page.
    pub fn titles(&self) -> impl Iterator<Item = (&str, &str)> {
        self.site.errors.iter().map(|error| (error.head.id.slug.as_str(), error.head.title.value.as_str()))
    }

    /// Returns every sample with the slug of its page.
    pub fn samples(&self) -> impl Iterator<Item = (&str, &str)> {
        self.site.errors.iter().flat_map(|error| {
            let samples = error.data.signatures.iter().flat_map(|signature| &signature.samples);
            samples.map(|sample| (error.head.id.slug.as_str(), sample.value.as_str()))
        })
    }
}
