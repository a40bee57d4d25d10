//! Stores results of earlier runs in a private folder of the user, which can be deleted at any time.
//!
//! The folder is never inside the site: its content is trusted, and a site may contain files from many people. Files
//! are written under a temporary name and renamed, so concurrent builds never read partial files; the last writer
//! wins. A damaged file, or one of another kbgen version, is ignored. Links are never followed.

use std::collections::hash_map::RandomState;
use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::emit::canonical;
use crate::engine::{Engine, Kind, MAX_PACK_BYTES, PackPart};
use crate::files::Key;

/// Tag that excludes the folder from backups (<https://bford.info/cachedir/>).
const CACHEDIR_TAG: (&str, &str) = (
    "CACHEDIR.TAG",
    "Signature: 8a477f597d28d172789f06886806bc55\n# Made by kbgen; delete it as you like.\n",
);

/// Name of the record of the published folder.
const RECORD: &str = "published";

/// Age after which a temporary file is left over.
const HOUR: Duration = Duration::from_secs(3600);

/// Maximum file size. Besides results, files contain only keys.
const MAX_FILE_BYTES: u64 = 2 * MAX_PACK_BYTES as u64;

/// Cache of one site.
#[derive(Debug, Clone)]
pub struct Cache {
    /// Folder of the caches of all sites, with links resolved.
    base: PathBuf,
    /// Folder of the cache of this site.
    folder: PathBuf,
}

/// Returns the default folder of all caches: `$XDG_CACHE_HOME/kbgen` or the convention of the system. `None` without
/// these and without a home folder.
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
    /// Opens the cache of the site in `root`, in the folder `base` of all caches. Creates no files.
    ///
    /// # Errors
    /// If the folder is inside the site, is a link, or is accessible to other users.
    pub fn open(base: &Path, root: &Path) -> Result<Self> {
        let root = fs::canonicalize(root).with_context(|| format!("cannot resolve `{}`", root.display()))?;
        let written = absolute(base)?;
        let resolved = canonical(&written)?;
        if [&written, &resolved].into_iter().any(|base| base.starts_with(&root)) {
            bail!(
                "the cache folder `{}` is inside the site, where others can change it; choose a folder outside the site",
                base.display()
            );
        }
        Self::open_folder(base, &Key::of([root.as_os_str().as_encoded_bytes()]).to_string())
    }

    /// Opens the cache of the embedded knowledge base, in the folder `base` of all caches. Creates no files.
    ///
    /// # Errors
    /// If the folder is a link or accessible to other users.
    pub fn open_embedded(base: &Path) -> Result<Self> {
        Self::open_folder(base, "embedded")
    }

    fn open_folder(base: &Path, name: &str) -> Result<Self> {
        let written = absolute(base)?;
        let resolved = canonical(&written)?;
        refuse_link(&written)?;
        let cache = Self { folder: resolved.join(name), base: resolved };
        refuse_foreign(&cache.folder)?;
        Ok(cache)
    }

    /// Returns an engine with the results of earlier runs; each file is read on first use.
    pub fn engine(&self) -> Engine {
        let cache = self.clone();
        Engine::new(move |kind, part| cache.read(&name(kind, part)))
    }

    /// Writes new results of `engine`.
    ///
    /// # Errors
    /// If writing fails. Previous files are intact or removed.
    pub fn save(&self, engine: &Engine) -> Result<()> {
        for kind in Kind::ALL {
            if let Some((part, pack)) = engine.pack(kind) {
                self.write_with(&name(kind, part), |file| pack.write(file))?;
                if part == PackPart::Whole {
                    // The new file contains these results too; a leftover only takes space.
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

    /// Writes the record of the published folder.
    ///
    /// # Errors
    /// If writing fails.
    pub fn save_record(&self, record: &str) -> Result<()> {
        self.write(RECORD, record.as_bytes())
    }

    /// Returns the path of a file in the cache, which need not exist.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Reads a file of the cache, if it passes the checks.
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
    /// If the folder cannot be created or is accessible to other users, or writing fails.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_with(name, |file| file.write_all(bytes))
    }

    fn write_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<()> {
        self.create_folder()?;
        let file = self.path(name);
        // The name is unpredictable and must not exist, so no link can be planted there.
        let beside = file.with_extension(format!("{:016x}.new", RandomState::new().build_hasher().finish()));
        let written = File::create_new(&beside).map(BufWriter::new).and_then(|mut open| {
            write(&mut open)?;
            open.flush()?;
            fs::rename(&beside, &file)
        });
        self.clean(&file);
        if written.is_err() {
            // Remove the partial file; the first error is reported.
            let _ = fs::remove_file(&beside);
        }
        written.with_context(|| format!("cannot write `{}`", file.display()))
    }

    fn create_folder(&self) -> Result<()> {
        let fails = |path: &Path| format!("cannot create `{}`", path.display());
        private(DirBuilder::new().recursive(true)).create(&self.base).with_context(|| fails(&self.base))?;
        match private(&mut DirBuilder::new()).create(&self.folder) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(error).with_context(|| fails(&self.folder));
            }
            _ => {}
        }
        refuse_foreign(&self.folder)?;
        let (name, text) = CACHEDIR_TAG;
        if let Ok(mut file) = File::create_new(self.path(name)) {
            // The tag is optional.
            let _ = file.write_all(text.as_bytes());
        }
        Ok(())
    }

    /// Removes temporary files of killed runs: those more than an hour older than the file just written. Errors are
    /// ignored.
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

fn refuse_link(path: &Path) -> Result<()> {
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        bail!("the cache folder `{}` is a symbolic link; pass the folder that it points to", path.display());
    }
    Ok(())
}

/// Rejects a folder that other users could have written to. A missing folder is allowed.
fn refuse_foreign(folder: &Path) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if !found.is_dir() => bail!("`{}` is not a folder; delete it", folder.display()),
        Ok(found) if !is_private(&found) => {
            bail!("the cache folder `{}` is accessible to other users; delete it", folder.display())
        }
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", folder.display())),
    }
}

/// Returns whether the folder belongs to the user and is inaccessible to others.
#[cfg(unix)]
fn is_private(found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;

    found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0
}

/// Returns true, because the default folder is in the user's profile.
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

/// Opens a file without following links or blocking on pipes.
#[cfg(unix)]
fn open_plain(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_plain(path: &Path) -> io::Result<File> {
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
    fn the_default_folder_follows_the_conventions_of_the_system() {
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
