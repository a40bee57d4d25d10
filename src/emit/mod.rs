//! Writes the files of a site to a folder that is at every moment wholly the old site or wholly the new one.
//!
//! The new tree is made beside the folder (unchanged files are hard links to the old ones, so they keep
//! their inode and modification time), and the two are exchanged in one step. A process that stands in the
//! folder (`cd public && python3 -m http.server`) therefore keeps seeing the old, removed folder.

mod lock;
mod marker;
mod place;
mod plan;
mod publication;
mod single;
mod staging;
mod swap;

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::files::Outputs;

pub use crate::emit::marker::MARKER;
pub use crate::emit::publication::Publication;
pub use crate::emit::single::Single;

/// Where a site is written, and what must not be touched.
#[derive(Debug, Clone)]
pub struct Target<'a> {
    /// The folder to publish; it and its parents are made when missing.
    pub folder: &'a Path,
    /// Files and folders that the site is made of: the folder may neither hold one of them nor lie in one.
    pub sources: &'a [PathBuf],
    /// What may be done to a folder that kbgen did not make.
    pub permission: Permission,
}

/// What may be done to files that kbgen did not write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Only a new, an empty or an earlier output folder is written to, and only files of our own are replaced.
    OnlyOurs,
    /// A folder of someone else becomes ours: files in the way are replaced, all others stay.
    TakeOver,
}

/// What a call of [`write()`] did, in files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Report {
    /// New files and files with new bytes.
    pub written: usize,
    /// Files that were there with the same bytes; they keep inode and modification time.
    pub unchanged: usize,
    /// Files that an earlier build wrote and this one did not.
    pub removed: usize,
    /// Files that kbgen never wrote and that were kept.
    pub kept: usize,
}

/// Publishes files that are in memory already.
///
/// # Errors
/// As [`Publication::begin`] and [`Publication::finish`].
pub fn write(outputs: &Outputs, target: &Target) -> Result<Report> {
    let publication = Publication::begin(target)?;
    outputs.give(&publication);
    publication.finish()
}
