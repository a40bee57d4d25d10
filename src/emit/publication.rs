//! A site on its way to the disk: each file is compared and written when it is made, and all appear at once at the end.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::Result;

use crate::emit::lock::{self, Claim};
use crate::emit::marker::{self, Marker};
use crate::emit::place::Place;
use crate::emit::plan::Plan;
use crate::emit::staging::{self, Staging};
use crate::emit::{Permission, Report, Target};
use crate::files::Sink;

/// A site that is being written beside the published one. Dropped before [`Publication::finish`], it leaves no trace.
#[derive(Debug)]
pub struct Publication {
    place: Place,
    permission: Permission,
    /// What an earlier build wrote.
    before: Option<Marker>,
    /// Made with the first file that is not there yet; empty if it could not be made.
    staging: OnceLock<Option<Staging>>,
    taken: Mutex<Taken>,
}

/// What was taken so far.
#[derive(Debug, Default)]
struct Taken {
    /// Every path, and whether the published folder holds the same bytes there.
    files: BTreeMap<String, bool>,
    /// The first thing that went wrong; nothing is written after it.
    fault: Option<anyhow::Error>,
    /// Until there is a tree that keeps it.
    claim: Claim,
}

impl Publication {
    /// Claims the folder.
    ///
    /// # Errors
    /// When the folder is not ours to write (see [`Permission`]), overlaps a source, is a link, or is being written by
    /// another build.
    pub fn begin(target: &Target) -> Result<Self> {
        let place = Place::find(target)?;
        let mut claim = lock::claim(&place)?;
        staging::clean(&place, &mut claim)?;
        place.refuse_foreign(target.permission)?;
        let before = if place.exists() { Marker::read(&place.folder)? } else { None };
        let taken = Mutex::new(Taken { claim, ..Taken::default() });
        Ok(Self { place, permission: target.permission, before, staging: OnceLock::new(), taken })
    }

    /// Publishes what was taken, and removes what an earlier build wrote and this one did not.
    ///
    /// # Errors
    /// When a file could not be written, one of someone else is in the way, or the disk refuses. The folder holds the
    /// old site then, whole.
    pub fn finish(self) -> Result<Report> {
        let taken = self.taken.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = taken.fault {
            return Err(fault);
        }
        let plan = Plan::make(taken.files, self.before, &self.place, self.permission)?;
        if !plan.changes_anything() {
            return Ok(plan.report());
        }
        let staging = match self.staging.into_inner().flatten() {
            Some(staging) => staging,
            None => Staging::create(&self.place, taken.claim)?,
        };
        staging.fill(&plan)?;
        staging.publish()?.retire(&plan);
        Ok(plan.report())
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes a file of the new tree, unless the published one has the same; says whether it has.
    fn put(&self, path: &str, bytes: &[u8]) -> Result<bool> {
        marker::refuse_unplain(path)?;
        if self.before.is_some() || self.permission == Permission::TakeOver {
            let published = self.place.folder.join(path);
            if holds(&published, bytes) {
                return Ok(true);
            }
        }
        let staging = self.staging.get_or_init(|| {
            let claim = std::mem::take(&mut self.taken().claim);
            match Staging::create(&self.place, claim) {
                Ok(staging) => Some(staging),
                Err(fault) => {
                    self.taken().fault = Some(fault);
                    None
                }
            }
        });
        // Without a tree there is a fault already.
        staging.as_ref().map_or(Ok(()), |staging| staging.write(Path::new(path), bytes))?;
        Ok(false)
    }
}

impl Sink for Publication {
    fn take(&self, path: String, bytes: Vec<u8>) {
        if self.taken().fault.is_some() {
            return;
        }
        let put = self.put(&path, &bytes);
        let mut taken = self.taken();
        match put {
            Ok(same) => {
                let twice = taken.files.insert(path, same).is_some();
                assert!(!twice, "two outputs claim one path");
            }
            Err(fault) => {
                taken.fault.get_or_insert(fault);
            }
        }
    }
}

/// Whether a regular file holds these bytes. A link does not count: what it points to is not ours.
fn holds(file: &Path, bytes: &[u8]) -> bool {
    fs::symlink_metadata(file).is_ok_and(|found| found.is_file() && found.len() == bytes.len() as u64)
        && fs::read(file).is_ok_and(|found| found == bytes)
}
