//! Reads the files of a site from disk.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use anyhow::bail;
use rayon::prelude::*;
use walkdir::{DirEntry, WalkDir};

use crate::diag::Diagnostic;
use crate::files::{Sources, Span, is_scratch};
use crate::load::carried::{self, MAX_ASSET_BYTES};
use crate::load::leftovers::{Leftover, leftovers};
use crate::load::names::{BadName, Names, printable};
use crate::load::pages::MAX_PAGE_BYTES;
use crate::load::rules::{FILE_NAME, NOT_A_FILE, NOT_UTF8, TOO_LARGE};
use crate::load::theme;
use crate::site::{format_count, is_generated};

/// Folder of pages.
const CONTENT: &str = "content";
/// Folder of templates.
const TEMPLATES: &str = "templates";
/// Folder of static files.
const STATIC: &str = "static";
/// Folder of translations.
const TRANSLATIONS: &str = "i18n";
/// File with the settings.
const SETTINGS: &str = "site.toml";
/// Files and folders that a site is made of, relative to its root.
pub const INPUTS: [&str; 5] = [SETTINGS, CONTENT, TEMPLATES, STATIC, TRANSLATIONS];
/// All folders of a site.
const FOLDERS: &[&str] = INPUTS.split_at(1).1;
/// Maximum size of the settings, in bytes.
const MAX_SETTINGS_BYTES: u64 = 64 * 1024;
/// Maximum size of a template or a translation file, in bytes.
const MAX_TEMPLATE_BYTES: u64 = 1024 * 1024;
/// Names of hidden files that hosts read: addresses defined by RFC 8615, and the settings of Apache.
const HIDDEN: [&str; 2] = [".well-known", ".htaccess"];
/// Number of bytes that are examined to detect UTF-16.
const UTF16_SAMPLE: usize = 1024;
/// Text is UTF-16 if NUL is more than one byte in this many: Latin letters have it in every second byte.
const UTF16_NULS: usize = 3;
/// Maximum size of a static file, in bytes.
const MAX_STATIC_BYTES: u64 = 64 * 1024 * 1024;

/// Reads all sources of a site: the built-in theme, `site.toml`, `content/`, `templates/`, `static/`, `i18n/`.
///
/// # Errors
/// If `site.toml` is missing.
pub fn read(root: &Path) -> anyhow::Result<(Sources, Vec<Diagnostic>)> {
    read_again(root, &Sources::default())
}

/// As [`read`], with the ids of an earlier reading.
///
/// # Errors
/// As [`read`].
pub fn read_again(root: &Path, earlier: &Sources) -> anyhow::Result<(Sources, Vec<Diagnostic>)> {
    let mut sources = Sources::after(earlier);
    theme::add(&mut sources);
    read_into(root, FOLDERS, sources, &|_| true)
}

/// Reads only `site.toml` and the files in `content/` whose path `is_needed`, for commands that render no pages.
///
/// # Errors
/// As [`read`].
pub fn read_content(root: &Path, is_needed: impl Fn(&str) -> bool) -> anyhow::Result<Sources> {
    Ok(read_into(root, &[CONTENT], Sources::default(), &is_needed)?.0)
}

/// Reads only `site.toml`.
///
/// # Errors
/// As [`read`].
pub fn read_settings(root: &Path) -> anyhow::Result<Sources> {
    Ok(read_into(root, &[], Sources::default(), &|_| false)?.0)
}

fn read_into(
    root: &Path,
    folders: &[&str],
    sources: Sources,
    is_needed: &dyn Fn(&str) -> bool,
) -> anyhow::Result<(Sources, Vec<Diagnostic>)> {
    let settings = root.join(SETTINGS);
    if !settings.is_file() {
        bail!(
            "no `site.toml` in `{}`; create a site with `kbgen init DIR` or pass `--root DIR`",
            root.display()
        );
    }
    let mut reader = Reader { root, sources, found: Vec::new(), names: Names::default(), is_needed };
    match bounded(&settings, MAX_SETTINGS_BYTES) {
        Ok(bytes) => reader.add_text(SETTINGS, bytes),
        Err(fault) => reader.refuse(SETTINGS, fault),
    }
    for folder in folders {
        reader.folder(folder);
    }
    for leftover in leftovers(root, folders) {
        let place = Span::top(reader.sources.add_unread(leftover.path.as_str(), ""));
        reader.found.extend(leftover.finding(place));
    }
    Ok((reader.sources, reader.found))
}

