//! Results of earlier runs, in a folder that may be deleted at any time.
//!
//! A file is written beside its place and renamed, so that two builds at once see whole files; which of them stays
//! makes no difference. A file that is broken or of another program is as good as none.

use std::fs;
use std::io::{self, Error, ErrorKind};
use std::path::{Path, PathBuf};
use std::process;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::store::{Kind, MOST_BYTES, Part, Store};

/// The folder, beside `site.toml`.
const FOLDER: &str = ".kbgen-cache";

/// Files that tell others to leave the folder alone: git, and programs that make backups
/// (<https://bford.info/cachedir/>).
const SIGNS: [(&str, &str); 2] = [
    (".gitignore", "*\n"),
    (
        "CACHEDIR.TAG",
        "Signature: 8a477f597d28d172789f06886806bc55\n# Made by kbgen; delete it as you like.\n",
    ),
];

/// What the published folder was made of.
const RECORD: &str = "published";

/// No run writes a file for so long.
const HOUR: Duration = Duration::from_secs(3600);

/// Longer files are not ours: beside its results, a file has keys only.
const MOST_FILE: u64 = 2 * MOST_BYTES as u64;

/// What earlier runs for the site in `root` left; read when it is asked for.
pub fn open(root: &Path) -> Store {
    let root = root.to_path_buf();
    Store::new(move |kind, part| read(&file(&root, kind, part)))
}

/// Leaves what is new in `store` to later runs.
///
/// # Errors
/// When the disk refuses; what was there before is there still, or nothing.
pub fn keep(root: &Path, store: &Store) -> Result<()> {
    for kind in Kind::ALL {
        if let Some((part, pack)) = store.pack(kind) {
            write(&file(root, kind, part), &pack)?;
            if part == Part::Whole {
                // The whole has it too; if it stays, nothing but room is lost.
                let _ = fs::remove_file(file(root, kind, Part::Later));
            }
        }
    }
    Ok(())
}

/// What [`keep_record`] left, as it is; a folder that was published was made of this.
pub fn record(root: &Path) -> Option<String> {
    String::from_utf8(read(&root.join(FOLDER).join(RECORD))?).ok()
}

/// Leaves what the published folder was made of to the next build.
///
/// # Errors
/// As [`keep`].
pub fn keep_record(root: &Path, record: &str) -> Result<()> {
    write(&root.join(FOLDER).join(RECORD), record.as_bytes())
}

/// A file that may be ours.
fn read(file: &Path) -> Option<Vec<u8>> {
    let is_ours = fs::symlink_metadata(file).is_ok_and(|found| found.is_file() && found.len() <= MOST_FILE);
    is_ours.then(|| fs::read(file).ok()).flatten()
}

/// Puts a file in its place whole.
fn write(file: &Path, bytes: &[u8]) -> Result<()> {
    let folder = file.parent().expect("the file lies in a folder");
    make_folder(folder)?;
    let beside = file.with_extension(format!("{}.new", process::id()));
    let written = fs::write(&beside, bytes).and_then(|()| fs::rename(&beside, file));
    clean(folder, file);
    if written.is_err() {
        // What was begun helps nobody; if it cannot be removed, the first error says why.
        let _ = fs::remove_file(&beside);
    }
    written.with_context(|| format!("cannot write `{}`", file.display()))
}

fn file(root: &Path, kind: Kind, part: Part) -> PathBuf {
    let ending = match part {
        Part::Whole => "pack",
        Part::Later => "later",
    };
    root.join(FOLDER).join(kind.name()).with_extension(ending)
}

/// Makes the folder if it is missing; something else in its place is refused: a link might lead anywhere.
fn make_folder(folder: &Path) -> Result<()> {
    match fs::symlink_metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => bail!("`{}` is not a folder", folder.display()),
        Err(_) => fs::create_dir(folder)
            .or_else(there_now)
            .with_context(|| format!("cannot make `{}`", folder.display()))?,
    }
    for (name, text) in SIGNS {
        let file = folder.join(name);
        if !file.exists() {
            fs::write(&file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
        }
    }
    Ok(())
}

/// Another run may have made it in this moment.
fn there_now(error: Error) -> io::Result<()> {
    if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

/// Removes what runs left that were ended while they wrote: what is an hour older than the file just written. If that
/// fails, a later run will do it.
fn clean(folder: &Path, written: &Path) {
    let modified = |path: &Path| fs::symlink_metadata(path).and_then(|found| found.modified());
    let (Ok(entries), Ok(now)) = (fs::read_dir(folder), modified(written)) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let is_old = modified(&path).is_ok_and(|then| then + HOUR < now);
        if is_old && path.extension().is_some_and(|extension| extension == "new") {
            let _ = fs::remove_file(path);
        }
    }
}
