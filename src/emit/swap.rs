//! Swaps the new tree with the published one.

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::Path;

use anyhow::{Context, Result};

use crate::emit::manifest::MANIFEST_FILE;
use crate::emit::paths::{OutputPaths, SwapMode, refuse_link};
use crate::emit::plan::Plan;

/// Publishes the staging folder. The old tree, if any, is in the staging folder afterwards.
///
/// # Errors
/// On I/O errors. The old tree is then still published, except after a partial swap of entries, which the next build
/// repairs.
pub(crate) fn publish(paths: &OutputPaths, plan: &Plan) -> Result<()> {
    let OutputPaths { folder, staging, aside, .. } = paths;
    let done = if !paths.exists() {
        fs::rename(staging, folder)
    } else if paths.swap_mode == SwapMode::Whole {
        replace(staging, folder, aside)
    } else {
        return swap_entries(paths, plan);
    };
    done.with_context(|| format!("cannot replace `{}` with the new site", folder.display()))
}

/// Swaps the top-level entries. For about a millisecond the site is a mix of both builds, though every file is
/// complete. After a kill in that time it stays so until the next build, which finds the files of both in the
/// manifest.
fn swap_entries(paths: &OutputPaths, plan: &Plan) -> Result<()> {
    let OutputPaths { folder, staging, aside, .. } = paths;
    let put = |name: &Path| {
        let (new, old) = (staging.join(name), folder.join(name));
        let result = match (fs::symlink_metadata(&new), fs::symlink_metadata(&old)) {
            (Ok(_), Ok(_)) => replace(&new, &old, aside),
            (Ok(_), Err(_)) => fs::rename(&new, &old),
            (Err(_), Ok(_)) => fs::rename(&old, &new),
            (Err(_), Err(_)) => Ok(()),
        };
        result.with_context(|| format!("cannot move the new `{}` into place", old.display()))
    };
    let between = staging.join(format!("{MANIFEST_FILE}-between"));
    fs::write(&between, plan.manifest_between().text())
        .and_then(|()| fs::rename(&between, folder.join(MANIFEST_FILE)))
        .with_context(|| format!("cannot write `{}`", folder.join(MANIFEST_FILE).display()))?;
    for name in plan.entries() {
        put(name)?;
    }
    put(Path::new(MANIFEST_FILE))
}

/// Swaps `new` and `old`, atomically where the system supports it.
///
/// Elsewhere `old` is missing for a moment but never incomplete; [`recover`] repairs a kill in that moment.
fn replace(new: &Path, old: &Path, aside: &Path) -> Result<(), Error> {
    match exchange(new, old) {
        Err(error) if cannot_exchange(&error) => swap_with_renames(new, old, aside),
        result => result,
    }
}

fn swap_with_renames(new: &Path, old: &Path, aside: &Path) -> Result<(), Error> {
    // Keeps its own name below `aside`, so that [`recover`] can restore it.
    let waiting = aside.join(old.file_name().expect("what is replaced has a name"));
    fs::create_dir_all(aside)?;
    fs::rename(old, &waiting)?;
    if let Err(error) = fs::rename(new, old) {
        fs::rename(&waiting, old)?;
        return Err(error);
    }
    fs::rename(&waiting, new)?;
    fs::remove_dir(aside)
}

/// Restores entries that a killed build had set aside.
///
/// # Errors
/// On I/O errors.
pub(crate) fn recover(paths: &OutputPaths) -> Result<()> {
    let OutputPaths { folder, aside, swap_mode, .. } = paths;
    let fails = || format!("cannot restore the files in `{}`", aside.display());
    refuse_link(aside)?;
    let waiting = match fs::read_dir(aside) {
        // A file in its place is reported when it is removed.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        waiting => waiting.with_context(fails)?,
    };
    for entry in waiting {
        let entry = entry.with_context(fails)?;
        let home = match swap_mode {
            SwapMode::Whole if folder.ends_with(entry.file_name()) => folder.clone(),
            SwapMode::Whole => continue,
            SwapMode::ByEntry => folder.join(entry.file_name()),
        };
        if fs::symlink_metadata(&home).is_err() {
            fs::rename(entry.path(), home).with_context(fails)?;
        }
    }
    Ok(())
}

/// Swaps two folders or files atomically (`renameat2` with `RENAME_EXCHANGE`; `RENAME_SWAP` on macOS).
#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
fn exchange(one: &Path, other: &Path) -> Result<(), Error> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn exchange(_one: &Path, _other: &Path) -> Result<(), Error> {
    Err(ErrorKind::Unsupported.into())
}

/// Returns whether the system or file system does not support atomic swaps (old kernels, some network file systems).
fn cannot_exchange(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Unsupported | ErrorKind::InvalidInput)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(at: &Path, text: &str) {
        fs::create_dir(at).unwrap();
        fs::write(at.join("index.html"), text).unwrap();
    }

    fn read(folder: &Path) -> String {
        fs::read_to_string(folder.join("index.html")).unwrap()
    }

    #[test]
    fn renames_swap_both_or_restore_the_old_one() {
        let root = tempfile::TempDir::new().unwrap();
        let [old, new, aside] = ["old", "new", "aside"].map(|name| root.path().join(name));
        tree(&old, "old");
        tree(&new, "new");
        swap_with_renames(&new, &old, &aside).unwrap();
        assert_eq!((read(&old), read(&new)), ("new".into(), "old".into()));
        assert!(!aside.exists());
        fs::remove_dir_all(&new).unwrap();
        swap_with_renames(&new, &old, &aside).unwrap_err();
        assert_eq!(read(&old), "new", "there was none to put in its place");
    }

    #[test]
    fn recovers_after_a_kill() {
        let root = tempfile::TempDir::new().unwrap();
        let folder = root.path().join("public");
        for (swap_mode, home) in
            [(SwapMode::Whole, folder.clone()), (SwapMode::ByEntry, folder.join("errors"))]
        {
            let paths = OutputPaths {
                swap_mode,
                staging: root.path().join("new"),
                aside: root.path().join("aside"),
                lock: root.path().join("lock"),
                folder: folder.clone(),
            };
            fs::create_dir_all(&paths.aside).unwrap();
            tree(&paths.aside.join(home.file_name().unwrap()), "old");
            recover(&paths).unwrap();
            assert_eq!(read(&home), "old");
            recover(&paths).unwrap();
        }
    }
}
