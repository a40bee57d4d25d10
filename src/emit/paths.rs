//! Resolves the output folder and checks whether kbgen may write there.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::emit::manifest::Manifest;
use crate::emit::{OutputTarget, Permission};

/// The output folder and its temporary neighbors, as absolute paths without links.
#[derive(Debug, Clone)]
pub(crate) struct OutputPaths {
    /// The published folder; it may not exist yet.
    pub(crate) folder: PathBuf,
    /// How the new tree replaces the old one.
    pub(crate) swap_mode: SwapMode,
    /// Folder of the new tree; after the swap, that of the old tree.
    pub(crate) staging: PathBuf,
    /// Temporary folder for systems without an atomic swap.
    pub(crate) aside: PathBuf,
    /// Lock file for systems that cannot lock a folder.
    #[cfg_attr(not(windows), expect(dead_code, reason = "other systems lock the folders themselves"))]
    pub(crate) lock: PathBuf,
}

/// How the new tree replaces the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwapMode {
    /// Swaps the two folders in one step.
    Whole,
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix tells which folders these are"))]
    /// Swaps the top-level entries one by one, because the folder itself cannot be moved.
    ByEntry,
}

impl OutputPaths {
    /// Resolves the target's folder and creates its parent.
    ///
    /// # Errors
    /// If the folder is a link, is not a folder, or overlaps a source of the site.
    pub(crate) fn find(target: &OutputTarget) -> Result<Self> {
        let asked = target.folder.display();
        let folder = resolve(target.folder)?;
        for source in target.sources {
            let source = resolve(source)?;
            if source.starts_with(&folder) || folder.starts_with(&source) {
                bail!(
                    "`{asked}` cannot be the output folder, because it overlaps with the source `{}`; choose another folder",
                    source.display()
                );
            }
        }
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            bail!("`{asked}` cannot be the output folder; choose a folder inside it");
        };
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_symlink() => bail!(
                "the output folder `{asked}` is a symbolic link, which kbgen does not follow: \
                 name the folder that it points to"
            ),
            Ok(found) if !found.is_dir() => bail!("`{asked}` is a file; choose another output folder"),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot access `{}`", folder.display()));
            }
        }
        fs::create_dir_all(parent).with_context(|| format!("cannot create folder `{}`", parent.display()))?;
        let beside = |what: &str| parent.join(sibling_name(name, what));
        let (lock, swap_mode) = (beside("lock"), swap_mode(&folder, parent));
        let (staging, aside) = match swap_mode {
            SwapMode::Whole => (beside("new"), beside("old")),
            SwapMode::ByEntry => (folder.join(".kbgen-new"), folder.join(".kbgen-old")),
        };
        Ok(Self { swap_mode, staging, aside, lock, folder })
    }

    /// Returns whether the published folder exists.
    pub(crate) fn exists(&self) -> bool {
        self.folder.is_dir()
    }

    /// Rejects a non-empty folder that kbgen did not make, unless `permission` allows to take it over.
    pub(crate) fn check_owner(&self, permission: Permission) -> Result<()> {
        let folder = &self.folder;
        if permission == Permission::TakeOver || !self.exists() || Manifest::read(folder)?.is_some() {
            return Ok(());
        }
        let mut entries =
            fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
        // A new file system contains this folder.
        let is_foreign = |name: &OsStr| name != "lost+found";
        if entries.any(|entry| entry.map_or(true, |entry| is_foreign(&entry.file_name()))) {
            bail!(
                "`{}` contains files not written by kbgen; choose another folder, \
                 or build with `--force` to keep them and write the site beside them",
                folder.display()
            );
        }
        Ok(())
    }
}

/// Returns the swap mode. A mount point cannot be moved, nor can a folder whose parent is not writable.
#[cfg(unix)]
fn swap_mode(folder: &Path, parent: &Path) -> SwapMode {
    use rustix::fs::{Access, access};

    let may_write = |path: &Path| access(path, Access::WRITE_OK).is_ok();
    if folder.is_dir() && (is_mount_point(folder, parent) || !may_write(parent) && may_write(folder)) {
        SwapMode::ByEntry
    } else {
        SwapMode::Whole
    }
}

#[cfg(not(unix))]
fn swap_mode(_folder: &Path, _parent: &Path) -> SwapMode {
    SwapMode::Whole
}

/// Returns whether the folder is a mount point, including bind mounts (statx(2), Linux 5.8 and later).
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_mount_point(folder: &Path, _parent: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

    statx(CWD, folder, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty())
        .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Returns whether another file system is mounted here.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn is_mount_point(folder: &Path, parent: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    device(folder) != device(parent)
}

/// Rejects a link where kbgen needs a temporary file or folder.
pub(crate) fn refuse_link(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        bail!("`{}` is a symbolic link with a name reserved for kbgen; delete it", path.display());
    }
    Ok(())
}

pub(crate) fn sibling_name(name: &OsStr, what: &str) -> OsString {
    let mut sibling_name = OsString::from(".");
    sibling_name.push(name);
    sibling_name.push(".kbgen-");
    sibling_name.push(what);
    sibling_name
}

/// Resolves a path to an absolute one whose parents contain no links; its last components need not exist.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf> {
    let absolute =
        std::path::absolute(path).with_context(|| format!("cannot resolve `{}`", path.display()))?;
    let absolute: PathBuf = absolute.components().collect();
    match (absolute.parent(), absolute.file_name()) {
        (Some(parent), Some(name)) => Ok(canonical(parent)?.join(name)),
        _ => canonical(&absolute),
    }
}

/// Resolves the links in an absolute path whose last components need not exist: these are kept as they are written.
///
/// # Errors
/// If a folder cannot be read, or if a `..` follows a component that does not exist.
pub fn canonical(path: &Path) -> Result<PathBuf> {
    let fails = || format!("cannot resolve `{}`", path.display());
    for ancestor in path.ancestors() {
        match fs::canonicalize(ancestor) {
            Ok(real) => {
                let missing = path.strip_prefix(ancestor).expect("an ancestor is a prefix");
                if missing.components().any(|part| part == Component::ParentDir) {
                    bail!("`{}` contains `..` after a folder that does not exist", path.display());
                }
                // Joining an empty path would add a separator.
                return Ok(missing.components().fold(real, |path, part| path.join(part)));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(fails),
        }
    }
    bail!("{}", fails())
}
