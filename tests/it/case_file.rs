//! Text files that contain a small site and its expected report.
//!
//! - Text before the first marker describes the case.
//! - `--- path` starts a file of the site, which replaces the shared site's file of that name.
//! - `~~~ path` changes a file of the shared site: lines with `-` are replaced by the lines with `+` below them; lines
//!   with a space are context. An empty line ends a change.
//! - `--- path -> target` is a symbolic link; `--- path (pipe)`, `(socket)`, `(folder)`, `(unreadable)` and
//!   `(unreadable folder)` create these kinds of files.
//! - `=== findings` starts the report, as printed by `kbgen check`.
//!
//! In text and paths, `«U+202E»` is a character that editors hide, `«0xFF»` a byte that is not UTF-8, and `«words*40»`
//! a repeated text.

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(unix)]
use std::process::Command;
use std::sync::LazyLock;

use kbgen::diag::Diagnostic;
use kbgen::files::Sources;
use kbgen::load;
use tempfile::TempDir;

use crate::expect::repository;

const FINDINGS: &str = "=== findings\n";

/// Parsed case.
pub struct CaseFile {
    /// Path of the case.
    pub path: PathBuf,
    /// Name of its folder, which is the stage that checks the rule.
    pub stage: String,
    /// Code of the rule: the file name up to the first dot.
    pub code: String,
    /// Text above the findings.
    pub site: String,
}

/// File of a site.
struct File {
    path: String,
    /// Path, which need not be UTF-8.
    raw: Vec<u8>,
    content: Content,
}

enum Content {
    Bytes(Vec<u8>),
    Link(String),
    /// `pipe`, `socket`, `folder`, `unreadable` or `unreadable folder`.
    Special(String),
}

impl CaseFile {
    /// Parses a case.
    pub fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a case is text");
        let (site, _) = text.split_once(FINDINGS).unwrap_or((&text, ""));
        let name = |path: &Path| path.file_name().expect("it has a name").to_string_lossy().into_owned();
        Self {
            path: path.to_path_buf(),
            stage: name(path.parent().expect("it lies in a folder")),
            code: name(path).split('.').next().unwrap_or_default().to_string(),
            site: site.to_string(),
        }
    }

    /// Replaces the report.
    pub fn with_findings(&self, report: &str) -> String {
        format!("{}{FINDINGS}{report}", self.site)
    }

    /// Creates the sources in memory, or through a folder on disk if memory cannot represent them.
    pub fn sources(&self) -> (Sources, Vec<Diagnostic>) {
        let files = self.files();
        let needs_disk = files.iter().any(|file| match &file.content {
            Content::Link(_) | Content::Special(_) => true,
            Content::Bytes(bytes) => {
                !is_text(&file.path) || bytes.len() > 1 << 20 || std::str::from_utf8(bytes).is_err()
            }
        });
        if needs_disk {
            let folder = on_disk(&files);
            load::read(folder.path()).expect("the folder can be read")
        } else {
            (in_memory(&files), Vec::new())
        }
    }

    /// Writes the site to a folder on disk.
    pub fn folder(&self) -> TempDir {
        on_disk(&self.files())
    }

    fn files(&self) -> Vec<File> {
        let mut files = parts(SHARED.as_str());
        for (marker, text) in marked(&self.site) {
            match marker.split_at(4) {
                ("~~~ ", path) => {
                    let file = files.iter_mut().find(|file| file.path == path);
                    let file =
                        file.unwrap_or_else(|| panic!("{}: no shared file `{path}`", self.path.display()));
                    let Content::Bytes(before) = &file.content else {
                        panic!("the shared site has no links")
                    };
                    let before = String::from_utf8(before.clone()).expect("the shared site is text");
                    file.content = Content::Bytes(unescape(&changed(&before, text, &self.path)));
                }
                _ => {
                    let file = part(marker, text);
                    files.retain(|other| other.path != file.path);
                    files.push(file);
                }
            }
        }
        files
    }
}

static SHARED: LazyLock<String> = LazyLock::new(|| {
    fs::read_to_string(repository("tests/cases/shared-site.txt")).expect("the shared site can be read")
});

/// Returns the files of the theme.
static THEME: LazyLock<Sources> = LazyLock::new(|| {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("site.toml"), "").unwrap();
    load::read(folder.path()).expect("an empty site can be read").0
});

/// Splits the text at its markers.
fn marked(text: &str) -> Vec<(&str, &str)> {
    let is_marker = |line: &str| line.starts_with("--- ") || line.starts_with("~~~ ");
    let mut parts: Vec<(&str, usize, usize)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let next = at + line.len();
        if is_marker(line) {
            parts.push((line.trim_end(), next, next));
        } else if let Some(part) = parts.last_mut() {
            part.2 = next;
        }
        at = next;
    }
    parts.into_iter().map(|(marker, start, end)| (marker, &text[start..end])).collect()
}

