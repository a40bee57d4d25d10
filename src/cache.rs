//! Stores results of earlier runs in a private folder of the user, which can be deleted at any time.
//!
//! The folder is never inside the site: its content is trusted, and a site may contain files from many people. Files
//! are written under a temporary name and renamed, so concurrent builds never read partial files; the last writer
//! wins. A damaged file, or one of another kbgen version, is ignored. Links are never followed.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata};
use std::hash::{BuildHasher, Hasher};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::engine::{Engine, Kind, MAX_PACK_BYTES, PackPart};
use crate::files::Key;

/// Tag file that excludes the folder from backups (<https://bford.info/cachedir/>).
const SIGN: (&str, &str) = (
    "CACHEDIR.TAG",
    "Signature: 8a477f597d28d172789f06886806bc55\n# Made by kbgen; delete it as you like.\n",
);

/// File with the keys of the published files.
const RECORD: &str = "published";

/// Age after which a temporary file is considered abandoned.
const HOUR: Duration = Duration::from_secs(3600);

/// Maximum length of a file. The hash list of a pack is at most as long as its results.
const MAX_FILE_BYTES: u64 = 2 * MAX_PACK_BYTES as u64;

/// The cache folder of one site.
#[derive(Debug, Clone)]
pub struct Cache {
    /// Folder for all sites, canonicalized.
    base: PathBuf,
    /// Folder of this site below `base`.
    folder: PathBuf,
}

/// Returns the default folder for all sites: `$XDG_CACHE_HOME/kbgen`, or the platform's equivalent. `None` if
/// `variable` returns neither a cache folder nor a home folder.
pub fn default_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let absolute = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| match std::env::consts::OS {
        "windows" => absolute("LOCALAPPDATA"),
        "macos" => Some(absolute("HOME")?.join("Library/Caches")),
        _ => Some(absolute("HOME")?.join(".cache")),
    });
    Some(caches?.join("kbgen"))
}

impl Cache {
    /// Opens the cache of the site in `root` below the folder `base`. Creates nothing until the first write.
    ///
    /// # Errors
    /// If the folder is inside the site, is a link, or is accessible to other users.
    pub fn open(base: &Path, root: &Path) -> Result<Self> {
        let written = absolute(base)?;
        let root = fs::canonicalize(root).with_context(|| format!("cannot resolve `{}`", root.display()))?;
        let real = canonicalize(&written)?;
        if [&written, &real].into_iter().any(|base| base.starts_with(&root)) {
            bail!(
                "the cache `{}` lies in the site, where others can change it: choose a folder outside it",
                base.display()
            );
        }
        refuse_link(&written)?;
        let key = Key::of([root.as_os_str().as_encoded_bytes()]).to_string();
        let cache = Self { folder: real.join(key), base: real };
        refuse_foreign(&cache.folder)?;
        Ok(cache)
    }

    /// Returns an engine with the results of earlier runs; each file is read on first use.
    pub fn engine(&self) -> Engine {
        let cache = self.clone();
        Engine::new(move |kind, part| cache.read(&name(kind, part)))
    }

    /// Saves the new results of `engine` for later runs.
    ///
    /// # Errors
    /// On I/O errors; the previous files are then intact or removed.
    pub fn save(&self, engine: &Engine) -> Result<()> {
        for kind in Kind::ALL {
            if let Some((part, pack)) = engine.pack(kind) {
                self.write(&name(kind, part), &pack)?;
                if part == PackPart::Whole {
                    // The full pack contains these results too; a leftover only wastes space.
                    let _ = fs::remove_file(self.path(&name(kind, PackPart::Later)));
                }
            }
        }
        Ok(())
    }

    /// Returns the record that [`Cache::save_record`] wrote, unverified.
    pub fn record(&self) -> Option<String> {
        String::from_utf8(self.read(RECORD)?).ok()
    }

    /// Saves the record of the published folder for the next build.
    ///
    /// # Errors
    /// As [`Cache::keep`].
    pub fn save_record(&self, record: &str) -> Result<()> {
        self.write(RECORD, record.as_bytes())
    }

