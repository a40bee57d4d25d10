//! What lies beside pages: only files that no browser runs, and none that could overwhelm one.

use crate::diag::{Diagnostic, Rule};
use crate::files::{Span, picture_size};
use crate::load::rules::{CARRIED_FILE, TOO_LARGE};

/// Endings of pictures and plain text.
const PICTURES: [&str; 5] = ["gif", "jpeg", "jpg", "png", "webp"];
const TEXTS: [&str; 5] = ["csv", "json", "log", "toml", "txt"];

/// Most bytes of a file beside a page.
pub(super) const CARRIED_BYTES: u64 = 8 * 1024 * 1024;
/// Most pixels of a picture: decoded they take four bytes each, however small the file is.
const PIXELS: u64 = 32_000_000;

/// Why a file beside a page is not published.
pub(super) struct Refused {
    rule: &'static Rule,
    message: String,
    help: String,
}

impl Refused {
    /// The finding at the file.
    pub fn at(self, place: Span) -> Diagnostic {
        Diagnostic::error(self.rule, place, self.message).help(self.help)
    }
}

/// Why a file beside a page cannot be published, if so.
pub(super) fn refused(path: &str, bytes: &[u8]) -> Option<Refused> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).unwrap_or_default();
    if TEXTS.contains(&ending.as_str()) {
        return None;
    }
    if !PICTURES.contains(&ending.as_str()) {
        let known: Vec<String> = PICTURES.iter().chain(&TEXTS).map(|ending| format!("`.{ending}`")).collect();
        return Some(Refused {
            rule: &CARRIED_FILE,
            message: format!("`{name}` is not a page, picture or plain-text file"),
            help: format!("only {} files are allowed next to pages", known.join(", ")),
        });
    }
    let Some((width, height)) = picture_size(bytes) else {
        return Some(Refused {
            rule: &CARRIED_FILE,
            message: format!("the content of `{name}` does not match its extension"),
            help: "save it again as GIF, JPEG, PNG or WebP".into(),
        });
    };
    (u64::from(width) * u64::from(height) > PIXELS).then(|| Refused {
        rule: &TOO_LARGE,
        message: format!("picture of {width} × {height} pixels"),
        help: format!("at most {} million pixels are allowed; reduce its size", PIXELS / 1_000_000),
    })
}
