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
use crate::facts::{Fact, unrecorded};
use crate::files::{Key, Sources};
use crate::load::{self, EMBEDDED_COMMIT, EMBEDDED_DATE, EMBEDDED_HASH};

/// Settings and pages, read or unpacked on first use.
pub(super) struct KnowledgeBase {
    /// Site folder; `None` for the embedded knowledge base.
    root: Option<PathBuf>,
    is_given: bool,
    /// Whether the page at a path is read from a folder.
    is_needed: Box<dyn Fn(&str) -> bool>,
    sources: OnceCell<Sources>,
    /// Stamps of the pages, taken before they are read.
    stamps: OnceCell<Option<Key>>,
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
    /// If the folder of `--root` is not a site.
    pub fn find(arguments: &Arguments) -> Result<Self> {
        Self::find_pages(arguments, |_| true)
    }

    /// As [`KnowledgeBase::find`], but of a folder, reads only the pages whose paths satisfy a condition.
    ///
    /// # Errors
    /// As [`KnowledgeBase::find`].
    pub fn find_pages(arguments: &Arguments, is_needed: impl Fn(&str) -> bool + 'static) -> Result<Self> {
        let root = match &arguments.root {
            Some(given) => Some(environment::root(Some(given))?),
            None => environment::nearest_root()?,
        };
        Ok(Self {
            root,
            is_given: arguments.root.is_some(),
            is_needed: Box::new(is_needed),
            sources: OnceCell::new(),
            stamps: OnceCell::new(),
        })
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

    /// Returns settings and pages. A site that was deleted meanwhile has none.
    pub fn sources(&self) -> &Sources {
        self.sources.get_or_init(|| match &self.root {
            Some(root) => load::read_content(root, &self.is_needed).unwrap_or_default(),
            None => load::embedded(),
        })
    }

    /// Returns the settings.
    pub fn config(&self) -> Config {
        let settings = match (self.sources.get(), &self.root) {
            (Some(sources), _) => return Config::read(sources).0,
            (None, Some(root)) => load::read_settings(root).unwrap_or_default(),
            (None, None) => load::embedded_settings(),
        };
        Config::read(&settings).0
    }

    /// Returns the cached result of a query on the pages. They are read only if it is not cached, or if one was modified a
    /// moment ago.
    pub fn query<T: Serialize + DeserializeOwned>(
        &self,
        engine: &Engine,
        name: &str,
        make: impl FnOnce(&Sources) -> T,
    ) -> T {
        let stamps = match &self.root {
            _ if engine.is_without_cache() => return make(self.sources()),
            Some(root) => *self.stamps.get_or_init(|| {
                let now = environment::now();
                self.sources.get().is_none().then(|| load::stamps(root, &self.is_needed, now)).flatten()
            }),
            None => Some(Key::of([EMBEDDED_HASH])),
        };
        let Some(stamps) = stamps else {
            engine.register(self.sources());
            return engine.query(Kind::Diagnosis, name, || make(self.sources()));
        };
        let stamps = Fact::of("stamps", stamps);
        engine.register(&stamps);
        engine.query(Kind::Diagnosis, name, || {
            stamps.touch();
            unrecorded(|| make(self.sources()))
        })
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
