//! The knowledge base that a command reads: that of a site folder, or the one embedded in the program.

use std::cell::OnceCell;
use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::cli::arguments::{Arguments, CacheOptions};
use crate::cli::build_cache::BuildCache;
use crate::cli::environment;
use crate::cli::terminal::Terminal;
use crate::config::Config;
use crate::engine::{Engine, Kind};
use crate::facts::{Fact, Fingerprint, Name, unrecorded};
use crate::files::Sources;
use crate::load::{self, EMBEDDED_COMMIT, EMBEDDED_DATE, EMBEDDED_HASH};

/// Settings and pages; the embedded ones are unpacked on first use.
pub(super) struct KnowledgeBase {
    /// Site folder; `None` for the embedded knowledge base.
    root: Option<PathBuf>,
    is_given: bool,
    sources: OnceCell<Sources>,
}

/// Origin of an answer, as written to JSON.
#[derive(Debug, Serialize)]
#[serde(tag = "source", rename_all = "lowercase")]
pub(super) enum Provenance {
    /// A site folder.
    Folder { path: String },
    /// The embedded knowledge base: version of kbgen, latest verification date of a page, and commit if known.
    Embedded { version: &'static str, date: &'static str, commit: Option<&'static str> },
}

/// Result of a command with the knowledge base that it is from, as written to JSON.
#[derive(Debug, Serialize)]
pub(super) struct Answer<T> {
    pub knowledge_base: Provenance,
    #[serde(flatten)]
    pub result: T,
}

impl KnowledgeBase {
    /// Returns the site of `--root`, else the nearest parent folder with a `site.toml`, else the embedded knowledge base.
    ///
    /// # Errors
    /// If the folder of `--root` is not a site, or `site.toml` cannot be read.
    pub fn find(arguments: &Arguments) -> Result<Self> {
        Self::find_pages(arguments, |_| true)
    }

    /// As [`KnowledgeBase::find`], but of a folder, reads only the pages whose paths satisfy a condition.
    ///
    /// # Errors
    /// As [`KnowledgeBase::find`].
    pub fn find_pages(arguments: &Arguments, is_needed: impl Fn(&str) -> bool) -> Result<Self> {
        let root = match &arguments.root {
            Some(given) => Some(environment::root(Some(given))?),
            None => environment::nearest_root()?,
        };
        let sources = root.as_deref().map(|root| load::read_content(root, is_needed)).transpose()?;
        let sources = sources.map(OnceCell::from).unwrap_or_default();
        Ok(Self { root, is_given: arguments.root.is_some(), sources })
    }

    /// Prints which knowledge base is used, unless the command line names it.
    pub fn announce(&self, terminal: &Terminal) {
        if !self.is_given {
            terminal.message(format!("knowledge base: {}", self.describe()));
        }
    }

    /// Opens the cache of results that are computed from this knowledge base.
    pub fn cache(&self, options: &CacheOptions, terminal: &Terminal) -> BuildCache {
        match &self.root {
            Some(root) => BuildCache::open(root, options, terminal),
            None => BuildCache::open_embedded(options, terminal),
        }
    }

    /// Returns settings and pages.
    pub fn sources(&self) -> &Sources {
        self.sources.get_or_init(load::embedded)
    }

    /// Returns the settings.
    pub fn config(&self) -> Config {
        match self.sources.get() {
            Some(sources) => Config::read(sources).0,
            None => Config::read(&load::embedded_settings()).0,
        }
    }

    /// Returns the cached result of a query. The pages of the embedded knowledge base are unpacked only if there is none.
    pub fn query<T: Serialize + DeserializeOwned>(
        &self,
        engine: &Engine,
        name: &str,
        make: impl FnOnce(&Sources) -> T,
    ) -> T {
        if self.root.is_some() {
            engine.register(self.sources());
            return engine.query(Kind::Diagnosis, name, || make(self.sources()));
        }
        let hash = Fact::new(Name::new("embedded", ""), Fingerprint::of([EMBEDDED_HASH]), EMBEDDED_HASH);
        engine.register(&hash);
        let make = |_: &str| unrecorded(|| make(self.sources()));
        engine.query(Kind::Diagnosis, name, || make(&hash))
    }

    /// Adds the origin to a result.
    pub fn answer<T>(&self, result: T) -> Answer<T> {
        let knowledge_base = match &self.root {
            Some(root) => Provenance::Folder { path: root.display().to_string() },
            None => Provenance::Embedded {
                version: env!("CARGO_PKG_VERSION"),
                date: EMBEDDED_DATE,
                commit: Some(EMBEDDED_COMMIT).filter(|commit| !commit.is_empty()),
            },
        };
        Answer { knowledge_base, result }
    }

    /// Describes the origin in one line.
    pub fn describe(&self) -> String {
        match self.answer(()).knowledge_base {
            Provenance::Folder { path } => path,
            Provenance::Embedded { version, date, commit } => {
                let commit = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
                format!("embedded in kbgen {version}, last verified {date}{commit}")
            }
        }
    }
}
