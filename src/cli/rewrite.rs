//! Analysis of sources in memory, and writing of changed source files: all of them or none.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::cli::environment;
use crate::diag::{Diagnostic, Severity};
use crate::emit::{Permission, SingleFile};
use crate::engine::Engine;
use crate::files::Sources;
use crate::load::Drafts;
use crate::pipeline::{self, Analysis, SiteOptions};
use crate::progress::NoProgress;
use crate::render::Audience;

/// A source file with its new text.
pub(super) struct Rewritten {
    /// Path in the site.
    pub path: String,
    /// Path before, if the file moves; it keeps its permissions.
    pub moved_from: Option<String>,
    /// Text before; `None` for a new file.
    pub old: Option<String>,
    /// New text; `None` to remove the file.
    pub new: Option<String>,
}

/// Analyzes sources, drafts included.
pub(super) fn analyze(sources: &Sources, faults: Vec<Diagnostic>) -> Result<Analysis> {
    let options = SiteOptions {
        today: environment::today(),
        drafts: Drafts::Include,
        base_url: None,
        audience: Audience::World,
        engine: Arc::new(Engine::without_cache()),
    };
    pipeline::analyze(sources, faults, &options, &NoProgress)
}

/// Returns the errors of sources.
pub(super) fn errors(sources: &Sources, faults: Vec<Diagnostic>) -> Result<Vec<Diagnostic>> {
    let found = analyze(sources, faults)?.findings;
    Ok(found.into_iter().filter(|finding| finding.severity == Severity::Error).collect())
}

/// Replaces a file atomically.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    write_like(path, path, text)
}

fn write_like(model: &Path, path: &Path, text: &str) -> Result<()> {
    SingleFile { path, mark: b"", sources: &[], permission: Permission::TakeOver }
        .write_like(model, text.as_bytes())
}

/// Writes all files. If one cannot be written, restores those before it.
pub(super) fn write_all(root: &Path, files: &[Rewritten]) -> Result<()> {
    for file in files {
        check_inside(root, &root.join(&file.path))?;
        let on_disk = fs::read_to_string(root.join(&file.path)).ok();
        if on_disk != file.old {
            bail!("`{}` has changed in the meantime; run the command again", file.path);
        }
    }
    for (done, file) in files.iter().enumerate() {
        if let Err(error) = set(root, file, file.new.as_deref()) {
            for file in &files[..done] {
                set(root, file, file.old.as_deref())
                    .with_context(|| format!("cannot restore `{}` after an error: {error:#}", file.path))?;
            }
            return Err(error.context("no file changed"));
        }
    }
    Ok(())
}

fn set(root: &Path, file: &Rewritten, text: Option<&str>) -> Result<()> {
    let path = root.join(&file.path);
    let model = file.moved_from.as_ref().map_or(path.clone(), |old| root.join(old));
    match text {
        Some(text) => write_like(&model, &path, text),
        None => fs::remove_file(&path).with_context(|| format!("cannot remove `{}`", path.display())),
    }
}

/// Rejects a path whose folder is outside `root`, because of a symbolic link.
fn check_inside(root: &Path, path: &Path) -> Result<()> {
    let real =
        |path: &Path| path.canonicalize().with_context(|| format!("cannot access `{}`", path.display()));
    let existing = path.ancestors().skip(1).find(|folder| folder.exists()).unwrap_or(root);
    if !real(existing)?.starts_with(real(root)?) {
        bail!("`{}` is outside the site: `{}` is a symbolic link", path.display(), existing.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_restores_the_files_before_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.md"), "old").unwrap();
        fs::create_dir(folder.path().join("b.md")).unwrap();
        let file = |path: &str, old: Option<&str>| Rewritten {
            path: path.into(),
            moved_from: None,
            old: old.map(str::to_string),
            new: Some("new".into()),
        };
        let error = write_all(folder.path(), &[file("a.md", Some("old")), file("b.md", None)]).unwrap_err();
        assert!(format!("{error:#}").starts_with("no file changed: "), "{error:#}");
        assert_eq!(fs::read_to_string(folder.path().join("a.md")).unwrap(), "old");
        let error = write_all(folder.path(), &[file("a.md", Some("other"))]).unwrap_err();
        assert_eq!(error.to_string(), "`a.md` has changed in the meantime; run the command again");
    }
}
