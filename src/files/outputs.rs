//! The files of a built site, in memory or on their way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::files::Key;

/// Takes the files of a site as they are made: in any order, and from several threads.
pub trait Sink: Sync {
    /// Takes the file of a path, which comes once only.
    fn take(&self, path: String, bytes: Vec<u8>);

    /// Takes the file of a path that is made of nothing but what `key` is the hash of. `make` is not called where the file
    /// is known to be there already; it gives nothing if the file cannot be made.
    fn take_made(&self, path: String, _key: &Key, make: Maker<'_>) {
        if let Some(bytes) = make() {
            self.take(path, bytes);
        }
    }

    /// Takes all files of a group that are there as an earlier build made them. Says whether it did: where it did not,
    /// they have to come one by one, each after [`Sink::join`].
    fn take_group(&self, _group: &Key) -> bool {
        false
    }

    /// Notes that the file of a path belongs to a group: files that are made of nothing but what `group` is the hash of.
    fn join(&self, _group: &Key, _path: &str) {}
}

/// Makes a file.
pub type Maker<'m> = Box<dyn FnOnce() -> Option<Vec<u8>> + 'm>;

/// Output files by path (`errors/x/index.html`, `/` between parts, no leading slash), in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outputs {
    files: BTreeMap<String, Arc<[u8]>>,
}

impl Outputs {
    /// Adds a file; a path is written once only.
    ///
    /// # Panics
    /// When two files claim one path: `check` refuses such sites before they are rendered.
    pub fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        let path = path.into();
        let before = self.files.insert(path.clone(), bytes.into().into());
        assert!(before.is_none(), "two outputs claim `{path}`");
    }

    /// The bytes at a path.
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.files.get(path)
    }

    /// All files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Hands all files on.
    pub fn give(&self, sink: &dyn Sink) {
        self.iter().for_each(|(path, bytes)| sink.take(path.to_string(), bytes.to_vec()));
    }

    /// Moves all files of `other` in.
    ///
    /// # Panics
    /// As [`Outputs::add`].
    pub fn append(&mut self, other: Self) {
        for (path, bytes) in other.files {
            let before = self.files.insert(path.clone(), bytes);
            assert!(before.is_none(), "two outputs claim `{path}`");
        }
    }
}

/// Keeps the files in memory.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Outputs>);

impl Memory {
    /// What was taken.
    pub fn into_outputs(self) -> Outputs {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Memory {
    fn take(&self, path: String, bytes: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(path, bytes);
    }
}

/// Hands files on, each as one of the group that `of` says it belongs to.
pub struct Grouped<'s, F> {
    /// Where to.
    pub sink: &'s dyn Sink,
    /// The group of a path.
    pub of: F,
}

impl<'g, F: Fn(&str) -> Option<&'g Key> + Sync> Grouped<'_, F> {
    fn join_own(&self, path: &str) {
        if let Some(group) = (self.of)(path) {
            self.sink.join(group, path);
        }
    }
}

impl<'g, F: Fn(&str) -> Option<&'g Key> + Sync> Sink for Grouped<'_, F> {
    fn take(&self, path: String, bytes: Vec<u8>) {
        self.join_own(&path);
        self.sink.take(path, bytes);
    }

    fn take_made(&self, path: String, key: &Key, make: Maker<'_>) {
        self.join_own(&path);
        self.sink.take_made(path, key, make);
    }
}

/// Forgets the files, where only the faults of making them are wanted.
#[derive(Debug)]
pub struct Nowhere;

impl Sink for Nowhere {
    fn take(&self, _path: String, _bytes: Vec<u8>) {}
}
