//! The build cache of a command.

use std::path::Path;

use crate::cache::{self, Cache};
use crate::cli::arguments::CacheOptions;
use crate::cli::terminal::Terminal;
use crate::emit::Record;
use crate::engine::Engine;

/// Cache of a command. If it is disabled, results are neither read nor stored.
#[derive(Debug, Clone)]
pub(super) struct BuildCache(Option<Cache>);

impl BuildCache {
    /// Opens the cache of a site that the options select. Prints a note and disables the cache if there is none.
    pub fn open(root: &Path, options: &CacheOptions, terminal: &Terminal) -> Self {
        Self::open_with(options, terminal, |base| Cache::open(base, root))
    }

    /// Opens the cache of the embedded knowledge base, as [`BuildCache::open`].
    pub fn open_embedded(options: &CacheOptions, terminal: &Terminal) -> Self {
        Self::open_with(options, terminal, Cache::open_embedded)
    }

    fn open_with(
        options: &CacheOptions,
        terminal: &Terminal,
        open: impl FnOnce(&Path) -> anyhow::Result<Cache>,
    ) -> Self {
        if options.no_cache {
            return Self(None);
        }
        let default = || cache::default_folder(|name| std::env::var_os(name));
        let Some(base) = options.cache_dir.clone().or_else(default) else {
            terminal
                .message("note: running without a cache: no home folder; pass `--cache-dir DIR` to set one");
            return Self(None);
        };
        let fault = |error| terminal.message(format!("warning: running without a cache: {error:#}"));
        Self(open(&base).map_err(fault).ok())
    }

    /// Creates an engine with the results of earlier runs.
    pub fn engine(&self) -> Engine {
        self.0.as_ref().map_or_else(Engine::without_cache, Cache::engine)
    }

    /// Creates an engine that also keeps values in memory, for many builds in one process.
    pub fn engine_with_values(&self) -> Engine {
        self.0.as_ref().map_or_else(Engine::default, Cache::engine).with_values()
    }

    /// Returns the cache on disk, if enabled.
    pub fn store(&self) -> Option<&Cache> {
        self.0.as_ref()
    }

    /// Writes new results to disk. Prints a warning on failure.
    pub fn save(&self, engine: &Engine, terminal: &Terminal) {
        self.save_published(engine, None, terminal);
    }

    /// Reads the record of the inputs of the published folder.
    pub fn record(&self) -> Record {
        Record::read(&self.0.as_ref().and_then(Cache::record).unwrap_or_default())
    }

    /// Writes new results and, if given, the record of the published folder.
    pub fn save_published(&self, engine: &Engine, record: Option<&Record>, terminal: &Terminal) {
        let Some(cache) = &self.0 else { return };
        let keep = |record: &Record| cache.save_record(&record.text());
        if let Err(error) = cache.save(engine).and_then(|()| record.map_or(Ok(()), keep)) {
            terminal.message(format!(
                "warning: cannot write the build cache: {error:#}; pass `--no-cache` to disable it"
            ));
        }
    }
}
