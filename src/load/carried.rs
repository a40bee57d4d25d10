//! Checks the assets next to pages: only types that browsers do not execute, and limited in size.

use crate::diag::{Diagnostic, Rule};
use crate::files::{Span, picture_size};
use crate::load::rules::{CARRIED_FILE, TOO_LARGE};

/// Extensions of images and plain text.
const PICTURES: [&str; 5] = ["gif", "jpeg", "jpg", "png", "webp"];
const TEXTS: [&str; 5] = ["csv", "json", "log", "toml", "txt"];

/// Maximum size of a file next to a page, in bytes.
pub(super) const MAX_ASSET_BYTES: u64 = 8 * 1024 * 1024;
/// Maximum number of pixels of an image: decoded, each takes four bytes, however small the file is.
const MAX_PIXELS: u64 = 32_000_000;

/// Why a file next to a page is not published.
pub(super) struct Refused {
    rule: &'static Rule,
    message: String,
    help: String,
}

impl Refused {
    /// Returns the finding for the file.
    pub fn at(self, place: Span) -> Diagnostic {
        Diagnostic::error(self.rule, place, self.message).help(self.help)
    }
}

/// Returns whether a file starts with front matter that has a title.
fn has_front_matter(bytes: &[u8]) -> bool {
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]);
    let mut lines = start.trim_start_matches('\u{FEFF}').lines().map(str::trim_end);
    lines.next() == Some("---")
        && lines.take_while(|line| *line != "---").any(|line| line.starts_with("title:"))
}

/// Returns the name for the page of a file.
pub(super) fn name_of(stem: &str) -> String {
    let character = |c: char| {
        if c.is_ascii_alphanumeric() || matches!(c, '.' | '_') { c.to_ascii_lowercase() } else { '-' }
    };
    let parts: String = stem.chars().map(character).collect();
    parts.split('-').filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

/// Returns why a file next to a page cannot be published, if so.
pub(super) fn refused(path: &str, bytes: &[u8]) -> Option<Refused> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_page = matches!(ending.as_str(), "md" | "markdown" | "mdx") || has_front_matter(bytes);
    if is_page && !PICTURES.contains(&ending.as_str()) {
        return Some(Refused {
            rule: &CARRIED_FILE,
            message: format!("`{name}` looks like a page, but does not end with `.md`"),
            help: format!("rename the file to `{}.md`", name_of(stem)),
        });
    }
    if TEXTS.contains(&ending.as_str()) {
        return None;
    }
    if !PICTURES.contains(&ending.as_str()) {
        let known: Vec<String> = PICTURES.iter().chain(&TEXTS).map(|ending| format!("`.{ending}`")).collect();
        return Some(Refused {
            rule: &CARRIED_FILE,
            message: format!("`{name}` is not a page, picture or plain-text file"),
            help: format!("pages end with `.md`; next to them, only {} files are allowed", known.join(", ")),
        });
    }
    let Some((width, height)) = picture_size(bytes) else {
        return Some(Refused {
            rule: &CARRIED_FILE,
            message: format!("the content of `{name}` does not match its extension"),
            help: "save it again as GIF, JPEG, PNG or WebP".into(),
        });
    };
    (u64::from(width) * u64::from(height) > MAX_PIXELS).then(|| Refused {
        rule: &TOO_LARGE,
        message: format!("picture of {width} × {height} pixels"),
        help: format!("at most {} million pixels are allowed; reduce its size", MAX_PIXELS / 1_000_000),
    })
}