/// Returns all files in a site whose names kbgen uses for its own files.
pub fn own_files(root: &Path) -> Vec<Leftover> {
    leftovers(root, FOLDERS)
}

/// Reads a single page; `None` if it is not a regular UTF-8 file, or too large.
pub fn read_page(root: &Path, path: &str) -> Option<String> {
    String::from_utf8(bounded(&root.join(path), MAX_PAGE_BYTES).ok()?).ok()
}

/// Why a file cannot be read.
enum Refusal {
    NotAFile(&'static str),
    Unreadable(io::Error),
    TooLarge { bytes: u64, most: u64 },
    Name(BadName),
}

/// Files and findings read so far.
struct Reader<'r> {
    root: &'r Path,
    sources: Sources,
    found: Vec<Diagnostic>,
    names: Names,
    /// Whether the file at a path is read.
    is_needed: &'r dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    fn folder(&mut self, folder: &str) {
        let top = self.root.join(folder);
        match fs::symlink_metadata(&top) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.refuse(folder, Refusal::Unreadable(error)),
            // A directory walk would follow a link at its root.
            Ok(data) if !data.is_dir() => return self.refuse(folder, not_a_file(data.file_type())),
            Ok(_) => {}
        }
        let walk = WalkDir::new(&top).sort_by_file_name().into_iter().filter_entry(|entry| {
            let name = entry.file_name().to_string_lossy();
            entry.depth() == 0 || !is_scratch(&name) || (folder == STATIC && HIDDEN.contains(&&*name))
        });
        let needed = walk.filter(|entry| {
            let Ok(entry) = entry else { return true };
            !entry.file_type().is_dir() && (self.is_needed)(&self.relative_path(entry.path()))
        });
        let entries: Vec<_> = needed.collect();
        let read = |entry: &Result<DirEntry, walkdir::Error>| {
            let entry = entry.as_ref().ok().filter(|entry| entry.file_type().is_file())?;
            Some(bounded(entry.path(), max_bytes(folder, entry.path())))
        };
        let contents: Vec<_> = entries.par_iter().map(read).collect();
        for (entry, content) in entries.into_iter().zip(contents) {
            match entry {
                Ok(entry) => self.file(folder, &entry, content),
                Err(error) => {
                    let path = self.relative_path(error.path().unwrap_or(&top));
                    self.refuse(&path, Refusal::Unreadable(error.into()));
                }
            }
        }
    }

    /// Adds a file with its content, which is `None` if it is not a regular file.
    fn file(&mut self, folder: &str, entry: &DirEntry, content: Option<Result<Vec<u8>, Refusal>>) {
        let path = self.relative_path(entry.path());
        let Some(content) = content else {
            return self.refuse(&path, not_a_file(entry.file_type()));
        };
        if let Some(fault) = self.names.check(&path) {
            return self.refuse(&path, Refusal::Name(fault));
        }
        if let Some(output) = path.strip_prefix("static/root/").filter(|output| is_generated(output)) {
            let message = format!("kbgen generates `{output}`");
            let help = "choose another name, or change it by its template or by a setting in site.toml";
            return self.refuse(&path, Refusal::Name((message, help.into())));
        }
        let in_content = folder == CONTENT;
        let is_page = in_content && is_page(entry.path());
        let bytes = match content {
            Ok(bytes) => bytes,
            Err(refusal) => return self.refuse(&path, refusal),
        };
        let is_text = is_page || matches!(folder, TEMPLATES | TRANSLATIONS) || theme::is_script(&path);
        if theme::is_own(&path, &bytes) {
            return;
        }
        if is_text {
            self.add_text(&path, bytes);
        } else if in_content && let Some(finding) = carried::refused(&path, &bytes) {
            let place = Span::top(self.sources.add_unread(path, ""));
            self.found.push(finding.at(place));
        } else {
            self.sources.add_asset(path, bytes);
        }
    }

    /// Returns a path relative to the site, as findings show it.
    fn relative_path(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }

    fn refuse(&mut self, path: &str, refusal: Refusal) {
        let path = printable(path);
        let place = Span::top(self.sources.add_unread(path.as_str(), ""));
        self.found.push(match refusal {
            Refusal::NotAFile(what) => Diagnostic::error(&NOT_A_FILE, place, format!("`{path}` is {what}"))
                .help("replace it with a regular file"),
            Refusal::Unreadable(error) => {
                let message = format!("cannot read `{path}`: {}", phrase(&error));
                Diagnostic::error(&NOT_A_FILE, place, message).help("fix its permissions or remove it")
            }
            Refusal::Name((message, help)) => Diagnostic::error(&FILE_NAME, place, message).help(help),
            Refusal::TooLarge { bytes, most } => {
                let [bytes, most] = [bytes, most].map(format_count);
                let message = format!("file is too large: {bytes} bytes, at most {most}");
                Diagnostic::error(&TOO_LARGE, place, message).help("split the page, or shrink the file")
            }
        });
    }

    fn add_text(&mut self, path: &str, bytes: Vec<u8>) {
        match decode(bytes) {
            Ok(text) => {
                self.sources.add(path, text);
            }
            Err(NotUtf8 { text, at, message }) => {
                let file = self.sources.add_unread(path, text);
                self.found.push(
                    Diagnostic::error(&NOT_UTF8, Span::new(file, at.start, at.end), message)
                        .help("save the file as UTF-8"),
                );
            }
        }
    }
}

