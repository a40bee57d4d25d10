//! What the commands take from around them: the folder, and the day.

use std::fs::File;
use std::io::Read;
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

/// Today, by the clock of this machine.
pub(super) fn today() -> Date {
    Zoned::now().date()
}
