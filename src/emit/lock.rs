//! Prevents two builds from writing to one folder at the same time; a killed build leaves no lock behind.

use std::fs::File;

use anyhow::{Result, bail};

use crate::emit::paths::OutputPaths;
#[cfg(windows)]
use crate::emit::paths::refuse_link;
use crate::emit::swap;

/// Maximum number of retries while other builds replace the folder.
#[cfg(unix)]
const ATTEMPTS: usize = 100;

/// A lock on the output folder. The operating system releases it when the process ends, even if it is killed.
#[derive(Debug, Default)]
pub(crate) struct OutputLock {
    files: Vec<File>,
    /// Whether the published folder existed when it was locked.
    published: bool,
}

/// Locks the published folder and recovers from an interrupted swap.
///
/// # Errors
/// If another build holds the lock, or on I/O errors.
pub(crate) fn lock(paths: &OutputPaths) -> Result<OutputLock> {
    let mut lock = OutputLock::default();
    #[cfg(windows)]
    lock.hold_lock_file(paths)?;
    lock.lock_folder(paths, &paths.folder)?;
    if !paths.exists() {
        swap::recover(paths)?;
        lock.lock_folder(paths, &paths.folder)?;
    }
    lock.published = paths.exists();
    Ok(lock)
}

#[cfg(unix)]
impl Drop for OutputLock {
    /// Unlocks explicitly. Closing the files is not enough: a child process that is being started from another thread
    /// inherits them until it calls `exec`, and a lock lasts as long as any copy (flock(2)).
    fn drop(&mut self) {
        for file in &self.files {
            let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
        }
    }
}

impl OutputLock {
    /// Fails if another build has published the folder since it was found missing.
    pub(crate) fn check_unchanged(&self, paths: &OutputPaths) -> Result<()> {
        if paths.exists() == self.published { Ok(()) } else { busy_error(paths) }
    }

    /// Locks one more folder; a missing folder needs no lock.
    ///
    /// # Errors
    /// If another build holds the lock.
    #[cfg(unix)]
    pub(crate) fn lock_folder(&mut self, paths: &OutputPaths, folder: &std::path::Path) -> Result<()> {
        use std::os::unix::fs::MetadataExt;

        use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
        use rustix::io::Errno;

        // Does not follow a link and does not wait for a pipe.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            // If it is not a folder or cannot be opened, the later write reports it.
            let Ok(file) = open(folder, flags, Mode::empty()).map(File::from) else { return Ok(()) };
            // Other errors are ignored: some network file systems have no locks.
            if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
                return busy_error(paths);
            }
            // Another build may have replaced the folder between the two steps above.
            let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
            let here = std::fs::symlink_metadata(folder).map(identity).ok();
            if here == file.metadata().map(identity).ok() {
                self.files.push(file);
                return Ok(());
            }
        }
        busy_error(paths)
    }

    /// Does nothing: on this system [`OutputLock::hold_lock_file`] locks all folders, or nothing can.
    #[cfg(not(unix))]
    pub(crate) fn lock_folder(&mut self, _place: &OutputPaths, _folder: &std::path::Path) -> Result<()> {
        Ok(())
    }

    /// Opens the lock file exclusively; the system removes it when the process ends.
    #[cfg(windows)]
    fn hold_lock_file(&mut self, paths: &OutputPaths) -> Result<()> {
        use std::os::windows::fs::OpenOptionsExt;

        // https://learn.microsoft.com/windows/win32/fileio/file-attribute-constants and CreateFileW
        const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
        const ERROR_SHARING_VIOLATION: i32 = 32;
        refuse_link(&paths.lock)?;
        let mut options = File::options();
        options.write(true).create(true).truncate(true).share_mode(0).custom_flags(FILE_FLAG_DELETE_ON_CLOSE);
        match options.open(&paths.lock) {
            Ok(file) => self.files.push(file),
            Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => return busy_error(paths),
            Err(error) => bail!("cannot write `{}`: {error}", paths.lock.display()),
        }
        Ok(())
    }
}

/// Returns the error for a folder that another build is writing to.
pub(crate) fn busy_error(paths: &OutputPaths) -> Result<()> {
    bail!("another build is writing `{}`; wait until it is done", paths.folder.display())
}
