//! Which files changed since a revision: git is asked.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The files that differ from where the history of `revision` and the present one part, relative to `root`; new
/// files that git does not ignore among them.
///
/// # Errors
/// When git cannot be run, knows no such revision, or `root` is in no repository.
pub(super) fn since(root: &Path, revision: &str) -> Result<BTreeSet<String>> {
    let base = git(root, &["merge-base", "--end-of-options", revision, "HEAD"])?;
    let changed = git(root, &["diff", "--name-only", "--relative", "-z", base.trim(), "--", "."])?;
    let new = git(root, &["ls-files", "--others", "--exclude-standard", "-z", "--", "."])?;
    let names = changed.split('\0').chain(new.split('\0'));
    Ok(names.filter(|name| !name.is_empty()).map(str::to_owned).collect())
}

/// Those of these paths, relative to `root`, that git tracks, or that hold a file it tracks; none where `root` is in no
/// repository.
pub(super) fn tracked(root: &Path, paths: &[&str]) -> BTreeSet<String> {
    let is_tracked = |path: &&&str| {
        let listed = git(root, &["--literal-pathspecs", "ls-files", "-z", "--", path]);
        listed.is_ok_and(|listed| !listed.is_empty())
    };
    paths.iter().filter(is_tracked).map(|path| (*path).to_string()).collect()
}

fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(root).args(arguments);
    let output = command.output().context("cannot run `git`, which tells what changed")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        match said.lines().next() {
            Some(line) => bail!("git cannot tell what changed: {line}"),
            None => bail!("git cannot tell what changed: the histories have nothing in common"),
        }
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
