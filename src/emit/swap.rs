//! Puts the new tree in the place of the old one.

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::PathBuf;

use anyhow::{Context, Result};

use crate::emit::place::Place;
use crate::emit::staging::remove_left_over;

/// Publishes the tree in staging and returns where the old one lies now, if there was one.
///
/// # Errors
/// When the disk refuses; the old tree is published then.
pub(crate) fn publish(place: &Place) -> Result<Option<PathBuf>> {
    let Place { folder, staging, aside, .. } = place;
    let fails = || format!("cannot put the new site in the place of `{}`", folder.display());
    if !place.exists() {
        fs::rename(staging, folder).with_context(fails)?;
        return Ok(None);
    }
    match exchange(place) {
        Ok(()) => return Ok(Some(staging.clone())),
        Err(error)
            if error.kind() == ErrorKind::ResourceBusy || error.kind() == ErrorKind::CrossesDevices =>
        {
            return Err(error).with_context(|| {
                format!(
                    "`{}` is a mount point, which cannot be exchanged as a whole: build into a folder below it, \
                     or mount its parent",
                    folder.display()
                )
            });
        }
        Err(error) if !cannot_exchange(&error) => return Err(error).with_context(fails),
        Err(_) => {}
    }
    two_renames(place)?;
    Ok(Some(aside.clone()))
}

/// For a moment there is no folder, but never half of one; [`recover`] mends a kill between the two.
fn two_renames(place: &Place) -> Result<()> {
    let Place { folder, staging, aside, .. } = place;
    let fails = || format!("cannot put the new site in the place of `{}`", folder.display());
    remove_left_over(aside)?;
    fs::rename(folder, aside).with_context(fails)?;
    if let Err(error) = fs::rename(staging, folder) {
        fs::rename(aside, folder)
            .with_context(|| format!("cannot put the old site back: it lies in `{}`", aside.display()))?;
        return Err(error).with_context(fails);
    }
    Ok(())
}

/// Puts the old tree back that a build left aside when it was killed between the two renames of [`publish`];
/// says whether there was one. Asked only when there is no published folder.
///
/// # Errors
/// When the disk refuses.
pub(crate) fn recover(place: &Place) -> Result<bool> {
    match fs::rename(&place.aside, &place.folder) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| format!("cannot put `{}` back", place.aside.display())),
    }
}

/// Exchanges two folders in one step (`renameat2` with `RENAME_EXCHANGE`; `RENAME_SWAP` on macOS).
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
fn exchange(place: &Place) -> Result<(), Error> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    Ok(renameat_with(CWD, &place.staging, CWD, &place.folder, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn exchange(_place: &Place) -> Result<(), Error> {
    Err(ErrorKind::Unsupported.into())
}

/// Whether the system or the file system knows no exchange (old kernels, some network file systems).
fn cannot_exchange(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::emit::{Permission, Target};

    fn read(folder: &Path) -> String {
        fs::read_to_string(folder.join("index.html")).unwrap()
    }

    #[test]
    fn without_an_exchange_the_old_tree_is_set_aside_or_put_back() {
        let root = tempfile::TempDir::new().unwrap();
        let folder = &root.path().join("public");
        let place = Place::find(&Target { folder, sources: &[], permission: Permission::OnlyOurs }).unwrap();
        for (at, text) in [(&place.folder, "old"), (&place.staging, "new"), (&place.aside, "older")] {
            fs::create_dir(at).unwrap();
            fs::write(at.join("index.html"), text).unwrap();
        }
        two_renames(&place).unwrap();
        assert_eq!((read(&place.folder), read(&place.aside)), ("new".into(), "old".into()));
        two_renames(&place).unwrap_err();
        assert_eq!(read(&place.folder), "new", "there was no tree to publish, so the one before is put back");
    }
}
