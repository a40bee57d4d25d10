//! Reads the files of another site, and nothing outside its folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde_json::Value;
use walkdir::WalkDir;

use crate::cli::import::imported_site::{Loss, LossKind};
use crate::cli::import::page_header;

/// Maximum size of a page, in bytes, as for pages of kbgen.
const MAX_PAGE_BYTES: u64 = 1024 * 1024;
/// Maximum size of another file, in bytes, as for static files of kbgen.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// Folder of another site.
#[derive(Debug)]
pub(super) struct SourceTree {
    /// Folder without symbolic links.
    root: PathBuf,
}

impl SourceTree {
    /// Opens a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let shown = folder.display();
        let root = folder.canonicalize().with_context(|| format!("cannot read `{shown}`"))?;
        if !root.is_dir() {
            bail!("`{shown}` is not a folder; pass the folder of the site");
        }
        Ok(Self { root })
    }

    /// Returns the first of these files that exists.
    pub fn first<'p>(&self, paths: &[&'p str]) -> Option<&'p str> {
        paths.iter().find(|path| self.root.join(path).is_file()).copied()
    }

    /// Returns whether a folder exists.
    pub fn has_folder(&self, path: &str) -> bool {
        self.root.join(path).is_dir()
    }

    /// Returns the paths of the files below a folder, sorted. Hidden files are left out; links are reported.
    pub fn files(&self, folder: &str, losses: &mut Vec<Loss>) -> Vec<String> {
        let top = self.root.join(folder);
        let mut files = Vec::new();
        let walk = WalkDir::new(&top).sort_by_file_name().into_iter();
        let is_shown = |entry: &walkdir::DirEntry| {
            entry.depth() == 0 || !entry.file_name().to_string_lossy().starts_with('.')
        };
        for entry in walk.filter_entry(is_shown) {
            let (path, message) = match entry {
                Ok(entry) if entry.file_type().is_dir() => continue,
                Ok(entry) => {
                    let path = self.relative(entry.path());
                    if entry.file_type().is_file() && entry.path().to_str().is_some() {
                        files.push(path);
                        continue;
                    }
                    let kind =
                        if entry.file_type().is_symlink() { "a symbolic link" } else { "not a regular file" };
                    (path, format!("{kind}: not imported"))
                }
                Err(error) => {
                    (error.path().map_or(folder.into(), |path| self.relative(path)), format!("{error}"))
                }
            };
            losses.push(Loss::new(&path, 1, LossKind::File, message));
        }
        files
    }

    /// Returns the text of a file.
    ///
    /// # Errors
    /// If it is not a regular file of UTF-8 inside the folder, or too large.
    pub fn text(&self, path: &str) -> Result<String, Loss> {
        let lost = |line, message: String| Loss::new(path, line, LossKind::File, message);
        let file = self.checked(path, MAX_PAGE_BYTES)?;
        let bytes = fs::read(file).map_err(|error| lost(1, format!("cannot be read: {error}")))?;
        String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
            lost(line, "invalid UTF-8: not imported; save the file as UTF-8".into())
        })
    }

    /// Returns the values of a settings file.
    ///
    /// # Errors
    /// As [`SourceTree::text`], and if it is malformed.
    pub fn settings(&self, path: &str, format: &str) -> Result<Value> {
        let text =
            self.text(path).map_err(|loss| anyhow!("{}:{}: {}", loss.file, loss.line, loss.message))?;
        page_header::parse(&text, format).map_err(|(line, what)| anyhow!("{path}:{line}: {what}"))
    }

    /// Returns the file to copy for a path.
    ///
    /// # Errors
    /// As [`SourceTree::text`], for files of any content.
    pub fn file(&self, path: &str) -> Result<PathBuf, Loss> {
        self.checked(path, MAX_FILE_BYTES)
    }

    fn checked(&self, path: &str, most: u64) -> Result<PathBuf, Loss> {
        let lost = |message: String| Loss::new(path, 1, LossKind::File, message);
        let real =
            self.root.join(path).canonicalize().map_err(|error| lost(format!("cannot be read: {error}")))?;
        if !real.starts_with(&self.root) {
            return Err(lost("outside the folder of the site: not imported".into()));
        }
        let data = fs::metadata(&real).map_err(|error| lost(format!("cannot be read: {error}")))?;
        match data.len() {
            _ if !data.is_file() => Err(lost("not a regular file: not imported".into())),
            bytes if bytes > most => {
                Err(lost(format!("{bytes} bytes: not imported; at most {most} are allowed")))
            }
            _ => Ok(real),
        }
    }

    fn relative(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }
}
