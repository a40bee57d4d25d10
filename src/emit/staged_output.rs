//! Writes a site to a staging folder, file by file, and publishes all files at once.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result};

use crate::emit::lock::{self, OutputLock};
use crate::emit::manifest::{self, Manifest};
use crate::emit::paths::OutputPaths;
use crate::emit::plan::Plan;
use crate::emit::record::{Record, RecordedFile, Stamp};
use crate::emit::staging::{self, Staging, cannot_write};
use crate::emit::tree::Tree;
use crate::emit::{OutputTarget, Permission, Report};
use crate::files::{Key, Sink};

/// A site that is being written next to the published one. Removed if dropped before [`StagedOutput::finish`].
#[derive(Debug)]
pub struct StagedOutput {
    paths: OutputPaths,
    /// The published folder, if it exists.
    published: Option<Tree>,
    permission: Permission,
    /// Manifest of the earlier build.
    before: Option<Manifest>,
    /// Created for the first changed file; `None` if that failed.
    staging: OnceLock<Option<Staging>>,
    written: Mutex<WrittenFiles>,
    /// Files in the staging folder that are not complete.
    begun: Mutex<HashMap<String, File>>,
    /// Keys of the published files.
    known: Record,
}

/// Result of publishing a site.
#[derive(Debug)]
pub struct Published {
    /// Counts of written, kept and removed files.
    pub report: Report,
    /// Keys of the files, for the next build; `None` if unchanged.
    pub record: Option<Record>,
}

/// Files received so far.
#[derive(Debug, Default)]
struct WrittenFiles {
    /// All paths, each with whether the published folder has the same content.
    files: BTreeMap<String, bool>,
    /// Keys of new files.
    made: HashMap<String, Key>,
    /// Keys of reused files.
    kept: Vec<Key>,
    /// First error; later files are not written.
    fault: Option<anyhow::Error>,
    /// Lock, until the staging folder takes it over.
    lock: OutputLock,
}

impl StagedOutput {
    /// Locks the folder.
    ///
    /// # Errors
    /// If kbgen may not write to the folder (see [`Permission`]), it overlaps a source, is a link, or another build
    /// is writing to it.
    pub fn begin(target: &OutputTarget) -> Result<Self> {
        Self::begin_at(OutputPaths::find(target)?, target.permission)
    }

    /// As [`StagedOutput::begin`], for resolved paths.
    pub(crate) fn begin_at(paths: OutputPaths, permission: Permission) -> Result<Self> {
        let mut lock = lock::lock(&paths)?;
        staging::clean(&paths, &mut lock)?;
        paths.check_owner(permission)?;
        let before = if paths.exists() { Manifest::read(&paths.folder)? } else { None };
        let written = Mutex::new(WrittenFiles { lock, ..WrittenFiles::default() });
        let published = Tree::open(&paths.folder).ok();
        Ok(Self {
            paths,
            published,
            permission,
            before,
            staging: OnceLock::new(),
            written,
            begun: Mutex::default(),
            known: Record::default(),
        })
    }

    /// Sets the record of the earlier build.
    pub fn with_record(self, known: Record) -> Self {
        Self { known, ..self }
    }

    /// Reuses the files of a key if all of them are unmodified, and returns their lengths.
    pub fn reuse_known(&self, key: &Key) -> Option<Vec<u64>> {
        let files = self.known.files(key).filter(|_| self.before.is_some())?;
        if !files.iter().all(|(path, stamp)| self.is_unchanged(path, *stamp)) {
            return None;
        }
        let mut written = self.written();
        written.kept.push(*key);
        files.iter().for_each(|(path, _)| written.add(path.to_string(), true));
        Some(files.iter().map(|(_, stamp)| stamp.length).collect())
    }

    /// Publishes all received files, and removes files of the earlier build that are no longer part of the site.
    ///
    /// # Errors
    /// If a file could not be written, a foreign file conflicts, or on I/O errors. The folder then contains the old
    /// site.
    pub fn finish(self) -> Result<Published> {
        let written = self.written.into_inner().unwrap_or_else(PoisonError::into_inner);
        let folder = self.paths.folder.display();
        let stays = match self.before {
            Some(_) => format!("the site in `{folder}` is unchanged"),
            None => format!("no site was written to `{folder}`"),
        };
        if let Some(fault) = written.fault {
            return Err(fault.context(stays));
        }
        let plan = Plan::make(written.files, self.before, &self.paths, self.permission)?;
        if plan.has_changes() {
            let staging = match self.staging.into_inner().flatten() {
                Some(staging) => staging,
                None => Staging::create(&self.paths, written.lock).with_context(|| stays.clone())?,
            };
            staging.fill(&plan).with_context(|| stays.clone())?;
            staging.publish(&plan)?.remove(&plan);
        }
        let record = record(written.made, &self.paths, &self.known, &written.kept);
        Ok(Published { report: plan.report(), record: Some(record).filter(|record| *record != self.known) })
    }

    /// Returns whether a published file is unmodified.
    fn is_unchanged(&self, path: &str, stamp: Stamp) -> bool {
        self.published.as_ref().and_then(|tree| tree.stamp(Path::new(path))) == Some(stamp)
    }

