//! What has to be done with the files of a build and those in the folder, before anything is touched.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use walkdir::WalkDir;

use crate::emit::marker::{MARKER, Marker};
use crate::emit::place::Place;
use crate::emit::{Permission, Report};

/// What has to be done to publish a build.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Files with new bytes.
    pub(crate) write: BTreeSet<String>,
    /// Files that the folder has with the same bytes.
    pub(crate) keep: Vec<String>,
    /// Entries that kbgen did not write, relative to the folder: files and links, and folders that may be empty.
    pub(crate) foreign: Vec<PathBuf>,
    /// What the marker will say.
    pub(crate) marker: Marker,
    /// Files in the folder that an earlier build wrote.
    pub(crate) before: BTreeSet<String>,
    marker_changes: bool,
    foreign_files: usize,
    removed: usize,
}

impl Plan {
    /// Compares a build with what lies in the place's folder: its `files`, and whether the folder has their bytes, with
    /// those that an earlier build wrote.
    ///
    /// # Errors
    /// When the folder cannot be read, or a file that kbgen did not write is in the way of a new one.
    pub(crate) fn make(
        files: BTreeMap<String, bool>,
        before: Option<Marker>,
        place: &Place,
        permission: Permission,
    ) -> Result<Self> {
        let marker = Marker { paths: files.keys().cloned().collect() };
        let marker_changes = before.as_ref() != Some(&marker);
        let before = before.unwrap_or_default().paths;
        let (keep, write): (BTreeMap<_, _>, BTreeMap<_, _>) = files.into_iter().partition(|(_, same)| *same);
        let write = write.into_keys().collect();
        let (foreign, foreign_files) = foreign(place, &before, &marker, permission, &write)?;
        let removed = before
            .iter()
            .filter(|path| !marker.paths.contains(*path))
            .filter(|path| fs::symlink_metadata(place.folder.join(path)).is_ok())
            .count();
        Ok(Self {
            write,
            keep: keep.into_keys().collect(),
            foreign,
            marker,
            before,
            marker_changes,
            foreign_files,
            removed,
        })
    }

    /// Whether the folder has to be touched at all.
    pub(crate) fn changes_anything(&self) -> bool {
        self.marker_changes || !self.write.is_empty() || self.removed > 0
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

/// Entries of the folder that no earlier build wrote, and how many of them are not folders.
fn foreign(
    place: &Place,
    before: &BTreeSet<String>,
    after: &Marker,
    permission: Permission,
    write: &BTreeSet<String>,
) -> Result<(Vec<PathBuf>, usize)> {
    let mut entries = Vec::new();
    let mut files = 0;
    if !place.exists() {
        return Ok((entries, files));
    }
    let ours: BTreeSet<PathBuf> = before.iter().map(|path| Path::new(path).components().collect()).collect();
    let our_folders: BTreeSet<&Path> = ours.iter().flat_map(|path| path.ancestors().skip(1)).collect();
    let replaced: BTreeSet<&Path> = write.iter().map(Path::new).collect();
    let outputs: BTreeSet<&Path> = after.paths.iter().map(Path::new).collect();
    for entry in WalkDir::new(&place.folder).min_depth(1).sort_by_file_name() {
        let entry = entry.with_context(|| format!("cannot read the folder `{}`", place.folder.display()))?;
        let path = entry.path().strip_prefix(&place.folder).expect("an entry lies in its folder");
        let is_folder = entry.file_type().is_dir();
        if path == Path::new(MARKER)
            || ours.contains(path) && !is_folder
            || is_folder && our_folders.contains(path)
        {
            continue;
        }
        if replaced.contains(path) {
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
        // A file with the bytes of an output is that output from now on.
        if outputs.contains(path) {
            continue;
        }
        files += usize::from(!is_folder);
        entries.push(path.to_path_buf());
    }
    Ok((entries, files))
}
