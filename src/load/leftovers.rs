//! Finds files in a site whose names belong to kbgen: temporary files, and the cache of earlier versions.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

use crate::diag::Diagnostic;
use crate::files::Span;
use crate::load::rules::LEFTOVER;

/// A file or folder with such a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Path relative to the site.
    pub path: String,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// Whether kbgen creates it temporarily.
    pub is_temporary: bool,
}

/// Returns all such files in the root of a site and in `folders`.
pub fn leftovers(root: &Path, folders: &[&str]) -> Vec<Leftover> {
    let top = WalkDir::new(root).min_depth(1).max_depth(1).sort_by_file_name();
    let inner = folders.iter().flat_map(|folder| {
        // A directory walk would follow a link at its root.
        let is_folder = fs::symlink_metadata(root.join(folder)).is_ok_and(|found| found.is_dir());
        is_folder
            .then(|| WalkDir::new(root.join(folder)).min_depth(1).sort_by_file_name())
            .into_iter()
            .flatten()
    });
    let mut found = Vec::new();
    for entry in top.into_iter().chain(inner).flatten() {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let Some(is_usual) = has_expected_type(&name, entry.file_type()) else { continue };
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        found.push(Leftover {
            path: path.to_string_lossy().replace('\\', "/"),
            is_link: entry.path_is_symlink(),
            is_temporary: is_usual && name != OLD_CACHE,
        });
    }
    found
}

/// Cache folder of earlier versions.
const OLD_CACHE: &str = ".kbgen-cache";

/// Returns whether a name belongs to kbgen, and if so, whether the type of the file is the expected one.
fn has_expected_type(name: &str, kind: fs::FileType) -> Option<bool> {
    match name {
        OLD_CACHE | ".kbgen-new" | ".kbgen-old" => Some(kind.is_dir()),
        _ => {
            let ending = name.strip_prefix('.')?.rsplit_once(".kbgen-")?.1;
            matches!(ending, "new" | "old" | "lock").then(|| kind.is_dir() || kind.is_file())
        }
    }
}

impl Leftover {
    /// Returns the finding for it; `None` for a file that a running build may have created.
    pub fn finding(&self, place: Span) -> Option<Diagnostic> {
        let Self { path, is_link, is_temporary } = self;
        let finding = match (is_link, is_temporary) {
            (true, _) => Diagnostic::error(
                &LEFTOVER,
                place,
                format!("`{path}` is a symbolic link with a name reserved for kbgen"),
            ),
            (false, true) => return None,
            (false, false) => Diagnostic::warning(
                &LEFTOVER,
                place,
                format!("`{path}` has a name reserved for temporary files of kbgen"),
            ),
        };
        Some(finding.help("delete it"))
    }

    /// Returns the finding for a file that git tracks.
    pub fn tracked(&self, place: Span) -> Diagnostic {
        let message = format!("git tracks `{}`, a temporary file of kbgen", self.path);
        Diagnostic::error(&LEFTOVER, place, message).help(format!("delete it: `git rm -r -f {}`", self.path))
    }
}
