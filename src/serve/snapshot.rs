//! Snapshots of the watched files, used to find changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::WalkDir;

use crate::files::is_scratch;
use crate::serve::{Changes, ServeOptions};

/// Paths to watch and to ignore.
#[derive(Debug, Clone)]
pub(crate) struct WatchedFiles {
    root: PathBuf,
    watched: Vec<PathBuf>,
    ignored: Vec<PathBuf>,
}

/// Stamps of all watched files at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WatchSnapshot(BTreeMap<PathBuf, Stamp>);

/// Properties that change with a file. The inode detects a replacement that keeps size and modification time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    identity: u64,
}

impl WatchedFiles {
    /// Reads the paths from the options of a server.
    pub(crate) fn new(options: &ServeOptions) -> Self {
        let absolute =
            |paths: &[PathBuf]| paths.iter().map(|path| options.root.join(path)).collect::<Vec<_>>();
        Self {
            root: options.root.clone(),
            watched: absolute(&options.watch),
            ignored: absolute(&options.ignore),
        }
    }

    /// Returns the files and folders to watch, which need not exist.
    pub(crate) fn watched(&self) -> &[PathBuf] {
        &self.watched
    }

    /// Returns the path relative to the root if the file is watched.
    pub(crate) fn watched_path(&self, path: &Path) -> Option<PathBuf> {
        let top = self.watched.iter().find(|top| path.starts_with(top))?;
        let inner = path.ancestors().take_while(|ancestor| ancestor != top);
        inner.into_iter().all(|ancestor| self.is_watched(ancestor)).then(|| self.relative(path))
    }

    /// Returns the changed files among `paths` and updates their stamps. Returns `None` unless all are existing files
    /// that were in the snapshot. An empty file counts as missing, because an editor is about to write it.
    pub(crate) fn changed(&self, paths: &BTreeSet<PathBuf>, snapshot: &mut WatchSnapshot) -> Option<Changes> {
        let stamp = |path: &PathBuf| {
            let path = self.root.join(path);
            let found =
                std::fs::symlink_metadata(&path).ok().filter(|found| found.is_file() && found.len() > 0)?;
            snapshot.0.contains_key(&path).then(|| (path, stamp(&found)))
        };
        let stamps = paths.iter().map(stamp).collect::<Option<Vec<_>>>()?;
        let is_new =
            |(path, stamp): &(PathBuf, Stamp)| snapshot.0.insert(path.clone(), *stamp) != Some(*stamp);
        let changed: Vec<(PathBuf, Stamp)> = stamps.into_iter().filter(is_new).collect();
        let paths = changed.iter().map(|(path, _)| self.relative(path)).collect();
        Some(Changes { paths, ..Changes::default() })
    }

    /// Returns whether the snapshot contains all paths, given relative to the root.
    pub(crate) fn contains_all(&self, snapshot: &WatchSnapshot, paths: &BTreeSet<PathBuf>) -> bool {
        paths.iter().all(|path| snapshot.0.contains_key(&self.root.join(path)))
    }

    /// Stats all watched files. Unreadable files count as missing.
    pub(crate) fn take(&self) -> WatchSnapshot {
        let files = self
            .watched
            .iter()
            .flat_map(|path| {
                WalkDir::new(path)
                    .into_iter()
                    .filter_entry(|entry| entry.depth() == 0 || self.is_watched(entry.path()))
            })
            .flatten()
            .filter(|entry| !entry.file_type().is_dir());
        WatchSnapshot(
            files
                .filter_map(|entry| Some((stamp(&entry.metadata().ok()?), entry.into_path())))
                .map(|(stamp, path)| (path, stamp))
                .collect(),
        )
    }

    /// Returns the differences between two snapshots.
    pub(crate) fn changes(&self, before: &WatchSnapshot, now: &WatchSnapshot) -> Changes {
        let changed = |(path, stamp): &(&PathBuf, &Stamp)| before.0.get(*path) != Some(*stamp);
        let made_or_changed = now.0.iter().filter(changed).map(|(path, _)| path);
        let gone = before.0.keys().filter(|path| !now.0.contains_key(*path));
        let paths = made_or_changed.chain(gone).map(|path| self.relative(path)).collect();
        Changes { paths, ..Changes::default() }
    }

    fn is_watched(&self, path: &Path) -> bool {
        !self.ignored.iter().any(|ignored| path == ignored) && !is_temporary_file(path)
    }

    fn relative(&self, path: &Path) -> PathBuf {
        path.strip_prefix(&self.root).unwrap_or(path).to_path_buf()
    }
}

fn stamp(found: &Metadata) -> Stamp {
    #[cfg(unix)]
    let identity = std::os::unix::fs::MetadataExt::ino(found);
    #[cfg(not(unix))]
    let identity = 0;
    Stamp { modified: found.modified().ok(), bytes: found.len(), identity }
}

/// Returns whether a file is a temporary file of an editor or another program.
pub(crate) fn is_temporary_file(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let ends = [".tmp", ".bak", ".orig", ".part", ".crdownload"];
    is_scratch(name) || name.starts_with('#') || ends.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_of_editors_are_ignored() {
        for name in [
            ".oom.md.swp",
            "oom.md~",
            "4913",
            "#oom.md#",
            ".#oom.md",
            ".git",
            "oom.md.bak",
            "oom.md___jb_tmp___",
        ] {
            assert!(is_temporary_file(Path::new("content").join(name).as_path()), "{name}");
        }
        for name in ["oom.md", "_index.md", "a.b.css", "temp"] {
            assert!(!is_temporary_file(Path::new(name)), "{name}");
        }
    }
}
