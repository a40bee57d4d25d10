//! The files of a built site, in memory or on their way.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::files::Key;

/// Takes the files of a site as they are made: in any order, and from several threads.
pub trait Sink: Sync {
    /// Takes the file of a path, which comes once only.
    fn write(&self, path: String, bytes: Vec<u8>);

    /// Takes the files that an earlier build made under a key, if all of them are there as they were made. Says whether it
    /// did.
    fn reuse_group(&self, _key: &Key) -> bool {
        false
    }

    /// Takes the files that were made under a key.
    fn write_group(&self, _key: &Key, files: Vec<(String, Vec<u8>)>) {
        files.into_iter().for_each(|(path, bytes)| self.write(path, bytes));
    }
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
        self.add_shared(path.into(), bytes.into().into());
    }

    /// As [`Outputs::add`], for bytes that others hold, too.
    pub fn add_shared(&mut self, path: String, bytes: Arc<[u8]>) {
        let before = self.files.insert(path.clone(), bytes);
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

    /// Its files one by one.
    pub fn into_files(self) -> Vec<(String, Vec<u8>)> {
        self.files.into_iter().map(|(path, bytes)| (path, bytes.to_vec())).collect()
    }

    /// Hands all files on.
    pub fn write_to(&self, sink: &dyn Sink) {
        self.iter().for_each(|(path, bytes)| sink.write(path.to_string(), bytes.to_vec()));
    }

    /// Moves all files of `other` in.
    ///
    /// # Panics
    /// As [`Outputs::add`].
    pub fn append(&mut self, other: Self) {
        other.files.into_iter().for_each(|(path, bytes)| self.add_shared(path, bytes));
    }
}

/// Keeps the files in memory.
#[derive(Debug, Default)]
pub struct MemorySink(Mutex<Outputs>);

impl MemorySink {
    /// Returns the files taken so far.
    pub fn into_outputs(self) -> Outputs {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for MemorySink {
    fn write(&self, path: String, bytes: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).add(path, bytes);
    }
}

/// The files of a build, with what they were made under.
#[derive(Debug, Clone, Default)]
pub struct BuildFiles {
    /// The files.
    pub outputs: Outputs,
    /// Paths of files that were made together.
    made: HashMap<Key, Vec<String>>,
}

/// Takes the files of a build in memory, and those of the build before that are the same.
#[derive(Debug)]
pub struct UpdateSink<'b> {
    before: &'b BuildFiles,
    now: Mutex<BuildFiles>,
}

impl<'b> UpdateSink<'b> {
    /// Begins a build after another.
    pub fn new(before: &'b BuildFiles) -> Self {
        Self { before, now: Mutex::default() }
    }

    /// Shows what was taken so far.
    pub fn inspect(&self, show: impl FnOnce(&BuildFiles)) {
        show(&self.now());
    }

    /// Returns the files taken so far.
    pub fn finish(self) -> BuildFiles {
        self.now.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> MutexGuard<'_, BuildFiles> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The same bytes stay where they are.
    fn add(&self, path: String, bytes: Vec<u8>) {
        let same = self.before.outputs.get(&path).filter(|before| ***before == *bytes);
        let bytes = same.map_or_else(|| bytes.into(), Arc::clone);
        self.now().outputs.add_shared(path, bytes);
    }
}

impl Sink for UpdateSink<'_> {
    fn write(&self, path: String, bytes: Vec<u8>) {
        self.add(path, bytes);
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
