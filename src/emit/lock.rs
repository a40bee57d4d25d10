//! Keeps two builds from writing one folder at once; a killed build leaves no lock behind.

use std::fs::File;

use anyhow::{Result, bail};

use crate::emit::paths::OutputPaths;
#[cfg(windows)]
use crate::emit::paths::refuse_link;
use crate::emit::swap;

/// Other builds may exchange a folder so many times while this one claims it.
#[cfg(unix)]
const ATTEMPTS: usize = 100;

/// Held while a build writes; the system lets go of it when the process ends, however it ends.
#[derive(Debug, Default)]
pub(crate) struct OutputLock {
    files: Vec<File>,
    /// Whether there was a published folder when it was claimed.
    published: bool,
}

/// Claims the published folder, after what a killed build left half exchanged is mended.
///
/// # Errors
/// When another build holds it, or the disk refuses.
pub(crate) fn lock(paths: &OutputPaths) -> Result<OutputLock> {
    let mut lock = OutputLock::default();
    #[cfg(windows)]
    lock.hold_lock_file(paths)?;
    lock.hold(paths, &paths.folder)?;
    if !paths.exists() {
        swap::recover(paths)?;
        lock.hold(paths, &paths.folder)?;
    }
    lock.published = paths.exists();
    Ok(lock)
}

#[cfg(unix)]
impl Drop for OutputLock {
    /// Closing the files is not enough: a program that is just being started from another thread holds copies of
    /// them until it runs, and a lock lasts as long as any copy (flock(2)).
    fn drop(&mut self) {
        for file in &self.files {
            let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
        }
    }
}

impl OutputLock {
    /// Refuses to go on when another build published the folder after it was found missing.
    pub(crate) fn check_unchanged(&self, paths: &OutputPaths) -> Result<()> {
        if paths.exists() == self.published { Ok(()) } else { busy(paths) }
    }

    /// Claims one more folder of the place; one that does not exist needs no claim.
    ///
    /// # Errors
    /// When another build holds it.
    #[cfg(unix)]
    pub(crate) fn hold(&mut self, paths: &OutputPaths, folder: &std::path::Path) -> Result<()> {
        use std::os::unix::fs::MetadataExt;

        use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
        use rustix::io::Errno;

        // A link is not followed, and a pipe is not waited for.
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..ATTEMPTS {
            // What is not a folder, or cannot be opened, is reported by whoever writes to it.
            let Ok(file) = open(folder, flags, Mode::empty()).map(File::from) else { return Ok(()) };
            // Any other error: some network file systems have no locks, and a build there goes on without.
            if flock(&file, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
                return busy(paths);
            }
            // Another build may have put a new folder in this place between the two steps above.
            let identity = |found: std::fs::Metadata| (found.dev(), found.ino());
            let here = std::fs::symlink_metadata(folder).map(identity).ok();
            if here == file.metadata().map(identity).ok() {
                self.files.push(file);
                return Ok(());
            }
        }
        busy(paths)
    }

    /// Nothing: on this system [`OutputLock::hold_lock_file`] holds the whole place, or nothing can.
    #[cfg(not(unix))]
    pub(crate) fn hold(&mut self, _place: &OutputPaths, _folder: &std::path::Path) -> Result<()> {
        Ok(())
    }

    /// Opens the lock file for this process alone; the system removes it when the process ends.
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
            Err(error) if error.raw_os_error() == Some(ERROR_SHARING_VIOLATION) => return busy(paths),
            Err(error) => bail!("cannot write `{}`: {error}", paths.lock.display()),
        }
        Ok(())
    }
}

/// The error of the build that comes second.
pub(crate) fn busy(paths: &OutputPaths) -> Result<()> {
    bail!("another build is writing `{}`: wait until it is done", paths.folder.display())
}
