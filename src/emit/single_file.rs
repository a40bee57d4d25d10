//! Writes one file atomically, and never over a file that kbgen did not make.

use std::fs::{self, File, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::emit::Permission;
use crate::emit::paths::{resolve, sibling_name};
use crate::emit::staging;

/// Where to write one file.
#[derive(Debug, Clone, Copy)]
pub struct SingleFile<'a> {
    /// The file; it and its parent folders are created if missing.
    pub path: &'a Path,
    /// First bytes of every file that kbgen makes.
    pub mark: &'a [u8],
    /// Files and folders of the site's sources: the file may not be one of them or inside one.
    pub sources: &'a [PathBuf],
    /// Permission to replace a file that kbgen did not make.
    pub permission: Permission,
}

impl SingleFile<'_> {
    /// Rejects a path with anything but a file that kbgen made.
    ///
    /// # Errors
    /// If it is a folder, a source, or a foreign file that may not be replaced.
    pub fn check_owner(&self) -> Result<()> {
        let (asked, file) = (self.path.display(), resolve(self.path)?);
        for source in self.sources {
            if file.starts_with(resolve(source)?) {
                bail!("`{asked}` is a source file of the site; choose another file");
            }
        }
        match fs::symlink_metadata(&file) {
            Ok(found) if found.is_dir() => bail!("`{asked}` is a folder; pass a file name"),
            Ok(_) if self.permission == Permission::TakeOver => Ok(()),
            Ok(found) if found.is_file() && self.was_generated(&file)? => Ok(()),
            Ok(_) => bail!(
                "`{asked}` is not a bundle created by kbgen; choose another file, or pass `--force` to overwrite it"
            ),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error).with_context(|| format!("cannot access `{asked}`")),
        }
    }

    fn was_generated(&self, file: &Path) -> Result<bool> {
        let mut start = Vec::new();
        let opened = File::open(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        let read = opened.take(self.mark.len() as u64).read_to_end(&mut start);
        read.with_context(|| format!("cannot read `{}`", file.display()))?;
        Ok(start == self.mark)
    }

    /// Writes the file under a temporary name and renames it. It keeps its permissions.
    ///
    /// # Errors
    /// As [`SingleFile::check_owner`], and on I/O errors; the old file is then intact.
    pub fn write(&self, bytes: &[u8]) -> Result<()> {
        self.write_like(self.path, bytes)
    }

    /// Writes the file with the permissions of `model`, or default ones if `model` does not exist.
    ///
    /// # Errors
    /// As [`SingleFile::write`].
    pub fn write_like(&self, model: &Path, bytes: &[u8]) -> Result<()> {
        self.check_owner()?;
        let file = resolve(self.path)?;
        let (Some(folder), Some(name)) = (file.parent(), file.file_name()) else {
            bail!("`{}` is not a file", self.path.display());
        };
        fs::create_dir_all(folder).with_context(|| format!("cannot create folder `{}`", folder.display()))?;
        let permissions = fs::metadata(model).ok().map(|found| found.permissions());
        let beside = folder.join(sibling_name(name, "new"));
        staging::remove_leftover_file(&beside)?;
        let written = write_through(&beside, permissions, bytes).and_then(|()| fs::rename(&beside, &file));
        if written.is_err() {
            // Ignored: the first error explains the failure.
            let _ = fs::remove_file(&beside);
        }
        written.with_context(|| format!("cannot write `{}`", self.path.display()))
    }
}

fn write_through(path: &Path, permissions: Option<Permissions>, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = File::create_new(path)?;
    // Before the text: nobody reads what the old file hid.
    permissions.map_or(Ok(()), |permissions| file.set_permissions(permissions))?;
    file.write_all(bytes)?;
    file.sync_all()
}