fn parts(text: &str) -> Vec<File> {
    marked(text).into_iter().map(|(marker, text)| part(marker, text)).collect()
}

fn part(marker: &str, text: &str) -> File {
    let name = &marker[4..];
    let special = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    let (path, content) = match (name.split_once(" -> "), special) {
        (Some((path, target)), _) => (path, Content::Link(target.into())),
        (None, Some((path, what))) => (path, Content::Special(what.into())),
        (None, None) => (name, Content::Bytes(unescape(text))),
    };
    let raw = unescape(path);
    File { path: String::from_utf8_lossy(&raw).into_owned(), raw, content }
}

/// Applies the changes listed in `text` to `before`.
fn changed(before: &str, text: &str, case: &Path) -> String {
    let mut after = before.to_string();
    for change in text.split("\n\n").filter(|change| !change.trim().is_empty()) {
        let (mut old, mut new) = (String::new(), String::new());
        for line in change.trim_matches('\n').split('\n') {
            let (sign, rest) = line.split_at(1);
            if sign != "+" {
                old.push_str(&format!("{rest}\n"));
            }
            if sign != "-" {
                new.push_str(&format!("{rest}\n"));
            }
            assert!([" ", "-", "+"].contains(&sign), "{}: `{line}` begins with no sign", case.display());
        }
        assert_eq!(after.matches(&old).count(), 1, "{}: this must stand there once:\n{old}", case.display());
        after = after.replacen(&old, &new, 1);
    }
    after
}

/// Expands escapes such as `«U+202E»`, `«0xFF»` and `«words*40»`.
pub fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('«') {
        bytes.extend_from_slice(before.as_bytes());
        let (name, after) = after.split_once('»').expect("`«` is closed");
        if let Some(code) = name.strip_prefix("U+") {
            let character = u32::from_str_radix(code, 16).ok().and_then(char::from_u32);
            let character = character.expect("it names a character");
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        } else if let Some(code) = name.strip_prefix("0x") {
            bytes.push(u8::from_str_radix(code, 16).expect("it names a byte"));
        } else {
            let (word, times) = name.rsplit_once('*').expect("it names a text and a number");
            bytes.extend_from_slice(word.repeat(times.parse().expect("it names a number")).as_bytes());
        }
        rest = after;
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn is_text(path: &str) -> bool {
    path == "site.toml"
        || path.starts_with("templates/")
        || path.starts_with("i18n/")
        || path.starts_with("static/js/")
        || (path.starts_with("content/") && path.ends_with(".md"))
}

fn in_memory(files: &[File]) -> Sources {
    let mut sources = THEME.clone();
    for File { path, content, .. } in files {
        let Content::Bytes(bytes) = content else { continue };
        match is_text(path) {
            true => {
                sources.add(path.as_str(), String::from_utf8(bytes.clone()).expect("it was looked at"));
            }
            false => sources.add_asset(path.as_str(), bytes.clone()),
        }
    }
    sources
}

#[cfg(unix)]
fn on_disk(files: &[File]) -> TempDir {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::os::unix::net::UnixListener;

    let root = TempDir::new().unwrap();
    for File { raw, content, .. } in files {
        let place = root.path().join(OsStr::from_bytes(raw));
        fs::create_dir_all(place.parent().expect("it lies in the site")).unwrap();
        let close = || fs::set_permissions(&place, fs::Permissions::from_mode(0o0)).unwrap();
        match content {
            Content::Bytes(bytes) => fs::write(&place, bytes).unwrap(),
            Content::Link(target) => symlink(target, &place).unwrap(),
            Content::Special(what) => match what.as_str() {
                "folder" => fs::create_dir(&place).unwrap(),
                "pipe" => assert!(Command::new("mkfifo").arg(&place).status().unwrap().success()),
                "socket" => drop(UnixListener::bind(&place).unwrap()),
                "unreadable" => {
                    fs::write(&place, "---\n").unwrap();
                    close();
                }
                "unreadable folder" => {
                    fs::create_dir(&place).unwrap();
                    close();
                }
                other => panic!("nothing is `{other}`"),
            },
        }
    }
    root
}

#[cfg(not(unix))]
fn on_disk(files: &[File]) -> TempDir {
    let root = TempDir::new().unwrap();
    for File { path, content, .. } in files {
        let Content::Bytes(bytes) = content else { continue };
        let place = root.path().join(path);
        fs::create_dir_all(place.parent().expect("it lies in the site")).unwrap();
        fs::write(&place, bytes).unwrap();
    }
    root
}
