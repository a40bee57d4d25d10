//! Plans which files to write, keep and remove, before anything is changed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use anyhow::{Context, Result, bail};
use walkdir::WalkDir;

use crate::emit::manifest::{MANIFEST_FILE, Manifest};
use crate::emit::paths::{OutputPaths, SwapMode};
use crate::emit::{Permission, Report};

/// The changes that publish a build.
#[derive(Debug)]
pub(crate) struct Plan {
    /// New and changed files.
    pub(crate) write: BTreeSet<String>,
    /// Files whose content is unchanged.
    pub(crate) keep: Vec<String>,
    /// Foreign entries to carry over to the new tree, relative to the folder: files, links, and possibly empty
    /// folders.
    pub(crate) foreign: Vec<PathBuf>,
    /// Manifest of the new build.
    pub(crate) manifest: Manifest,
    /// Files in the folder that the earlier build wrote.
    pub(crate) before: BTreeSet<String>,
    manifest_changes: bool,
    foreign_files: usize,
    removed: usize,
}

impl Plan {
    /// Compares `files` (each with whether the folder has the same content) with the folder and with the earlier
    /// build.
    ///
    /// # Errors
    /// If the folder cannot be read, or a foreign file conflicts with a new one.
    pub(crate) fn make(
        files: BTreeMap<String, bool>,
        before: Option<Manifest>,
        paths: &OutputPaths,
        permission: Permission,
    ) -> Result<Self> {
        let manifest = Manifest { paths: files.keys().cloned().collect() };
        let manifest_changes = before.as_ref() != Some(&manifest);
        let before = before.unwrap_or_default().paths;
        let (keep, write): (BTreeMap<_, _>, BTreeMap<_, _>) = files.into_iter().partition(|(_, same)| *same);
        let write = write.into_keys().collect();
        let (foreign, foreign_files) = foreign(paths, &before, &manifest, permission, &write)?;
        let removed = before
            .iter()
            .filter(|path| !manifest.paths.contains(*path))
            .filter(|path| fs::symlink_metadata(paths.folder.join(path)).is_ok())
            .count();
        Ok(Self {
            write,
            keep: keep.into_keys().collect(),
            foreign,
            manifest,
            before,
            manifest_changes,
            foreign_files,
            removed,
        })
    }

    /// Returns the top-level entries that kbgen wrote, in the old or the new build, sorted.
    pub(crate) fn entries(&self) -> BTreeSet<&Path> {
        let paths = self.before.iter().chain(&self.manifest.paths);
        paths.filter_map(|path| Path::new(path).iter().next().map(Path::new)).collect()
    }

    /// Returns a manifest of both builds, so that the next build can recover if this one is killed during the swap.
    pub(crate) fn manifest_between(&self) -> Manifest {
        Manifest { paths: &self.before | &self.manifest.paths }
    }

    /// Returns whether the folder needs any change.
    pub(crate) fn has_changes(&self) -> bool {
        self.manifest_changes || !self.write.is_empty() || self.removed > 0
    }

    /// The plan in numbers.
    pub(crate) fn report(&self) -> Report {
        Report {
            written: self.write.len(),
            unchanged: self.keep.len(),
            removed: self.removed,
            kept: self.foreign_files,
        }
    }
}

/// Returns the foreign entries to carry over, and the number of all foreign files.
fn foreign(
    paths: &OutputPaths,
    before: &BTreeSet<String>,
    after: &Manifest,
    permission: Permission,
    write: &BTreeSet<String>,
) -> Result<(Vec<PathBuf>, usize)> {
    let mut entries = Vec::new();
    let mut files = 0;
    if !paths.exists() {
        return Ok((entries, files));
    }
    let our_folders = folders(before);
    let our_entries: HashSet<&OsStr> =
        before.iter().chain(&after.paths).filter_map(|path| path.split('/').next()).map(OsStr::new).collect();
    let walk = WalkDir::new(&paths.folder).min_depth(1).into_iter();
    for entry in walk.filter_entry(|entry| entry.path() != paths.staging) {
        let entry = entry.with_context(|| format!("cannot read folder `{}`", paths.folder.display()))?;
        let path = entry.path().strip_prefix(&paths.folder).expect("an entry lies in its folder");
        let is_folder = entry.file_type().is_dir();
        // Output paths are UTF-8; any other name is foreign.
        let name = output_name(path).unwrap_or_default();
        let was_generated = if is_folder { our_folders.contains(&*name) } else { before.contains(&*name) };
        if path == Path::new(MANIFEST_FILE) || was_generated {
            continue;
        }
        if write.contains(&*name) {
            if is_folder || permission == Permission::OnlyOurs {
                bail!(
                    "`{}` was not written by kbgen, and the site now has a file of that name: \
                     move one of the two away{}",
                    entry.path().display(),
                    if is_folder { "" } else { ", or build with `--force` to replace it" }
                );
            }
            continue;
        }
        // A foreign file with the content of an output becomes that output.
        if after.paths.contains(&*name) {
            continue;
        }
        files += usize::from(!is_folder);
        let is_beside_ours = path.iter().next().is_some_and(|name| our_entries.contains(name));
        if paths.swap_mode == SwapMode::Whole || is_beside_ours {
            entries.push(path.to_path_buf());
        }
    }
    entries.sort();
    Ok((entries, files))
}

/// Returns a path in the form of output paths, with `/`.
pub(crate) fn output_name(path: &Path) -> Option<Cow<'_, str>> {
    let name = path.to_str()?;
    Some(if MAIN_SEPARATOR == '/' { name.into() } else { name.replace(MAIN_SEPARATOR, "/").into() })
}

/// Returns all parent folders of the paths, parents first, without the root.
pub(crate) fn folders<'p>(paths: impl IntoIterator<Item = &'p String>) -> BTreeSet<&'p str> {
    let mut folders = BTreeSet::new();
    for path in paths {
        let mut inner = path.as_str();
        while let Some(folder) = parent(inner) {
            if !folders.insert(folder) {
                break;
            }
            inner = folder;
        }
    }
    folders
}

/// Returns the parent folder of a path, unless it is the root.
pub(crate) fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}