    /// Returns the path of a file in the folder; the file need not exist.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Returns the content of a cache file; `None` if it is missing, a link, too long, or owned by someone else.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        refuse_foreign(&self.folder).ok()?;
        let file = open_plain(&self.path(name)).ok()?;
        let is_ours = file.metadata().is_ok_and(|found| found.is_file() && found.len() <= MAX_FILE_BYTES);
        let mut bytes = Vec::new();
        (is_ours && file.take(MAX_FILE_BYTES).read_to_end(&mut bytes).is_ok()).then_some(bytes)
    }

    /// Writes a file atomically.
    ///
    /// # Errors
    /// On I/O errors, or if the folder is accessible to other users.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.make_folder()?;
        let file = self.path(name);
        // A random name that must not exist, so that no prepared link can be followed.
        let beside = file.with_extension(format!("{:016x}.new", RandomState::new().build_hasher().finish()));
        let written = File::create_new(&beside)
            .and_then(|mut open| open.write_all(bytes))
            .and_then(|()| fs::rename(&beside, &file));
        self.clean(&file);
        if written.is_err() {
            // Ignored: the first error explains the failure.
            let _ = fs::remove_file(&beside);
        }
        written.with_context(|| format!("cannot write `{}`", file.display()))
    }

    fn make_folder(&self) -> Result<()> {
        let fails = |path: &Path| format!("cannot make `{}`", path.display());
        private(DirBuilder::new().recursive(true)).create(&self.base).with_context(|| fails(&self.base))?;
        match private(&mut DirBuilder::new()).create(&self.folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| fails(&self.folder));
            }
            _ => {}
        }
        refuse_foreign(&self.folder)?;
        let (name, text) = SIGN;
        if let Ok(mut file) = File::create_new(self.path(name)) {
            // Ignored: the cache also works without its tag file.
            let _ = file.write_all(text.as_bytes());
        }
        Ok(())
    }

    /// Removes temporary files of interrupted runs: those more than an hour older than the file just written. Errors
    /// are ignored; a later run tries again.
    fn clean(&self, written: &Path) {
        let modified = |path: &Path| fs::symlink_metadata(path).and_then(|found| found.modified());
        let (Ok(entries), Ok(now)) = (fs::read_dir(&self.folder), modified(written)) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let is_old = modified(&path).is_ok_and(|then| then + HOUR < now);
            if is_old && path.extension().is_some_and(|extension| extension == "new") {
                let _ = fs::remove_file(path);
            }
        }
    }
}

fn name(kind: Kind, part: PackPart) -> String {
    let ending = match part {
        PackPart::Whole => "pack",
        PackPart::Later => "later",
    };
    format!("{}.{ending}", kind.name())
}

fn absolute(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path);
    absolute
        .map(|path| path.components().collect())
        .with_context(|| format!("cannot resolve `{}`", path.display()))
}

/// Canonicalizes a path; its last components need not exist.
fn canonicalize(path: &Path) -> Result<PathBuf> {
    for ancestor in path.ancestors() {
        match fs::canonicalize(ancestor) {
            Ok(real) => {
                let missing = path.strip_prefix(ancestor).expect("an ancestor is a prefix");
                return Ok(missing.components().fold(real, |path, part| path.join(part)));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(|| format!("cannot resolve `{}`", path.display())),
        }
    }
    bail!("cannot resolve `{}`", path.display())
}

fn refuse_link(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        bail!("the cache `{}` is a symbolic link: name the folder that it points to", path.display());
    }
    Ok(())
}

/// Rejects a folder that other users could have written to; a missing folder is accepted.
fn refuse_foreign(folder: &Path) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if !found.is_dir() => bail!("`{}` is not a folder: delete it", folder.display()),
        Ok(found) if !is_private(&found) => {
            bail!("others can use the cache `{}`: delete it", folder.display())
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", folder.display())),
    }
}

/// Returns whether only the user has access to the folder.
#[cfg(unix)]
fn is_private(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0
}

/// Returns whether the folder belongs to the user. Windows profiles are private by default.
#[cfg(not(unix))]
fn is_private(_found: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    use std::os::unix::fs::DirBuilderExt;

    builder.mode(0o700)
}

#[cfg(not(unix))]
fn private(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

/// Opens a file without following links and without blocking on a named pipe.
#[cfg(unix)]
fn open_plain(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_plain(path: &Path) -> std::io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn uses_the_cache_folder_of_the_system() {
        let with = |pairs: &'static [(&str, &str)]| {
            let find =
                |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into());
            default_folder(find).map(|path| path.display().to_string())
        };
        assert_eq!(with(&[("XDG_CACHE_HOME", "/c"), ("HOME", "/h")]).as_deref(), Some("/c/kbgen"));
        assert_eq!(with(&[("HOME", "/h")]).as_deref(), Some("/h/.cache/kbgen"));
        assert_eq!(with(&[("XDG_CACHE_HOME", "c"), ("HOME", "/h")]).as_deref(), Some("/h/.cache/kbgen"));
        assert_eq!(with(&[]), None);
        assert_eq!(with(&[("HOME", "")]), None);
    }
}
