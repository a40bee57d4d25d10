//! Names that kbgen alone gives to files: its temporary ones, and the cache of earlier versions. None belongs in a site.

use std::fs;
use std::path::Path;

use walkdir::WalkDir;

use crate::diag::Diagnostic;
use crate::files::Span;
use crate::load::rules::LEFTOVER;

/// Something with such a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// Its path from the root of the site.
    pub path: String,
    /// Whether it is a symbolic link.
    pub is_link: bool,
    /// Whether kbgen makes such a thing while it works, and removes it afterwards.
    pub is_temporary: bool,
}

/// Everything with such a name that lies in the root of a site or in one of these folders of it.
pub fn leftovers(root: &Path, folders: &[&str]) -> Vec<Leftover> {
    let top = WalkDir::new(root).min_depth(1).max_depth(1).sort_by_file_name();
    let inner = folders.iter().flat_map(|folder| {
        // A walk follows a link at its top.
        let is_folder = fs::symlink_metadata(root.join(folder)).is_ok_and(|found| found.is_dir());
        is_folder
            .then(|| WalkDir::new(root.join(folder)).min_depth(1).sort_by_file_name())
            .into_iter()
            .flatten()
    });
    let mut found = Vec::new();
    for entry in top.into_iter().chain(inner).flatten() {
        let name = entry.file_name().to_string_lossy().to_lowercase();
        let Some(is_usual) = usual(&name, entry.file_type()) else { continue };
        let path = entry.path().strip_prefix(root).unwrap_or(entry.path());
        found.push(Leftover {
            path: path.to_string_lossy().replace('\\', "/"),
            is_link: entry.path_is_symlink(),
            is_temporary: is_usual && name != OLD_CACHE,
        });
    }
    found
}

/// The cache of versions before this one.
const OLD_CACHE: &str = ".kbgen-cache";

/// Whether a name is one of kbgen's, and if so, whether kbgen gave it to such a thing.
fn usual(name: &str, kind: fs::FileType) -> Option<bool> {
    match name {
        OLD_CACHE | ".kbgen-new" | ".kbgen-old" => Some(kind.is_dir()),
        _ => {
            let ending = name.strip_prefix('.')?.rsplit_once(".kbgen-")?.1;
            matches!(ending, "new" | "old" | "lock").then(|| kind.is_dir() || kind.is_file())
        }
    }
}

impl Leftover {
    /// Returns the finding for it, or none for a file that a running build may have made.
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
