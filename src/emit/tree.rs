//! An open folder: paths are resolved relative to it, which saves the system the lookup of its own path.

use std::io;
use std::path::Path;

pub(crate) use system::Tree;

use crate::emit::record::Stamp;

#[cfg(unix)]
mod system {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::fs::{AtFlags, FileType, Mode, OFlags, linkat, mkdirat, open, statat, unlinkat};

    use super::{Path, Stamp, io};

    /// An open folder.
    #[derive(Debug)]
    pub(crate) struct Tree(OwnedFd);

    impl Tree {
        /// Opens a folder.
        pub(crate) fn open(folder: &Path) -> io::Result<Self> {
            Ok(Self(open(folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
        }

        /// Returns size and modification time of a file in the folder; `None` if it is missing or not a regular file.
        pub(crate) fn stamp(&self, path: &Path) -> Option<Stamp> {
            let found = statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
            let seconds = u64::try_from(found.st_mtime).ok().filter(|_| is_file)?;
            let modified = Duration::new(seconds, u32::try_from(found.st_mtime_nsec).ok()?);
            Some(Stamp { length: u64::try_from(found.st_size).ok()?, modified })
        }

        /// Makes a folder in it.
        pub(crate) fn make_folder(&self, path: &Path) -> io::Result<()> {
            Ok(mkdirat(&self.0, path, Mode::from_raw_mode(0o777))?)
        }

        /// Creates a hard link to the file with the same path in another folder.
        pub(crate) fn link(&self, from: &Self, path: &Path) -> io::Result<()> {
            Ok(linkat(&from.0, path, &self.0, path, AtFlags::empty())?)
        }

        /// Removes a file or a link.
        pub(crate) fn remove_file(&self, path: &Path) -> io::Result<()> {
            Ok(unlinkat(&self.0, path, AtFlags::empty())?)
        }

        /// Removes an empty folder.
        pub(crate) fn remove_folder(&self, path: &Path) -> io::Result<()> {
            Ok(unlinkat(&self.0, path, AtFlags::REMOVEDIR)?)
        }
    }
}

#[cfg(not(unix))]
mod system {
    use std::fs;
    use std::path::PathBuf;
    use std::time::SystemTime;

    use super::{Path, Stamp, io};

    /// An open folder.
    #[derive(Debug)]
    pub(crate) struct Tree(PathBuf);

    impl Tree {
        /// Opens a folder.
        pub(crate) fn open(folder: &Path) -> io::Result<Self> {
            Ok(Self(folder.to_path_buf()))
        }

        /// Returns size and modification time of a file in the folder; `None` if it is missing or not a regular file.
        pub(crate) fn stamp(&self, path: &Path) -> Option<Stamp> {
            let found = fs::symlink_metadata(self.0.join(path)).ok().filter(fs::Metadata::is_file)?;
            let modified = found.modified().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
            Some(Stamp { length: found.len(), modified })
        }

        /// Makes a folder in it.
        pub(crate) fn make_folder(&self, path: &Path) -> io::Result<()> {
            fs::create_dir(self.0.join(path))
        }

        /// Creates a hard link to the file with the same path in another folder.
        pub(crate) fn link(&self, from: &Self, path: &Path) -> io::Result<()> {
            fs::hard_link(from.0.join(path), self.0.join(path))
        }

        /// Removes a file or a link.
        pub(crate) fn remove_file(&self, path: &Path) -> io::Result<()> {
            fs::remove_file(self.0.join(path))
        }

        /// Removes an empty folder.
        pub(crate) fn remove_folder(&self, path: &Path) -> io::Result<()> {
            fs::remove_dir(self.0.join(path))
        }
    }
}
