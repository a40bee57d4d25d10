//! Where the output folder really lies, and whether kbgen may write there.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::emit::manifest::Manifest;
use crate::emit::{OutputTarget, Permission};

/// The output folder and its neighbors, as absolute paths without links.
#[derive(Debug, Clone)]
pub(crate) struct OutputPaths {
    /// The published folder; it may not exist yet.
    pub(crate) folder: PathBuf,
    /// How the new tree takes the place of the old one.
    pub(crate) swap_mode: SwapMode,
    /// Where the new tree is made, and where the old one lies after the exchange.
    pub(crate) staging: PathBuf,
    /// Where old things wait for a moment on systems that cannot exchange two of them.
    pub(crate) aside: PathBuf,
    /// Held open while a build runs, on systems that cannot lock a folder.
    #[cfg_attr(not(windows), expect(dead_code, reason = "other systems lock the folders themselves"))]
    pub(crate) lock: PathBuf,
}

/// How the new tree takes the place of the old one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SwapMode {
    /// Both lie beside each other, and are exchanged in one step.
    Whole,
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix tells which folders these are"))]
    /// The folder cannot be moved: what lies directly in it is exchanged, one entry after the other.
    ByEntry,
}

impl OutputPaths {
    /// Resolves the target's folder and makes its parent.
    ///
    /// # Errors
    /// When the folder is a link, is no folder, or overlaps a source of the site.
    pub(crate) fn find(target: &OutputTarget) -> Result<Self> {
        let asked = target.folder.display();
        let folder = resolve(target.folder)?;
        for source in target.sources {
            let source = resolve(source)?;
            if source.starts_with(&folder) || folder.starts_with(&source) {
                bail!(
                    "`{asked}` cannot be the output folder, because the site is made from `{}`: choose a folder apart from it",
                    source.display()
                );
            }
        }
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            bail!("`{asked}` cannot be the output folder: choose a folder below it");
        };
        match fs::symlink_metadata(&folder) {
            Ok(found) if found.is_symlink() => bail!(
                "the output folder `{asked}` is a symbolic link, which kbgen does not follow: \
                 name the folder that it points to"
            ),
            Ok(found) if !found.is_dir() => bail!("`{asked}` is a file: choose another output folder"),
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => {
                return Err(error).with_context(|| format!("cannot look at `{}`", folder.display()));
            }
        }
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot make the folder `{}`", parent.display()))?;
        let beside = |what: &str| parent.join(sibling_name(name, what));
        let (lock, swap_mode) = (beside("lock"), swap_mode(&folder, parent));
        let (staging, aside) = match swap_mode {
            SwapMode::Whole => (beside("new"), beside("old")),
            SwapMode::ByEntry => (folder.join(".kbgen-new"), folder.join(".kbgen-old")),
        };
        Ok(Self { swap_mode, staging, aside, lock, folder })
    }

    /// Whether the published folder is there.
    pub(crate) fn exists(&self) -> bool {
        self.folder.is_dir()
    }

    /// Refuses a folder that holds anything and was not made by kbgen, unless it may be taken over.
    pub(crate) fn check_owner(&self, permission: Permission) -> Result<()> {
        let folder = &self.folder;
        if permission == Permission::TakeOver || !self.exists() || Manifest::read(folder)?.is_some() {
            return Ok(());
        }
        let mut entries =
            fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
        // A file system is born with this folder.
        let is_foreign = |name: &OsStr| name != "lost+found";
        if entries.any(|entry| entry.map_or(true, |entry| is_foreign(&entry.file_name()))) {
            bail!(
                "`{}` holds files that kbgen did not write: choose another folder, \
                 or build with `--force` to keep them and write the site beside them",
                folder.display()
            );
        }
        Ok(())
    }
}

/// A mount point cannot be moved, and neither can a folder whose parent may not be written to.
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

/// Whether another file system begins here, or the same one is shown a second time (statx(2); since Linux 5.8).
#[cfg(any(target_os = "linux", target_os = "android"))]
fn is_mount_point(folder: &Path, _parent: &Path) -> bool {
    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

    statx(CWD, folder, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty())
        .is_ok_and(|found| found.stx_attributes.contains(StatxAttributes::MOUNT_ROOT))
}

/// Whether another file system begins here.
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
fn is_mount_point(folder: &Path, parent: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let device = |path: &Path| fs::metadata(path).map(|found| found.dev()).ok();
    device(folder) != device(parent)
}

/// Refuses a link in the place of a temporary file or folder: it could lead anywhere.
pub(crate) fn refuse_link(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        bail!(
            "`{}` is a symbolic link, and kbgen needs this name for its own files: delete it",
            path.display()
        );
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

/// The absolute path without links in its parents; its last parts need not exist.
pub(crate) fn resolve(path: &Path) -> Result<PathBuf> {
    let absolute =
        std::path::absolute(path).with_context(|| format!("cannot resolve `{}`", path.display()))?;
    let absolute: PathBuf = absolute.components().collect();
    let fails = || format!("cannot resolve `{}`", path.display());
    let (Some(parent), Some(name)) = (absolute.parent(), absolute.file_name()) else {
        return fs::canonicalize(&absolute).with_context(fails);
    };
    // The deepest folder that exists is resolved by the system, the rest is taken as it is written.
    for ancestor in parent.ancestors() {
        match fs::canonicalize(ancestor) {
            Ok(real) => {
                let missing = parent.strip_prefix(ancestor).expect("an ancestor is a prefix");
                if missing.components().any(|part| part == Component::ParentDir) {
                    bail!("`{}` goes up from a folder that does not exist", path.display());
                }
                return Ok(real.join(missing).join(name));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(fails),
        }
    }
    bail!("{}", fails())
}
