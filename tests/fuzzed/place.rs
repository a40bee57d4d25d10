//! Paths in the repository.

use std::path::{Path, PathBuf};

/// Returns a path in the repository, for tests and fuzz targets.
pub fn repository(path: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|folder| folder.join("tests/golden/site").is_dir());
    root.expect("the tests lie in the repository").join(path)
}
