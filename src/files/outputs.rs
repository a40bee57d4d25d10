//! The files of a built site, in memory or on their way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Takes the files of a site as they are made: in any order, and from several threads.
pub trait Sink: Sync {
    /// Takes the file of a path, which comes once only.
    fn take(&self, path: String, bytes: Vec<u8>);
}

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

/// Forgets the files, where only the faults of making them are wanted.
#[derive(Debug)]
pub struct Nowhere;

impl Sink for Nowhere {
    fn take(&self, _path: String, _bytes: Vec<u8>) {}
}
