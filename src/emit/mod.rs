//! Writes a site to a folder atomically: the folder contains the complete old site or the complete new one.
//!
//! The new tree is made next to the folder and the two are swapped in one step. Unchanged files are hard links, so
//! they keep their inode and modification time. A process whose current directory is the folder (`cd public &&
//! python3 -m http.server`) therefore keeps seeing the old, removed folder.
//!
//! A mount point cannot be swapped: there, the new tree is made inside the folder, and the top-level entries are
//! swapped one by one.

mod lock;
mod manifest;
mod paths;
mod plan;
mod record;
mod single_file;
mod staged_output;
mod staging;
mod swap;
mod tree;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::files::Outputs;

pub use crate::emit::manifest::MANIFEST_FILE;
pub use crate::emit::paths::canonical;
pub use crate::emit::record::Record;
pub use crate::emit::single_file::SingleFile;
pub use crate::emit::staged_output::{Published, StagedOutput};

/// Where to write a site.
#[derive(Debug, Clone)]
pub struct OutputTarget<'a> {
    /// The folder to publish; it and its parents are created if missing.
    pub folder: &'a Path,
    /// Files and folders of the site's sources: none of them may contain the output folder or be inside it.
    pub sources: &'a [PathBuf],
    /// Permission to write to a folder that kbgen did not make.
    pub permission: Permission,
}

/// Permission to change files that kbgen did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Writes only to a new or empty folder or to an earlier output folder, and replaces only files that kbgen wrote.
    OnlyOurs,
    /// Takes over a folder with other content: conflicting files are replaced, all others stay.
    TakeOver,
}

/// Number of files by what a build did with them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// New and changed files.
    pub written: usize,
    /// Files with the same content; they keep inode and modification time.
    pub unchanged: usize,
    /// Files of an earlier build that this one no longer contains.
    pub removed: usize,
    /// Files that kbgen did not write and did not touch.
    pub kept: usize,
}

/// Publishes files that are in memory.
///
/// # Errors
/// As [`StagedOutput::begin`] and [`StagedOutput::finish`].
pub fn write(outputs: &Outputs, target: &OutputTarget) -> Result<Report> {
    let output = StagedOutput::begin(target)?;
    outputs.write_to(&output);
    Ok(output.finish()?.report)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::emit::paths::{OutputPaths, SwapMode};
    use crate::files::Sink;

    #[test]
    fn files_sent_in_parts_stay_if_they_are_the_same() {
        let root = tempfile::TempDir::new().unwrap();
        let folder = root.path().join("public");
        let emit = |parts: &[&str]| {
            let target = OutputTarget { folder: &folder, sources: &[], permission: Permission::OnlyOurs };
            let output = StagedOutput::begin(&target).unwrap();
            let (last, parts) = parts.split_last().unwrap();
            parts.iter().for_each(|part| output.append("data/all.txt", part.as_bytes()));
            output.write("data/all.txt".to_string(), last.as_bytes().to_vec());
            output.finish().unwrap().report
        };
        let text = || fs::read_to_string(folder.join("data/all.txt")).unwrap();
        let (written, unchanged) =
            (Report { written: 1, ..Report::default() }, Report { unchanged: 1, ..Report::default() });
        assert_eq!((emit(&["one ", "two ", ""]), text().as_str()), (written, "one two "));
        assert_eq!((emit(&["one two", " "]), text().as_str()), (unchanged, "one two "));
        assert_eq!((emit(&["one two "]), text().as_str()), (unchanged, "one two "));
        assert_eq!((emit(&["one ", "tree"]), text().as_str()), (written, "one tree"));
    }

    #[test]
    fn swaps_entries_of_a_folder_that_cannot_be_moved() {
        let root = tempfile::TempDir::new().unwrap();
        let folder = root.path().join("public");
        fs::create_dir(&folder).unwrap();
        let paths = OutputPaths {
            swap_mode: SwapMode::ByEntry,
            staging: folder.join(".kbgen-new"),
            aside: folder.join(".kbgen-old"),
            lock: root.path().join("lock"),
            folder: folder.clone(),
        };
        let emit = |files: &[(&str, &str)]| {
            let mut outputs = Outputs::default();
            files.iter().for_each(|(path, text)| outputs.add(*path, *text));
            let output = StagedOutput::begin_at(paths.clone(), Permission::OnlyOurs).unwrap();
            outputs.write_to(&output);
            output.finish().unwrap().report
        };
        let found = || {
            let entries =
                walkdir::WalkDir::new(&folder).min_depth(1).sort_by_file_name().into_iter().flatten();
            let entries =
                entries.filter(|entry| entry.file_type().is_file() && entry.file_name() != MANIFEST_FILE);
            let text = |entry: walkdir::DirEntry| {
                let path = entry.path().strip_prefix(&folder).unwrap().display().to_string();
                (path, fs::read_to_string(entry.path()).unwrap())
            };
            entries.map(text).map(|(path, text)| format!("{path}={text}")).collect::<Vec<_>>()
        };
        emit(&[("index.html", "1"), ("errors/a.html", "a"), ("old/b.html", "b")]);
        fs::write(folder.join("CNAME"), "mine").unwrap();
        fs::write(folder.join("errors/notes"), "mine").unwrap();
        fs::create_dir(folder.join("theirs")).unwrap();
        fs::write(folder.join("theirs/photo"), "mine").unwrap();
        let report = emit(&[("index.html", "2"), ("errors/a.html", "a"), ("new/c.html", "c")]);
        assert_eq!(report, Report { written: 2, unchanged: 1, removed: 1, kept: 3 });
        let now = [
            "CNAME=mine",
            "errors/a.html=a",
            "errors/notes=mine",
            "index.html=2",
            "new/c.html=c",
            "theirs/photo=mine",
        ];
        assert_eq!(found(), now);
        // Simulates a killed swap with the manifest of both builds: files of neither build are removed, foreign files
        // stay.
        fs::create_dir(&paths.staging).unwrap();
        fs::create_dir(folder.join("half")).unwrap();
        fs::write(folder.join("half/d.html"), "d").unwrap();
        let manifest = fs::read_to_string(folder.join(MANIFEST_FILE)).unwrap();
        fs::write(folder.join(MANIFEST_FILE), format!("{manifest}half/d.html\n")).unwrap();
        emit(&[("index.html", "2"), ("errors/a.html", "a"), ("new/c.html", "c")]);
        assert_eq!(found(), now);
        assert!(!folder.join("half").exists() && !paths.staging.exists() && !paths.aside.exists());
    }
}