    fn written(&self) -> std::sync::MutexGuard<'_, WrittenFiles> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a file to the staging folder unless the published one is identical; returns whether it is.
    fn put(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        manifest::check_path(path)?;
        // Not within `if let`, which would keep the lock while writing.
        let begun = self.begun().remove(path);
        if let Some(mut file) = begun {
            let staged = self.paths.staging.join(path);
            file.write_all(bytes).with_context(|| cannot_write(&staged))?;
            return self.discard_if_same(path, &staged);
        }
        if self.may_keep() && has_content(&self.paths.folder.join(path), bytes.len() as u64, bytes) {
            return Ok(true);
        }
        // If there is no staging folder, an error is already recorded.
        self.staging().map_or(Ok(()), |staging| staging.write(Path::new(path), bytes))?;
        Ok(false)
    }

    /// Removes a complete file from the staging folder if the published one is identical; returns whether it is.
    fn discard_if_same(&self, path: &str, staged: &Path) -> Result<bool> {
        let is_same = self.may_keep() && {
            let file = File::open(staged).with_context(|| cannot_write(staged))?;
            let length = file.metadata().with_context(|| cannot_write(staged))?.len();
            has_content(&self.paths.folder.join(path), length, file)
        };
        if is_same {
            fs::remove_file(staged).with_context(|| cannot_write(staged))?;
        }
        Ok(is_same)
    }

    /// Adds bytes to a file in the staging folder.
    fn extend(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let mut begun = self.begun();
        if !begun.contains_key(path) {
            manifest::check_path(path)?;
            let Some(staging) = self.staging() else { return Ok(()) };
            begun.insert(path.to_string(), staging.create_file(Path::new(path))?);
        }
        let fails = || cannot_write(&self.paths.staging.join(path));
        begun.get_mut(path).map_or(Ok(()), |file| file.write_all(bytes)).with_context(fails)
    }

    /// Returns whether published files may be kept.
    fn may_keep(&self) -> bool {
        self.before.is_some() || self.permission == Permission::TakeOver
    }

    fn begun(&self) -> std::sync::MutexGuard<'_, HashMap<String, File>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the staging folder, which is created for the first file; `None` if that failed.
    fn staging(&self) -> Option<&Staging> {
        let staging = self.staging.get_or_init(|| {
            let lock = std::mem::take(&mut self.written().lock);
            match Staging::create(&self.paths, lock) {
                Ok(staging) => Some(staging),
                Err(fault) => {
                    self.written().fault = Some(fault);
                    None
                }
            }
        });
        staging.as_ref()
    }
}

impl Sink for StagedOutput {
    fn reuse_group(&self, key: &Key) -> bool {
        self.reuse_known(key).is_some()
    }

    fn write_group(&self, key: &Key, files: Vec<(String, Vec<u8>)>) {
        self.written().made.extend(files.iter().map(|(path, _)| (path.clone(), *key)));
        files.into_iter().for_each(|(path, bytes)| self.write(path, bytes));
    }

    fn write(&self, path: String, bytes: Vec<u8>) {
        if self.written().fault.is_some() {
            return;
        }
        let put = self.put(&path, &bytes);
        let mut written = self.written();
        match put {
            Ok(same) => written.add(path, same),
            Err(fault) => {
                written.fault.get_or_insert(fault);
            }
        }
    }

    fn append(&self, path: &str, bytes: &[u8]) {
        if self.written().fault.is_some() {
            return;
        }
        if let Err(fault) = self.extend(path, bytes) {
            self.written().fault.get_or_insert(fault);
        }
    }
}

impl WrittenFiles {
    fn add(&mut self, path: String, same: bool) {
        let before = self.files.insert(path.clone(), same);
        assert!(before.is_none(), "two outputs claim `{path}`");
    }
}

/// Creates the record of a published folder: of the new files, and of the `kept` keys.
fn record(made: HashMap<String, Key>, paths: &OutputPaths, known: &Record, kept: &[Key]) -> Record {
    let published = Tree::open(&paths.folder).ok();
    let mut files: BTreeMap<Key, Option<Vec<RecordedFile>>> = BTreeMap::new();
    for (path, key) in made {
        let stamp = published.as_ref().and_then(|tree| tree.stamp(Path::new(&path)));
        let files = files.entry(key).or_insert_with(|| Some(Vec::new()));
        // If one file of a key is missing, the key is not recorded.
        *files = files.take().zip(stamp).map(|(mut files, stamp)| {
            files.push(RecordedFile { path, stamp });
            files
        });
    }
    let files = files.into_iter().filter_map(|(key, files)| Some((key, files?)));
    Record::new(files.collect(), known, kept)
}

/// Returns whether a regular file has this content. Links do not count, since their targets may be foreign.
fn has_content(path: &Path, length: u64, mut content: impl Read) -> bool {
    let has_length = |found: fs::Metadata| found.is_file() && found.len() == length;
    if !fs::symlink_metadata(path).is_ok_and(has_length) {
        return false;
    }
    // Buffers on the stack: most of the thousands of files are unchanged, and this saves allocations for each.
    let Ok(mut file) = File::open(path) else { return false };
    let (mut found, mut expected) = ([0; 16 * 1024], [0; 16 * 1024]);
    let mut remaining = length;
    while remaining > 0 {
        let count = remaining.min(found.len() as u64) as usize;
        let (found, expected) = (&mut found[..count], &mut expected[..count]);
        if file.read_exact(found).is_err() || content.read_exact(expected).is_err() || found != expected {
            return false;
        }
        remaining -= count as u64;
    }
    true
}
