//! The manifest `.kbgen-output`: marks a folder as made by kbgen and lists the files that kbgen wrote.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context, Result, bail};

/// Name of the manifest in the output folder.
pub const MANIFEST_FILE: &str = ".kbgen-output";

const FORMAT: &str = "kbgen-output 1";
const NOTE: &str =
    "# Made by kbgen. The next build replaces or removes the files listed here and keeps all others.";

/// The paths that a build wrote, separated by `/`, without the manifest itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub(crate) paths: BTreeSet<String>,
}

impl Manifest {
    /// Reads the manifest of a folder; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read or has an unknown format.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>> {
        let file = folder.join(MANIFEST_FILE);
        if fs::symlink_metadata(&file).is_ok_and(|found| !found.is_file()) {
            bail!("`{}` was not created by kbgen; delete it", file.display());
        }
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot read `{}`", file.display())),
        };
        let Some(list) = text.strip_prefix(FORMAT).and_then(|rest| rest.strip_prefix('\n')) else {
            bail!(
                "`{}` is not a marker of this version of kbgen (expected `{FORMAT}` in the first line); \
                 delete the folder, or choose another one",
                file.display()
            );
        };
        // Ignores manually added lines that are not plain paths: none may lead outside the folder.
        let paths = list.lines().filter(|line| !line.starts_with('#') && is_plain(line));
        Ok(Some(Self { paths: paths.map(str::to_string).collect() }))
    }

    /// Formats the manifest: a format line, a note, and one path per line.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{FORMAT}\n{NOTE}\n");
        for path in &self.paths {
            text.push_str(path);
            text.push('\n');
        }
        text
    }
}

/// Rejects a path that leads outside the folder or contains a line break.
///
/// # Errors
/// In these cases.
pub(crate) fn check_path(path: &str) -> Result<()> {
    if !is_plain(path) || path == MANIFEST_FILE {
        bail!("invalid output path {path:?}");
    }
    Ok(())
}

/// Returns whether a path stays inside the folder on every system: no empty, `.` or `..` component and no control
/// character.
fn is_plain(path: &str) -> bool {
    let part_is_name = |part: &str| !part.is_empty() && part != "." && part != "..";
    path.split('/').all(part_is_name)
        && !path.starts_with('#')
        && !path.contains(['\\', ':'])
        && !path.contains(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_only_paths_inside_the_folder() {
        for path in ["index.html", "errors/a b/ä.html", ".nojekyll", "a..b/..."] {
            assert!(is_plain(path), "{path}");
        }
        for path in
            ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", "a\\b", "C:x", "a\nb", "#a", "a\0"]
        {
            assert!(!is_plain(path), "{path:?}");
        }
    }
}
