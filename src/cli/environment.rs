//! What the commands take from around them: the folder, and the day.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use jiff::Zoned;
use jiff::civil::Date;

/// The folder that holds `site.toml`: the one given, or the nearest parent of the current one.
///
/// # Errors
/// When there is none.
pub(super) fn root(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        if !given.join("site.toml").is_file() {
            bail!("no `site.toml` in `{}`", given.display());
        }
        return Ok(given.to_path_buf());
    }
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    let found = here.ancestors().find(|folder| folder.join("site.toml").is_file());
    match found {
        Some(folder) => Ok(folder.to_path_buf()),
        None => bail!(
            "no `site.toml` in `{}` or above it: `kbgen init DIR` makes a new site, `--root DIR` names one",
            here.display()
        ),
    }
}

/// The file that is named, or standard input for `-` and for none.
///
/// # Errors
/// When the file cannot be opened.
pub(super) fn input(file: Option<&Path>) -> Result<Box<dyn Read>> {
    match file {
        Some(path) if path.as_os_str() != "-" => {
            Ok(Box::new(File::open(path).with_context(|| format!("cannot read `{}`", path.display()))?))
        }
        _ => Ok(Box::new(std::io::stdin())),
    }
}

/// Bytes that are read from a log at once.
const PIECE: usize = 256 * 1024;

/// Gives a log to `take`, piece by piece, however long it is; what is no UTF-8 becomes `\u{fffd}`.
///
/// # Errors
/// When the file cannot be opened or read.
pub(super) fn read_pieces(file: Option<&Path>, mut take: impl FnMut(&str)) -> Result<()> {
    let name = file.map_or("standard input".into(), |path| format!("`{}`", path.display()));
    let mut input = input(file)?;
    let mut bytes = vec![0; PIECE];
    let mut kept = 0;
    loop {
        let read = match input.read(&mut bytes[kept..]) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read.with_context(|| format!("cannot read {name}"))?,
        };
        let filled = kept + read;
        let whole = if read == 0 { filled } else { without_cut_character(&bytes[..filled]) };
        take(&String::from_utf8_lossy(&bytes[..whole]));
        if read == 0 {
            return Ok(());
        }
        bytes.copy_within(whole..filled, 0);
        kept = filled - whole;
    }
}

/// The length of the text without a last character whose bytes are not all there.
fn without_cut_character(bytes: &[u8]) -> usize {
    let end = bytes.len().saturating_sub(3);
    let first = bytes[end..].iter().rposition(|byte| *byte >= 0xc0).map(|at| end + at);
    let is_cut = |from: usize| str::from_utf8(&bytes[from..]).is_err_and(|error| error.error_len().is_none());
    first.filter(|from| is_cut(*from)).unwrap_or(bytes.len())
}

/// Today, by the clock of this machine.
pub(super) fn today() -> Date {
    Zoned::now().date()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_ends_between_characters() {
        let text = "a日é😀b";
        for cut in 0..=text.len() {
            let whole = without_cut_character(&text.as_bytes()[..cut]);
            assert!(text.is_char_boundary(whole) && cut - whole < 4, "{whole} of {cut}");
        }
        assert_eq!(without_cut_character(b"no UTF-8: \xe9"), 10);
        assert_eq!(without_cut_character(b"no UTF-8: \xe9!"), 12);
        assert_eq!(without_cut_character(b"\x80\x80\x80"), 3);
    }
}
