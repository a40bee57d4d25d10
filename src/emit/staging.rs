//! Builds the new tree in the staging folder, and removes the old one.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use rayon::prelude::*;
use walkdir::WalkDir;

use crate::emit::lock::{self, OutputLock};
use crate::emit::manifest::MANIFEST_FILE;
use crate::emit::paths::{OutputPaths, refuse_link};
use crate::emit::plan::{Plan, folders, output_name, parent};
use crate::emit::swap;
use crate::emit::tree::Tree;

/// A new tree; removed if dropped before it is published.
#[derive(Debug)]
pub(crate) struct Staging {
    paths: OutputPaths,
    published: bool,
    /// Folders that exist in the new tree.
    made: Mutex<HashSet<PathBuf>>,
    _claim: OutputLock,
}

/// The previously published tree, in the staging folder.
#[derive(Debug)]
pub(crate) struct OldTree {
    paths: OutputPaths,
    _claim: OutputLock,
}

/// Describes a failure to write a file.
pub(crate) fn cannot_write(path: &Path) -> String {
    format!("cannot write `{}`", path.display())
}

/// Cleans up after a killed build: restores files that it set aside, and removes its temporary folders.
///
/// # Errors
/// If another build is running there, or on I/O errors.
pub(crate) fn clean(paths: &OutputPaths, lock: &mut OutputLock) -> Result<()> {
    lock.lock_folder(paths, &paths.staging)?;
    swap::recover(paths)?;
    remove_leftover(&paths.staging)?;
    remove_leftover(&paths.aside)
}

impl Staging {
    /// Creates an empty staging folder.
    ///
    /// # Errors
    /// On I/O errors, or if another build was faster.
    pub(crate) fn create(paths: &OutputPaths, mut lock: OutputLock) -> Result<Self> {
        let path = &paths.staging;
        match fs::create_dir(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => lock::busy_error(paths)?,
            made => made.with_context(|| {
                format!("cannot create `{}`, where the new site is staged", path.display())
            })?,
        }
        lock.lock_folder(paths, path)?;
        lock.check_unchanged(paths)?;
        if let Ok(found) = fs::metadata(&paths.folder) {
            fs::set_permissions(path, found.permissions())
                .with_context(|| format!("cannot set the permissions of `{}`", path.display()))?;
        }
        Ok(Self { paths: paths.clone(), published: false, made: Mutex::default(), _claim: lock })
    }

    /// Completes the new tree with unchanged files, foreign files and the manifest.
    ///
    /// # Errors
    /// On I/O errors; the published folder is then unchanged.
    pub(crate) fn fill(&self, plan: &Plan) -> Result<()> {
        self.link_unchanged(&plan.keep)?;
        plan.foreign.iter().try_for_each(|path| self.link_or_copy(path))?;
        self.write(Path::new(MANIFEST_FILE), plan.manifest.text().as_bytes())
    }

    /// Publishes the new tree, atomically where the system supports it.
    ///
    /// # Errors
    /// As [`swap::publish`].
    pub(crate) fn publish(mut self, plan: &Plan) -> Result<OldTree> {
        swap::publish(&self.paths, plan)?;
        self.published = true;
        Ok(OldTree { paths: self.paths.clone(), _claim: std::mem::take(&mut self._claim) })
    }

    /// Writes a new file.
    ///
    /// # Errors
    /// On I/O errors.
    pub(crate) fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        let mut file = self.create_file(path)?;
        file.write_all(bytes).with_context(|| cannot_write(&self.paths.staging.join(path)))
    }

    /// Creates a new file.
    ///
    /// # Errors
    /// On I/O errors.
    pub(crate) fn create_file(&self, path: &Path) -> Result<File> {
        let file = self.prepare_parent(path)?;
        File::create_new(&file).with_context(|| cannot_write(&file))
    }

    /// Links unchanged files from the published folder.
    fn link_unchanged(&self, paths: &[String]) -> Result<()> {
        let OutputPaths { folder, staging, .. } = &self.paths;
        if paths.is_empty() {
            return Ok(());
        }
        let fails = || format!("cannot read folder `{}`", folder.display());
        let (old, new) = (Tree::open(folder).with_context(fails)?, Tree::open(staging).with_context(fails)?);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        for inner in folders(paths).into_iter().map(Path::new) {
            match new.make_folder(inner) {
                Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                    let folder = staging.join(inner);
                    return Err(error).with_context(|| format!("cannot create `{}`", folder.display()));
                }
                _ => made.insert(inner.to_path_buf()),
            };
        }
        drop(made);
        paths.par_iter().map(Path::new).try_for_each(|path| match new.link(&old, path) {
            Ok(()) => Ok(()),
            Err(_) => self.link_or_copy(path),
        })
    }

    /// Links or copies an entry of the published folder.
    fn link_or_copy(&self, path: &Path) -> Result<()> {
        let from = self.paths.folder.join(path);
        let to = self.prepare_parent(path)?;
        let fails = || format!("cannot copy `{}` to the new site", from.display());
        let found = fs::symlink_metadata(&from).with_context(fails)?;
        if found.is_dir() {
            fs::create_dir_all(&to).with_context(fails)?;
            return fs::set_permissions(&to, found.permissions()).with_context(fails);
        }
        let Err(error) = fs::hard_link(&from, &to) else { return Ok(()) };
        if !found.is_file() || error.kind() == ErrorKind::AlreadyExists {
            return Err(error).with_context(fails);
        }
        // Without hard links, or for a file of another user: copies it with its modification time.
        fs::copy(&from, &to).with_context(fails)?;
        let modified = found.modified().with_context(fails)?;
        File::options()
            .append(true)
            .open(&to)
            .and_then(|copy| copy.set_modified(modified))
            .with_context(fails)
    }

    /// Returns the path in the new tree after creating its parents.
    fn prepare_parent(&self, path: &Path) -> Result<PathBuf> {
        let to = self.paths.staging.join(path);
        let parent = path.parent().expect("an output has a name");
        let made = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if !made().contains(parent) {
            let folder = self.paths.staging.join(parent);
            fs::create_dir_all(&folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
            made().insert(parent.to_path_buf());
        }
        Ok(to)
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.published {
            // Ignored: the next build removes the rest.
            let _ = fs::remove_dir_all(&self.paths.staging);
        }
    }
}

