//! What a command takes over from earlier runs, and leaves to later ones.

use std::path::Path;

use crate::cache;
use crate::cli::arguments::CacheOptions;
use crate::cli::terminal::Terminal;
use crate::store::{Kind, Store};

/// What earlier runs left of these kinds; nothing, and nothing is kept, if the options say so.
pub(super) fn open(root: &Path, options: &CacheOptions, kinds: &[Kind]) -> Store {
    if options.no_cache { Store::forgetful() } else { cache::open(root, kinds) }
}

/// Leaves what is new to later runs. Where that cannot be done, nothing but time is lost: a warning says so.
pub(super) fn leave(root: &Path, store: &Store, terminal: &Terminal) {
    if let Err(error) = cache::keep(root, store) {
        terminal.say(&format!(
            "warning: the next run will take as long as this one: {error:#}; `--no-cache` does without"
        ));
    }
}