/// A file that is not UTF-8.
struct NotUtf8 {
    /// Text, decoded lossily.
    text: String,
    /// Range of the first invalid sequence.
    at: Range<usize>,
    message: &'static str,
}

/// Decodes UTF-8. Recognizes UTF-16 by its byte order mark, or by its many NUL bytes.
fn decode(bytes: Vec<u8>) -> Result<String, NotUtf8> {
    let is_marked = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let nuls = bytes.iter().take(UTF16_SAMPLE).filter(|byte| **byte == 0).count();
    if is_marked || nuls > bytes.len().min(UTF16_SAMPLE) / UTF16_NULS {
        return Err(NotUtf8 { text: String::new(), at: 0..0, message: "the file is UTF-16" });
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        NotUtf8 { text, at: at..at + 3, message: "invalid UTF-8" }
    })
}

/// Returns the maximum size of a file in a folder of the site.
fn max_bytes(folder: &str, path: &Path) -> u64 {
    match folder {
        CONTENT if is_page(path) => MAX_PAGE_BYTES,
        CONTENT => MAX_ASSET_BYTES,
        TEMPLATES | TRANSLATIONS => MAX_TEMPLATE_BYTES,
        _ => MAX_STATIC_BYTES,
    }
}

fn is_page(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b".md")
}

/// Reads a regular file of at most `most` bytes; never reads more, even if the file grows.
fn bounded(path: &Path, most: u64) -> Result<Vec<u8>, Refusal> {
    let data = fs::symlink_metadata(path).map_err(Refusal::Unreadable)?;
    if !data.is_file() {
        return Err(not_a_file(data.file_type()));
    }
    if data.len() > most {
        return Err(Refusal::TooLarge { bytes: data.len(), most });
    }
    let mut bytes = Vec::with_capacity(usize::try_from(data.len()).unwrap_or_default());
    let file = fs::File::open(path).map_err(Refusal::Unreadable)?;
    file.take(most).read_to_end(&mut bytes).map_err(Refusal::Unreadable)?;
    Ok(bytes)
}

fn not_a_file(kind: fs::FileType) -> Refusal {
    Refusal::NotAFile(if kind.is_symlink() { "a symbolic link" } else { "neither a file nor a folder" })
}

/// Returns the system's error message as the end of a phrase.
fn phrase(error: &io::Error) -> String {
    let words = error.to_string();
    let words = words.rsplit(": ").next().unwrap_or(&words);
    words.split(" (os error").next().unwrap_or(words).to_lowercase()
}
