//! Files changed since a git revision.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// Difference between the working tree and its merge base with a revision.
#[derive(Debug)]
pub(super) struct GitDiff {
    /// Changed files relative to the site root, including untracked files that git does not ignore.
    pub paths: BTreeSet<String>,
    top: PathBuf,
    /// Git name of the tree at the site root before the change.
    before: String,
}

impl GitDiff {
    /// Computes the difference of the site at `root` to a revision.
    ///
    /// # Errors
    /// If git cannot be run, does not know the revision, or `root` is not in a repository.
    pub fn since(root: &Path, revision: &str) -> Result<Self> {
        let base = git(root, &["merge-base", "--end-of-options", revision, "HEAD"])?;
        let base = base.trim();
        let changed = git(root, &["diff", "--name-only", "--relative", "-z", base, "--", "."])?;
        let new = git(root, &["ls-files", "--others", "--exclude-standard", "-z", "--", "."])?;
        let names = changed.split('\0').chain(new.split('\0'));
        let paths = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let prefix = git(root, &["rev-parse", "--show-prefix"])?;
        let top = git(root, &["rev-parse", "--show-toplevel"])?;
        let before = format!("{base}:{}", prefix.trim_end_matches('\n'));
        Ok(Self { paths, top: PathBuf::from(top.trim_end_matches('\n')), before })
    }

    /// Checks out the site before the change into a temporary folder.
    ///
    /// # Errors
    /// If the folder cannot be created or git fails.
    pub fn tree_before(&self) -> Result<TemporaryTree> {
        let tree = TemporaryTree::new()?;
        let index = tree.folder.join("index");
        // The tree is empty where the site is new.
        if git_with(&self.top, &index, &["read-tree", &self.before]).is_ok() {
            let prefix = format!("--prefix={}/", tree.path().display());
            git_with(&self.top, &index, &["checkout-index", "--all", "--quiet", &prefix])?;
        }
        Ok(tree)
    }
}

/// Temporary folder with the files of another revision, deleted on drop.
#[derive(Debug)]
pub(super) struct TemporaryTree {
    folder: PathBuf,
    files: PathBuf,
}

impl TemporaryTree {
    fn new() -> Result<Self> {
        for attempt in 0..100 {
            let folder = std::env::temp_dir().join(format!("kbgen-{}-{attempt}", std::process::id()));
            #[cfg_attr(not(unix), allow(unused_mut, reason = "only Unix has a mode"))]
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            match builder.create(&folder) {
                Ok(()) => {
                    let files = folder.join("files");
                    return Ok(Self { folder, files });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error).with_context(|| format!("cannot create `{}`", folder.display()));
                }
            }
        }
        bail!("cannot create a folder in `{}`: all names are in use", std::env::temp_dir().display())
    }

    pub fn path(&self) -> &Path {
        &self.files
    }
}

impl Drop for TemporaryTree {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Returns the `paths`, relative to `root`, that git tracks or that contain a tracked file. Empty if `root` is not in a
/// repository.
pub(super) fn tracked(root: &Path, paths: &[&str]) -> BTreeSet<String> {
    let is_tracked = |path: &&&str| {
        let listed = git(root, &["--literal-pathspecs", "ls-files", "-z", "--", path]);
        listed.is_ok_and(|listed| !listed.is_empty())
    };
    paths.iter().filter(is_tracked).map(|path| (*path).to_string()).collect()
}

fn git(folder: &Path, arguments: &[&str]) -> Result<String> {
    run(Command::new("git").arg("-C").arg(folder).args(arguments))
}

/// Runs [`git`] with a separate index file.
fn git_with(folder: &Path, index: &Path, arguments: &[&str]) -> Result<String> {
    run(Command::new("git").arg("-C").arg(folder).env("GIT_INDEX_FILE", index).args(arguments))
}

fn run(command: &mut Command) -> Result<String> {
    let output = command.output().context("cannot run `git`")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        match said.lines().next() {
            Some(line) => bail!("git failed: {line}"),
            None => bail!("git failed: the revisions have no common ancestor"),
        }
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
