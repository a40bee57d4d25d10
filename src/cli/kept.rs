//! What a command takes over from earlier runs, and leaves to later ones.

use std::path::Path;

use crate::cache::{self, Cache};
use crate::cli::arguments::CacheOptions;
use crate::cli::terminal::Terminal;
use crate::emit::Record;
use crate::engine::Engine;

/// The cache of a command; without one nothing is known and nothing is kept.
#[derive(Debug, Clone)]
pub(super) struct Kept(Option<Cache>);

impl Kept {
    /// The cache that the options name. Where there can be none, nothing but time is lost: a note says so.
    pub fn open(root: &Path, options: &CacheOptions, terminal: &Terminal) -> Self {
        if options.no_cache {
            return Self(None);
        }
        let default = || cache::default_folder(|name| std::env::var_os(name));
        let Some(base) = options.cache_dir.clone().or_else(default) else {
            terminal.say("note: no cache is used, because no home folder is known; `--cache-dir` names one");
            return Self(None);
        };
        let cache = Cache::open(&base, root);
        let fault = |error| terminal.say(format!("warning: no cache is used: {error:#}"));
        Self(cache.map_err(fault).ok())
    }

    /// An engine with the results of earlier runs.
    pub fn engine(&self) -> Engine {
        self.0.as_ref().map_or_else(Engine::without_cache, Cache::engine)
    }

    /// The same for many builds in one process.
    pub fn engine_with_values(&self) -> Engine {
        self.0.as_ref().map_or_else(Engine::default, Cache::engine).with_values()
    }

    /// Where results lie between runs.
    pub fn cache(&self) -> Option<&Cache> {
        self.0.as_ref()
    }

    /// Leaves what is new to later runs. Where that cannot be done, nothing but time is lost: a warning says so.
    pub fn leave(&self, engine: &Engine, terminal: &Terminal) {
        self.leave_published(engine, None, terminal);
    }

    /// The inputs that the published folder was built from.
    pub fn record(&self) -> Record {
        Record::read(&self.0.as_ref().and_then(Cache::record).unwrap_or_default())
    }

    /// As [`Kept::leave`], with what the published folder was made of, if that is not known.
    pub fn leave_published(&self, engine: &Engine, record: Option<&Record>, terminal: &Terminal) {
        let Some(cache) = &self.0 else { return };
        let keep = |record: &Record| cache.save_record(&record.text());
        if let Err(error) = cache.save(engine).and_then(|()| record.map_or(Ok(()), keep)) {
            terminal.say(format!(
                "warning: cannot write the build cache: {error:#}; pass `--no-cache` to do without"
            ));
        }
    }
}
