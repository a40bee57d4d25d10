//! The files of a site, read from the disk into memory.

use std::fs;
use std::io::{self, Read};
use std::ops::Range;
use std::path::Path;

use anyhow::bail;
use walkdir::{DirEntry, WalkDir};

use crate::diag::Diagnostic;
use crate::files::{Sources, Span, is_scratch};
use crate::load::carried::{self, CARRIED_BYTES};
use crate::load::leftovers::{Leftover, leftovers};
use crate::load::names::{BadName, Names, shown};
use crate::load::pages::PAGE_BYTES;
use crate::load::rules::{FILE_NAME, NOT_A_FILE, NOT_UTF8, TOO_LARGE};
use crate::load::theme;

/// The folder of the pages.
const CONTENT: &str = "content";
/// The folder of the look.
const TEMPLATES: &str = "templates";
/// The folder of the texts of the interface.
const TRANSLATIONS: &str = "i18n";
/// Folders of a site.
const FOLDERS: [&str; 4] = [CONTENT, TEMPLATES, "static", TRANSLATIONS];
/// The settings of a site.
const SETTINGS: &str = "site.toml";
/// Most bytes of the settings.
const SETTINGS_BYTES: u64 = 64 * 1024;
/// Most bytes of a template, and of a file of translations.
const TEMPLATE_BYTES: u64 = 1024 * 1024;
/// How many bytes of a file tell that it is UTF-16.
const UTF16_SAMPLE: usize = 1024;
/// Most bytes of a static file, which the site's own people put there.
const STATIC_BYTES: u64 = 64 * 1024 * 1024;

/// Everything a site is made of: the theme, `site.toml`, `content/`, `templates/`, `static/`, `i18n/`.
///
/// # Errors
/// When `site.toml` is missing.
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
    read_into(root, &FOLDERS, sources)
}

/// What a site says: `site.toml` and `content/`, for those who need nothing of how it looks.
///
/// # Errors
/// As [`read`].
pub fn read_content(root: &Path) -> anyhow::Result<Sources> {
    Ok(read_into(root, &[CONTENT], Sources::default())?.0)
}

fn read_into(root: &Path, folders: &[&str], sources: Sources) -> anyhow::Result<(Sources, Vec<Diagnostic>)> {
    let settings = root.join(SETTINGS);
    if !settings.is_file() {
        bail!(
            "no `site.toml` in `{}`; create a site with `kbgen init DIR` or pass `--root DIR`",
            root.display()
        );
    }
    let mut reader = Reader { root, sources, found: Vec::new(), names: Names::default() };
    match bounded(&settings, SETTINGS_BYTES) {
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

/// Everything in a site that has a name which kbgen gives to its own files.
pub fn own_files(root: &Path) -> Vec<Leftover> {
    leftovers(root, &FOLDERS)
}

/// The text of one page that is there; `None` when it is no plain file of UTF-8, or too large.
pub fn read_page(root: &Path, path: &str) -> Option<String> {
    String::from_utf8(bounded(&root.join(path), PAGE_BYTES).ok()?).ok()
}

/// Why a file is not read.
enum Refusal {
    NotAFile(&'static str),
    Unreadable(io::Error),
    TooLarge { bytes: u64, most: u64 },
    Name(BadName),
}

/// What has been read so far.
struct Reader<'r> {
    root: &'r Path,
    sources: Sources,
    found: Vec<Diagnostic>,
    names: Names,
}

impl Reader<'_> {
    fn folder(&mut self, folder: &str) {
        let top = self.root.join(folder);
        match fs::symlink_metadata(&top) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => return self.refuse(folder, Refusal::Unreadable(error)),
            // A walk follows a link at its top.
            Ok(data) if !data.is_dir() => return self.refuse(folder, not_a_file(data.file_type())),
            Ok(_) => {}
        }
        let walk = WalkDir::new(&top)
            .sort_by_file_name()
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || !is_scratch(&entry.file_name().to_string_lossy()));
        for entry in walk {
            match entry {
                Ok(entry) if entry.file_type().is_dir() => {}
                Ok(entry) => self.file(folder, &entry),
                Err(error) => {
                    let path = self.inner(error.path().unwrap_or(&top));
                    self.refuse(&path, Refusal::Unreadable(error.into()));
                }
            }
        }
    }

    fn file(&mut self, folder: &str, entry: &DirEntry) {
        let path = self.inner(entry.path());
        if !entry.file_type().is_file() {
            return self.refuse(&path, not_a_file(entry.file_type()));
        }
        if let Some(fault) = self.names.look(&path) {
            return self.refuse(&path, Refusal::Name(fault));
        }
        let in_content = folder == CONTENT;
        let is_page = in_content && path.ends_with(".md");
        let most = match folder {
            _ if is_page => PAGE_BYTES,
            CONTENT => CARRIED_BYTES,
            TEMPLATES | TRANSLATIONS => TEMPLATE_BYTES,
            _ => STATIC_BYTES,
        };
        let bytes = match bounded(entry.path(), most) {
            Ok(bytes) => bytes,
            Err(refusal) => return self.refuse(&path, refusal),
        };
        let is_text = is_page || matches!(folder, TEMPLATES | TRANSLATIONS) || theme::is_script(&path);
        if theme::is_own(&path, &bytes) {
            return;
        }
        if is_text {
            self.add_text(&path, bytes);
        } else if let Some(finding) = carried::refused(&path, &bytes).filter(|_| in_content) {
            let place = Span::top(self.sources.add_unread(path, ""));
            self.found.push(finding.at(place));
        } else {
            self.sources.add_asset(path, bytes);
        }
    }

    /// A path as findings name it.
    fn inner(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).to_string_lossy().replace('\\', "/")
    }

    fn refuse(&mut self, path: &str, refusal: Refusal) {
        let path = shown(path);
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
                Diagnostic::error(&TOO_LARGE, place, format!("file of {bytes} bytes"))
                    .help(format!("at most {most} are allowed"))
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

/// Bytes that are not UTF-8.
struct NotUtf8 {
    /// The text of the files that were read.
    text: String,
    /// Where in that text the fault is.
    at: Range<usize>,
    message: &'static str,
}

/// Bytes as text. UTF-16 is recognized by its byte order mark, or by the NUL that half of its bytes are in most texts.
fn decode(bytes: Vec<u8>) -> Result<String, NotUtf8> {
    let is_marked = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    let nuls = bytes.iter().take(UTF16_SAMPLE).filter(|byte| **byte == 0).count();
    if is_marked || nuls > bytes.len().min(UTF16_SAMPLE) / 3 {
        return Err(NotUtf8 { text: String::new(), at: 0..0, message: "the file is UTF-16" });
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let text = String::from_utf8_lossy(error.as_bytes()).into_owned();
        NotUtf8 { text, at: at..at + 3, message: "invalid UTF-8" }
    })
}

/// The bytes of a plain file that has at most so many; no more are read, whatever it becomes meanwhile.
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

/// What the system says, as the end of a phrase.
fn phrase(error: &io::Error) -> String {
    let words = error.to_string();
    let words = words.rsplit(": ").next().unwrap_or(&words);
    words.split(" (os error").next().unwrap_or(words).to_lowercase()
}
