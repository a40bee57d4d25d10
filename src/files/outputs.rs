//! The files of a built site, in memory, before anything is written.

use std::collections::BTreeMap;
use std::sync::Arc;

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
