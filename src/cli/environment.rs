//! Environment of the commands: site folder, input files, current date.

use std::borrow::Cow;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use jiff::Zoned;
use jiff::civil::Date;

/// Returns the site folder: the given one, or the nearest parent of the current folder that contains `site.toml`.
///
/// # Errors
/// If no folder contains `site.toml`.
pub(super) fn root(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        if !given.join("site.toml").is_file() {
            bail!("no `site.toml` in `{}`", given.display());
        }
        return Ok(given.to_path_buf());
    }
    match nearest_root()? {
        Some(folder) => Ok(folder),
        None => bail!(
            "no `site.toml` in `{}` or its parent folders; create a site with `kbgen init DIR` or pass `--root DIR`",
            current_folder()?.display()
        ),
    }
}

/// As [`root`], but refuses a folder without pages: it is rather a wrong one.
///
/// # Errors
/// If there is no site, or it has no `content/`.
pub(super) fn root_with_pages(given: Option<&Path>) -> Result<PathBuf> {
    let root = root(given)?;
    if root.join("content").symlink_metadata().is_err() {
        bail!(
            "no folder `content/` in `{}`; create a page with `kbgen new` or pass another folder with `--root`",
            root.display()
        );
    }
    Ok(root)
}

/// Returns the nearest parent of the current folder that contains `site.toml`.
///
/// # Errors
/// If the current folder is unknown.
pub(super) fn nearest_root() -> Result<Option<PathBuf>> {
    let here = current_folder()?;
    Ok(here.ancestors().find(|folder| folder.join("site.toml").is_file()).map(Path::to_path_buf))
}

fn current_folder() -> Result<PathBuf> {
    std::env::current_dir().context("cannot determine the current folder")
}

/// Opens a file, or standard input for `-` and `None`.
///
/// # Errors
/// If the file cannot be opened.
pub(super) fn input(file: Option<&Path>) -> Result<Box<dyn Read>> {
    match file {
        Some(path) if path.as_os_str() != "-" => Ok(Box::new(File::open(path).with_context(|| {
            let name = path.display().to_string();
            let hint =
                if name.contains(' ') { "; a text is read from standard input, not an argument" } else { "" };
            format!("cannot read `{name}`{hint}")
        })?)),
        _ => Ok(Box::new(std::io::stdin())),
    }
}

/// Bytes per read of a log.
const CHUNK_BYTES: usize = 256 * 1024;

/// Reads a log of any length in chunks and passes each to `take`. A log in UTF-16 starts with a byte order mark. Invalid
/// text becomes `\u{fffd}`.
///
/// # Errors
/// If the file cannot be opened or read.
pub(super) fn read_chunks(file: Option<&Path>, mut take: impl FnMut(&str)) -> Result<()> {
    let name = file.map_or("standard input".into(), |path| format!("`{}`", path.display()));
    let mut input = input(file)?;
    let mut bytes = vec![0; CHUNK_BYTES];
    let mut carried = 0;
    let mut encoding = None;
    loop {
        let read = match input.read(&mut bytes[carried..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.with_context(|| format!("cannot read {name}"))?,
        };
        let filled = carried + read;
        if encoding.is_none() && filled < 2 && read > 0 {
            carried = filled;
            continue;
        }
        let encoding = *encoding.get_or_insert_with(|| Encoding::of(&bytes[..filled]));
        let whole = if read == 0 { filled } else { encoding.complete_length(&bytes[..filled]) };
        take(&encoding.decode(&bytes[..whole]));
        if read == 0 {
            return Ok(());
        }
        bytes.copy_within(whole..filled, 0);
        carried = filled - whole;
    }
}

/// Encoding of a log.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Utf8,
    Utf16Le,
    Utf16Be,
}

impl Encoding {
    /// Returns the encoding by the byte order mark at the start of a log.
    fn of(start: &[u8]) -> Self {
        match start {
            [0xff, 0xfe, ..] => Self::Utf16Le,
            [0xfe, 0xff, ..] => Self::Utf16Be,
            _ => Self::Utf8,
        }
    }

    /// Returns the length without an incomplete character at the end.
    fn complete_length(self, bytes: &[u8]) -> usize {
        if self == Self::Utf8 {
            return complete_length(bytes);
        }
        let whole = bytes.len() / 2 * 2;
        let last = bytes[..whole].last_chunk().map(|pair| self.unit(*pair));
        if last.is_some_and(|unit| (0xd800..0xdc00).contains(&unit)) { whole - 2 } else { whole }
    }

    /// Returns the text without the byte order mark of UTF-16.
    fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        if self == Self::Utf8 {
            return String::from_utf8_lossy(bytes);
        }
        let (pairs, _) = bytes.as_chunks();
        let units: Vec<u16> =
            pairs.iter().map(|pair| self.unit(*pair)).filter(|unit| *unit != 0xfeff).collect();
        Cow::Owned(String::from_utf16_lossy(&units))
    }

    fn unit(self, pair: [u8; 2]) -> u16 {
        if self == Self::Utf16Be { u16::from_be_bytes(pair) } else { u16::from_le_bytes(pair) }
    }
}

/// Returns the length without an incomplete UTF-8 character at the end.
fn complete_length(bytes: &[u8]) -> usize {
    let end = bytes.len().saturating_sub(3);
    let first = bytes[end..].iter().rposition(|byte| *byte >= 0xc0).map(|at| end + at);
    let is_cut = |from: usize| str::from_utf8(&bytes[from..]).is_err_and(|error| error.error_len().is_none());
    first.filter(|from| is_cut(*from)).unwrap_or(bytes.len())
}

/// Returns the current time.
pub(super) fn now() -> SystemTime {
    SystemTime::now()
}

/// Returns the current date in the local time zone.
pub(super) fn today() -> Date {
    Zoned::now().date()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_in_utf16_is_decoded_by_its_mark() {
        let text = "C:\\Jörg\\модель😀\n";
        for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            let units = std::iter::once(0xfeff).chain(text.encode_utf16());
            let bytes: Vec<u8> = units.flat_map(to_bytes).collect();
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("log");
            std::fs::write(&path, &bytes).expect("written");
            let mut read = String::new();
            read_chunks(Some(&path), |chunk| read.push_str(chunk)).expect("readable");
            assert_eq!(read, text);
            let encoding = Encoding::of(&bytes);
            for cut in 2..=bytes.len() {
                let (start, rest) = bytes.split_at(encoding.complete_length(&bytes[..cut]));
                assert_eq!(format!("{}{}", encoding.decode(start), encoding.decode(rest)), text, "{cut}");
            }
        }
    }

    #[test]
    fn a_chunk_ends_between_characters() {
        let text = "a日é😀b";
        for cut in 0..=text.len() {
            let whole = complete_length(&text.as_bytes()[..cut]);
            assert!(text.is_char_boundary(whole) && cut - whole < 4, "{whole} of {cut}");
        }
        assert_eq!(complete_length(b"no UTF-8: \xe9"), 10);
        assert_eq!(complete_length(b"no UTF-8: \xe9!"), 12);
        assert_eq!(complete_length(b"\x80\x80\x80"), 3);
    }
}
