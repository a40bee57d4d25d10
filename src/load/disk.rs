//! The files of a site, read from the disk into memory.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use walkdir::WalkDir;

use crate::diag::Diagnostic;
use crate::files::{Sources, Span};
use crate::load::rules::{NOT_A_FILE, NOT_UTF8};
use crate::load::theme;

/// The folder of the pages.
const CONTENT: &str = "content";
/// Folders of a site.
const FOLDERS: [&str; 4] = [CONTENT, "templates", "static", "i18n"];

/// Everything a site is made of: the theme, `site.toml`, `content/`, `templates/`, `static/`, `i18n/`.
///
/// # Errors
/// When `site.toml` is missing or something cannot be read.
pub fn read(root: &Path) -> Result<(Sources, Vec<Diagnostic>)> {
    let mut sources = Sources::default();
    theme::add(&mut sources);
    let found = read_into(root, &FOLDERS, &mut sources)?;
    Ok((sources, found))
}

/// What a site says: `site.toml` and `content/`, for those who need nothing of how it looks.
///
/// # Errors
/// As [`read`].
pub fn read_content(root: &Path) -> Result<Sources> {
    let mut sources = Sources::default();
    read_into(root, &[CONTENT], &mut sources)?;
    Ok(sources)
}

fn read_into(root: &Path, folders: &[&str], sources: &mut Sources) -> Result<Vec<Diagnostic>> {
    let mut found = Vec::new();
    let settings = root.join("site.toml");
    if !settings.is_file() {
        bail!(
            "no `site.toml` in `{}`: `kbgen init DIR` makes a new site, `--root DIR` names one",
            root.display()
        );
    }
    let bytes = fs::read(&settings).with_context(|| format!("cannot read `{}`", settings.display()))?;
    add_text(sources, "site.toml", bytes, &mut found);
    for folder in folders {
        read_folder(root, folder, sources, &mut found)?;
    }
    Ok(found)
}

/// The text of one page that is there; `None` when it is no plain file of UTF-8.
pub fn read_page(root: &Path, path: &str) -> Option<String> {
    let path = root.join(path);
    let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
    if is_file { fs::read_to_string(path).ok() } else { None }
}

fn read_folder(root: &Path, folder: &str, sources: &mut Sources, found: &mut Vec<Diagnostic>) -> Result<()> {
    let top = root.join(folder);
    if !top.exists() {
        return Ok(());
    }
    let walk = WalkDir::new(&top)
        .sort_by_file_name()
        .into_iter()
        .filter_entry(|entry| entry.depth() == 0 || !is_hidden(&entry.file_name().to_string_lossy()));
    for entry in walk {
        let entry = entry.with_context(|| format!("cannot read `{}`", top.display()))?;
        if entry.file_type().is_dir() {
            continue;
        }
        let inner = entry.path().strip_prefix(root).unwrap_or(entry.path());
        let path = inner.to_string_lossy().replace('\\', "/");
        if !entry.file_type().is_file() {
            let file = sources.add_unread(path.as_str());
            let what = if entry.file_type().is_symlink() {
                "a symbolic link"
            } else {
                "neither a file nor a folder"
            };
            found.push(
                Diagnostic::error(&NOT_A_FILE, Span::top(file), format!("`{path}` is {what}"))
                    .help("put the file itself there"),
            );
            continue;
        }
        let bytes =
            fs::read(entry.path()).with_context(|| format!("cannot read `{}`", entry.path().display()))?;
        let is_text = match folder {
            "templates" | "i18n" => true,
            CONTENT => path.ends_with(".md"),
            _ => theme::is_script(&path),
        };
        if theme::is_own(&path, &bytes) {
            continue;
        }
        if is_text {
            add_text(sources, &path, bytes, found);
        } else {
            sources.add_asset(path, bytes);
        }
    }
    Ok(())
}

/// Dot files, and the leavings of editors.
fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

fn add_text(sources: &mut Sources, path: &str, bytes: Vec<u8>, found: &mut Vec<Diagnostic>) {
    match String::from_utf8(bytes) {
        Ok(text) => {
            sources.add(path, text);
        }
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
            let file = sources.add(path, text);
            found.push(
                Diagnostic::error(&NOT_UTF8, Span::new(file, valid, valid + 3), "this byte is not UTF-8")
                    .help("save the file as UTF-8"),
            );
        }
    }
}
