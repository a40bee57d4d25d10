//! `kbgen init`: creates a small knowledge base that builds.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use include_dir::{Dir, include_dir};

use crate::cli::Outcome;
use crate::cli::arguments::InitOptions;
use crate::cli::terminal::Terminal;

static STARTER: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/src/cli/starter");

pub(super) fn run(options: &InitOptions, terminal: &Terminal) -> Result<Outcome> {
    let folder = &options.dir;
    if folder.exists() {
        let mut entries =
            fs::read_dir(folder).with_context(|| format!("cannot read `{}`", folder.display()))?;
        if entries.next().is_some() {
            bail!("`{}` is not empty; choose a new folder", folder.display());
        }
    }
    for part in ["common", options.pack.folder()] {
        write(STARTER.get_dir(part).context("the starter is incomplete")?, Path::new(part), folder)?;
    }
    terminal.message(format!(
        "created a knowledge base in {}; view it with `kbgen --root {} serve`",
        folder.display(),
        folder.display()
    ));
    Ok(Outcome::Success)
}

/// Writes the files of `from` below `to`, without the first component `part` of their paths.
fn write(from: &Dir<'_>, part: &Path, to: &Path) -> Result<()> {
    for file in from.files() {
        let path = to.join(file.path().strip_prefix(part).unwrap_or(file.path()));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))?;
        }
        fs::write(&path, file.contents()).with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    from.dirs().try_for_each(|inner| write(inner, part, to))
}
