//! Output files of a site, and sinks that receive them.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::files::Key;

/// Receives output files in any order and from several threads.
pub trait Sink: Sync {
    /// Writes a file, or the rest of one that was begun with [`Sink::append`]; each path is written only once.
    fn write(&self, path: String, bytes: Vec<u8>);

    /// Adds bytes to a large file before it is written.
    fn append(&self, path: &str, bytes: &[u8]);

    /// Reuses the files that an earlier build wrote under a key, if all of them are unchanged. Returns whether it
    /// did.
    fn reuse_group(&self, _key: &Key) -> bool {
        false
    }

    /// Writes the files of a key.
    fn write_group(&self, _key: &Key, files: Vec<(String, Vec<u8>)>) {
        files.into_iter().for_each(|(path, bytes)| self.write(path, bytes));
    }
}

/// Output files by path (`errors/x/index.html`: `/` as the separator, no leading slash).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outputs {
    files: BTreeMap<String, Arc<Vec<u8>>>,
}

impl Outputs {
    /// Adds a file.
    ///
    /// # Panics
    /// If the path is already taken: `check` rejects such sites before they are rendered.
    pub fn add(&mut self, path: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.add_shared(path.into(), Arc::new(bytes.into()));
    }

    /// As [`Outputs::add`], for shared bytes.
    pub fn add_shared(&mut self, path: String, bytes: Arc<Vec<u8>>) {
        let before = self.files.insert(path.clone(), bytes);
        assert!(before.is_none(), "two outputs claim `{path}`");
    }

    /// Returns the content of a file.
    pub fn get(&self, path: &str) -> Option<&Arc<Vec<u8>>> {
        self.files.get(path)
    }

    /// Iterates over all files, sorted by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<Vec<u8>>)> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes))
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Converts to a list of paths and contents.
    pub fn into_files(self) -> Vec<(String, Vec<u8>)> {
        self.files.into_iter().map(|(path, bytes)| (path, Arc::unwrap_or_clone(bytes))).collect()
    }

    /// Writes all files to a sink.
    pub fn write_to(&self, sink: &dyn Sink) {
        self.iter().for_each(|(path, bytes)| sink.write(path.to_string(), bytes.to_vec()));
    }

    /// Moves all files of `other` into this set.
    ///
    /// # Panics
    /// As [`Outputs::add`].
    pub fn append(&mut self, other: Self) {
        other.files.into_iter().for_each(|(path, bytes)| self.add_shared(path, bytes));
    }
}

/// The beginnings of files that are not written yet.
#[derive(Debug, Default)]
pub struct BegunFiles(Mutex<HashMap<String, Vec<u8>>>);

impl BegunFiles {
    /// Adds bytes to a file.
    pub fn append(&self, path: &str, bytes: &[u8]) {
        self.files().entry(path.to_string()).or_default().extend_from_slice(bytes);
    }

    /// Returns the whole content of a file with this rest.
    pub fn complete(&self, path: &str, rest: Vec<u8>) -> Vec<u8> {
        match self.files().remove(path) {
            Some(mut begun) => {
                begun.extend(rest);
                begun
            }
            None => rest,
        }
    }

    fn files(&self) -> MutexGuard<'_, HashMap<String, Vec<u8>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A sink that keeps files in memory.
#[derive(Debug, Default)]
pub struct MemorySink {
    outputs: Mutex<Outputs>,
    begun: BegunFiles,
}

impl MemorySink {
    /// Returns the files received so far.
    pub fn into_outputs(self) -> Outputs {
        self.outputs.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for MemorySink {
    fn write(&self, path: String, bytes: Vec<u8>) {
        let bytes = self.begun.complete(&path, bytes);
        self.outputs.lock().unwrap_or_else(PoisonError::into_inner).add(path, bytes);
    }

    fn append(&self, path: &str, bytes: &[u8]) {
        self.begun.append(path, bytes);
    }
}

/// The files of a build with their keys, for the next build.
#[derive(Debug, Clone, Default)]
pub struct BuildFiles {
    /// All files.
    pub outputs: Outputs,
    /// Paths of the files by key.
    made: HashMap<Key, Vec<String>>,
}

/// A sink for the files of a build in memory that reuses files of the previous build.
#[derive(Debug)]
pub struct UpdateSink<'b> {
    before: &'b BuildFiles,
    now: Mutex<BuildFiles>,
    begun: BegunFiles,
}

impl<'b> UpdateSink<'b> {
    /// Creates a sink that reuses files of `before`.
    pub fn new(before: &'b BuildFiles) -> Self {
        Self { before, now: Mutex::default(), begun: BegunFiles::default() }
    }

    /// Calls `show` with the files received so far.
    pub fn inspect(&self, show: impl FnOnce(&BuildFiles)) {
        show(&self.now());
    }

    /// Returns the files received so far.
    pub fn finish(self) -> BuildFiles {
        self.now.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> MutexGuard<'_, BuildFiles> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a file; shares its bytes with the previous build if they are equal.
    fn add(&self, path: String, bytes: Vec<u8>) {
        let bytes = self.begun.complete(&path, bytes);
        let same = self.before.outputs.get(&path).filter(|before| ***before == bytes);
        let bytes = same.map_or_else(|| Arc::new(bytes), Arc::clone);
        self.now().outputs.add_shared(path, bytes);
    }
}

impl Sink for UpdateSink<'_> {
    fn write(&self, path: String, bytes: Vec<u8>) {
        self.add(path, bytes);
    }

    fn append(&self, path: &str, bytes: &[u8]) {
        self.begun.append(path, bytes);
    }

    fn reuse_group(&self, key: &Key) -> bool {
        let Some(paths) = self.before.made.get(key) else { return false };
        let mut now = self.now();
        for path in paths {
            let bytes = self.before.outputs.get(path).expect("a build has the files that it made");
            now.outputs.add_shared(path.clone(), Arc::clone(bytes));
        }
        now.made.insert(*key, paths.clone());
        true
    }

    fn write_group(&self, key: &Key, files: Vec<(String, Vec<u8>)>) {
        let paths = files.iter().map(|(path, _)| path.clone()).collect();
        files.into_iter().for_each(|(path, bytes)| self.add(path, bytes));
        self.now().made.insert(*key, paths);
    }
}
