//! Results of earlier builds, by the hash of all that they were made of.

use std::collections::BTreeMap;
use std::sync::Arc;

/// What names a result: the hash of all that it was made of.
pub type Key = [u8; 32];

/// Results that a build may take instead of making them again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    results: BTreeMap<Key, Arc<[u8]>>,
}

impl Kept {
    /// The result of a key.
    pub fn get(&self, key: &Key) -> Option<&Arc<[u8]>> {
        self.results.get(key)
    }

    /// Keeps a result.
    pub fn add(&mut self, key: Key, bytes: impl Into<Arc<[u8]>>) {
        self.results.insert(key, bytes.into());
    }

    /// All results in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Arc<[u8]>)> {
        self.results.iter()
    }
}
