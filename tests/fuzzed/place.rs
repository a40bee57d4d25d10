//! Where the repository lies.

use std::path::{Path, PathBuf};

/// A path in the repository, from its own tests and from those of the engine.
pub fn repository(path: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|folder| folder.join("tests/golden/site").is_dir());
    root.expect("the tests lie in the repository").join(path)
}
