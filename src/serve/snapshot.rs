//! What the watched files are, found by looking at all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::WalkDir;

use crate::files::is_scratch;
use crate::serve::{Changes, ServeOptions};

/// Which files count.
#[derive(Debug, Clone)]
pub(crate) struct WatchedFiles {
    root: PathBuf,
    watched: Vec<PathBuf>,
    ignored: Vec<PathBuf>,
}

/// All files that count, as they were when they were looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct WatchSnapshot(BTreeMap<PathBuf, Stamp>);

/// What tells a file from what it was. The identity catches a file put in place of another with its time kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    identity: u64,
}

impl WatchedFiles {
    /// The files that a server is to watch.
    pub(crate) fn new(options: &ServeOptions) -> Self {
        let absolute =
            |paths: &[PathBuf]| paths.iter().map(|path| options.root.join(path)).collect::<Vec<_>>();
        Self {
            root: options.root.clone(),
            watched: absolute(&options.watch),
            ignored: absolute(&options.ignore),
        }
    }

    /// Files and folders to watch; not all need to be there.
    pub(crate) fn watched(&self) -> &[PathBuf] {
        &self.watched
    }

    /// The path from the root of a file that counts, wherever it is named.
    pub(crate) fn counted(&self, path: &Path) -> Option<PathBuf> {
        let top = self.watched.iter().find(|top| path.starts_with(top))?;
        let inner = path.ancestors().take_while(|ancestor| ancestor != top);
        inner.into_iter().all(|ancestor| self.counts(ancestor)).then(|| self.relative(path))
    }

    /// Those of these paths from the root whose files are not what was seen there, which takes note of them; `None` unless all
    /// of them are files that were there before. An empty one is a file that an editor is about to write.
    pub(crate) fn changed(&self, paths: &BTreeSet<PathBuf>, seen: &mut WatchSnapshot) -> Option<Changes> {
        let stamp = |path: &PathBuf| {
            let path = self.root.join(path);
            let found =
                std::fs::symlink_metadata(&path).ok().filter(|found| found.is_file() && found.len() > 0)?;
            seen.0.contains_key(&path).then(|| (path, stamp(&found)))
        };
        let stamps = paths.iter().map(stamp).collect::<Option<Vec<_>>>()?;
        let is_new = |(path, stamp): &(PathBuf, Stamp)| seen.0.insert(path.clone(), *stamp) != Some(*stamp);
        let changed: Vec<(PathBuf, Stamp)> = stamps.into_iter().filter(is_new).collect();
        let paths = changed.iter().map(|(path, _)| self.relative(path)).collect();
        Some(Changes { paths, ..Changes::default() })
    }

    /// Whether all of these paths from the root were seen.
    pub(crate) fn has(&self, seen: &WatchSnapshot, paths: &BTreeSet<PathBuf>) -> bool {
        paths.iter().all(|path| seen.0.contains_key(&self.root.join(path)))
    }

    /// Every file that counts, with its stamp. What cannot be read now is as good as not there.
    pub(crate) fn look(&self) -> WatchSnapshot {
        let files = self
            .watched
            .iter()
            .flat_map(|path| {
                WalkDir::new(path)
                    .into_iter()
                    .filter_entry(|entry| entry.depth() == 0 || self.counts(entry.path()))
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

    /// What differs between two looks.
    pub(crate) fn changes(&self, before: &WatchSnapshot, now: &WatchSnapshot) -> Changes {
        let changed = |(path, stamp): &(&PathBuf, &Stamp)| before.0.get(*path) != Some(*stamp);
        let made_or_changed = now.0.iter().filter(changed).map(|(path, _)| path);
        let gone = before.0.keys().filter(|path| !now.0.contains_key(*path));
        let paths = made_or_changed.chain(gone).map(|path| self.relative(path)).collect();
        Changes { paths, ..Changes::default() }
    }

    fn counts(&self, path: &Path) -> bool {
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

/// Whether a file is no part of a site, or only until a program renames it.
pub(crate) fn is_temporary_file(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return false };
    let ends = [".tmp", ".bak", ".orig", ".part", ".crdownload"];
    is_scratch(name) || name.starts_with('#') || ends.iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_editors_write_beside_a_file_does_not_count() {
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