impl OldTree {
    /// Removes the old tree. Foreign files added during the build move to the new tree.
    ///
    /// Errors are ignored: the new site is published, and the next build removes the rest.
    pub(crate) fn remove(self, plan: &Plan) {
        let (old, new) = (&self.paths.staging, &self.paths.folder);
        // Removes known files first; usually nothing else is left.
        if let Ok(tree) = Tree::open(old) {
            let real = without_links(old, folders(&plan.before));
            let lies_there = |path: &&String| parent(path).is_none_or(|parent| real.contains(parent));
            let known = plan.before.iter().filter(lies_there);
            known.for_each(|path| drop(tree.remove_file(Path::new(path))));
            real.into_iter().rev().for_each(|folder| drop(tree.remove_folder(Path::new(folder))));
        }
        let was_generated = |path: &Path| {
            let listed = |path: &str| plan.manifest.paths.contains(path) || plan.before.contains(path);
            output_name(path).is_some_and(|name| listed(&name) || name == MANIFEST_FILE)
        };
        // Children come before their folder. A folder that cannot be removed is not empty.
        for entry in WalkDir::new(old).contents_first(true).into_iter().flatten() {
            if entry.file_type().is_dir() {
                let _ = fs::remove_dir(entry.path());
                continue;
            }
            let path = entry.path().strip_prefix(old).expect("an entry lies in its folder");
            let to = new.join(path);
            if was_generated(path) || !is_newer(entry.path(), &to) {
                let _ = fs::remove_file(entry.path());
            } else {
                let _ = to.parent().map(fs::create_dir_all);
                let _ = fs::rename(entry.path(), &to);
            }
        }
    }
}

/// Returns those folders that are not links: the target of a link is foreign.
fn without_links<'p>(root: &Path, folders: BTreeSet<&'p str>) -> BTreeSet<&'p str> {
    let mut real = BTreeSet::new();
    for folder in folders {
        let lies_in_real = parent(folder).is_none_or(|parent| real.contains(parent));
        if lies_in_real && fs::symlink_metadata(root.join(folder)).is_ok_and(|found| found.is_dir()) {
            real.insert(folder);
        }
    }
    real
}

/// Returns whether a foreign file is missing in the new tree, or newer than its copy there.
fn is_newer(old: &Path, new: &Path) -> bool {
    let Ok(new) = fs::symlink_metadata(new) else { return true };
    let Ok(old) = fs::symlink_metadata(old) else { return false };
    old.is_file() && new.is_file() && old.modified().ok() > new.modified().ok()
}

/// Removes a temporary folder of a killed build.
///
/// # Errors
/// If it is not a folder, or on I/O errors.
pub(crate) fn remove_leftover(path: &Path) -> Result<()> {
    refuse_link(path)?;
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => {
            fs::remove_dir_all(path).with_context(|| format!("cannot remove leftover `{}`", path.display()))
        }
        Ok(_) => {
            bail!("`{}` is not a folder, but its name is reserved for kbgen; delete it", path.display())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot access `{}`", path.display())),
    }
}

/// Removes a temporary file of a killed build.
///
/// # Errors
/// If it is not a file, or on I/O errors.
pub(crate) fn remove_leftover_file(path: &Path) -> Result<()> {
    refuse_link(path)?;
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {
            fs::remove_file(path).with_context(|| format!("cannot remove leftover `{}`", path.display()))
        }
        Ok(_) => bail!("`{}` is not a file, but its name is reserved for kbgen; delete it", path.display()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot access `{}`", path.display())),
    }
}
