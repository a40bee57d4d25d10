//! What a command takes over from earlier runs, and leaves to later ones.

use std::path::Path;

use crate::cache;
use crate::cli::arguments::CacheOptions;
use crate::cli::terminal::Terminal;
use crate::emit::Record;
use crate::store::Store;

/// What earlier runs left; nothing, and nothing is kept, if the options say so.
pub(super) fn open(root: &Path, options: &CacheOptions) -> Store {
    if options.no_cache { Store::forgetful() } else { cache::open(root) }
}

/// Leaves what is new to later runs. Where that cannot be done, nothing but time is lost: a warning says so.
pub(super) fn leave(root: &Path, store: &Store, terminal: &Terminal) {
    warn(cache::keep(root, store), terminal);
}

/// What the published folder was made of, if the options allow to know it.
pub(super) fn record(root: &Path, options: &CacheOptions) -> Record {
    let text = if options.no_cache { None } else { cache::record(root) };
    Record::read(&text.unwrap_or_default())
}

/// As [`leave`], with what the published folder was made of, if that is not known.
pub(super) fn leave_published(
    root: &Path,
    options: &CacheOptions,
    store: &Store,
    record: Option<&Record>,
    terminal: &Terminal,
) {
    if !options.no_cache {
        let kept = cache::keep(root, store);
        let keep = |record: &Record| cache::keep_record(root, &record.text());
        warn(kept.and_then(|()| record.map_or(Ok(()), keep)), terminal);
    }
}

fn warn(kept: anyhow::Result<()>, terminal: &Terminal) {
    if let Err(error) = kept {
        terminal.say(&format!(
            "warning: the next run will take as long as this one: {error:#}; `--no-cache` does without"
        ));
    }
}
