//! The knowledge base in the program: settings and pages, compressed by `build.rs`.

use std::io::Read;

use flate2::read::DeflateDecoder;

use crate::files::Sources;

static ARCHIVE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/knowledge-base.deflate"));

/// Hash of the embedded files.
pub const EMBEDDED_HASH: &str = env!("KBGEN_EMBEDDED_HASH");
/// Latest verification date of an embedded page.
pub const EMBEDDED_DATE: &str = env!("KBGEN_EMBEDDED_DATE");
/// Commit that the files were embedded from; empty if unknown.
pub const EMBEDDED_COMMIT: &str = env!("KBGEN_EMBEDDED_COMMIT");

/// Bytes at the beginning of the archive that contain the settings.
const SETTINGS_BYTES: u64 = 64 * 1024;

/// Returns the embedded settings and pages.
pub fn embedded() -> Sources {
    unpack(u64::MAX)
}

/// Returns the embedded settings, without decompressing all pages.
pub fn embedded_settings() -> Sources {
    unpack(SETTINGS_BYTES).only(|path| path == "site.toml")
}

/// Unpacks the files that lie wholly in the first bytes of the archive.
fn unpack(limit: u64) -> Sources {
    let mut bytes = Vec::new();
    let read = DeflateDecoder::new(ARCHIVE).take(limit).read_to_end(&mut bytes);
    read.expect("build.rs compressed the archive");
    let mut sources = Sources::default();
    let text = String::from_utf8_lossy(&bytes);
    let mut rest = text.as_ref();
    while let Some((path, length, after)) = entry(rest) {
        let Some((text, next)) = after.split_at_checked(length) else { break };
        sources.add(path, text);
        rest = next;
    }
    sources
}

/// Splits the path and length of a file from its text and all later files.
fn entry(text: &str) -> Option<(&str, usize, &str)> {
    let (path, rest) = text.split_once('\n')?;
    let (length, rest) = rest.split_once('\n')?;
    Some((path, length.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_pages_are_embedded() {
        let sources = embedded();
        let text = |sources: &Sources, path: &str| sources.find(path).map(|id| sources.get(id).text.clone());
        assert!(sources.under("content/errors/").count() > 100);
        assert!(sources.under("content/models/").count() > 100);
        let settings = text(&sources, "site.toml").expect("there are settings");
        assert_eq!(text(&embedded_settings(), "site.toml").as_deref(), Some(&*settings));
        assert_eq!(embedded_settings().under("content/").count(), 0);
        assert!(EMBEDDED_DATE.parse::<jiff::civil::Date>().is_ok(), "{EMBEDDED_DATE}");
    }
}
