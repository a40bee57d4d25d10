//! Built site in memory: bytes, entity tags, headers, and a version.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderValue};
use rayon::prelude::*;

use crate::files::Outputs;
use crate::serve::headers;

/// Output file.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) bytes: Bytes,
    /// Strong entity tag: quoted hash of the bytes.
    pub(crate) tag: HeaderValue,
}

/// Outputs of a build.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) files: Files,
    /// Supported headers of the site's `_headers`.
    pub(crate) headers: HeaderMap,
    sum: HashSum,
}

impl Site {
    /// Creates a site from the outputs of a build. Bytes are shared; files shared with `before` keep their tags.
    pub(crate) fn new(outputs: &Outputs, before: Option<&Self>) -> Self {
        let outputs: Vec<_> = outputs.iter().collect();
        let file = |(path, bytes): &(&str, &Arc<Vec<u8>>)| {
            let before = before.and_then(|site| site.files.get(path)).filter(|before| before.shares(bytes));
            before.cloned().unwrap_or_else(|| File::new(bytes))
        };
        let made: Vec<File> = outputs.par_iter().map(file).collect();
        let mut sum = HashSum::default();
        let mut files = BTreeMap::new();
        for ((path, _), file) in outputs.iter().zip(made) {
            sum.add(path, &file);
            files.insert((*path).to_string(), file);
        }
        let headers = files
            .get("_headers")
            .map(|file| headers::of_site(&String::from_utf8_lossy(&file.bytes)))
            .unwrap_or_default();
        Self { files: Files { base: Arc::new(files), newer: BTreeMap::new() }, headers, sum }
    }

    /// Returns the site with some files replaced or added.
    pub(crate) fn with(&self, outputs: &Outputs) -> Self {
        let mut site = self.clone();
        for (path, bytes) in outputs.iter() {
            if site.files.get(path).is_some_and(|before| before.shares(bytes)) {
                continue;
            }
            let file = File::new(bytes);
            site.sum.add(path, &file);
            if let Some(old) = site.files.get(path) {
                site.sum.remove(path, old);
            }
            site.files.insert(path, file);
        }
        site
    }

    /// Returns a hash of all paths and bytes, stable across restarts.
    pub(crate) fn version(&self) -> String {
        let [high, low] = self.sum.0;
        format!("{high:016x}{low:016x}")
    }
}

/// Files by path, in order. Copies are cheap: `newer` overlays the files of the last full build.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    base: Arc<BTreeMap<String, File>>,
    /// Contains only paths of `base`.
    newer: BTreeMap<String, File>,
}

impl Files {
    pub(crate) fn get(&self, path: &str) -> Option<&File> {
        self.newer.get(path).or_else(|| self.base.get(path))
    }

    pub(crate) fn contains_key(&self, path: &str) -> bool {
        self.base.contains_key(path)
    }

    /// Returns the paths in order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &String> {
        self.base.keys()
    }

    /// Returns the files in the order of their paths.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &File)> {
        self.base.iter().map(|(path, file)| (path, self.newer.get(path).unwrap_or(file)))
    }

    pub(crate) fn len(&self) -> usize {
        self.base.len()
    }

    /// Returns the paths that may differ between two overlays of the same build, or `None` for different builds.
    pub(crate) fn differing_overlays<'f>(&'f self, other: &'f Self) -> Option<Vec<&'f String>> {
        let newer = || self.newer.keys().chain(other.newer.keys()).collect();
        Arc::ptr_eq(&self.base, &other.base).then(newer)
    }

    fn insert(&mut self, path: &str, file: File) {
        if self.base.contains_key(path) {
            self.newer.insert(path.to_string(), file);
        } else {
            Arc::make_mut(&mut self.base).insert(path.to_string(), file);
        }
    }
}

impl File {
    /// Returns whether the file shares these bytes.
    fn shares(&self, bytes: &Arc<Vec<u8>>) -> bool {
        self.bytes.as_ptr() == bytes.as_ptr() && self.bytes.len() == bytes.len()
    }

    fn new(bytes: &Arc<Vec<u8>>) -> Self {
        let tag = format!("\"{}\"", short(blake3::hash(bytes)));
        let tag = HeaderValue::from_str(&tag).expect("a hash is plain text");
        Self { bytes: Bytes::from_owner(SharedBytes(Arc::clone(bytes))), tag }
    }
}

/// Bytes of an output, for [`Bytes`].
struct SharedBytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Sum of hashes, which can be updated for a single file.
#[derive(Debug, Clone, Copy, Default)]
struct HashSum([u64; 2]);

impl HashSum {
    fn add(&mut self, path: &str, file: &File) {
        let [high, low] = Self::of(path, file);
        self.0 = [self.0[0].wrapping_add(high), self.0[1].wrapping_add(low)];
    }

    fn remove(&mut self, path: &str, file: &File) {
        let [high, low] = Self::of(path, file);
        self.0 = [self.0[0].wrapping_sub(high), self.0[1].wrapping_sub(low)];
    }

    fn of(path: &str, file: &File) -> [u64; 2] {
        let mut hasher = blake3::Hasher::new();
        // Paths contain no zero byte, so the encoding is unique.
        hasher.update(path.as_bytes()).update(&[0]).update(file.tag.as_bytes());
        let hash = hasher.finalize();
        let (parts, _) = hash.as_bytes().as_chunks::<8>();
        [u64::from_le_bytes(parts[0]), u64::from_le_bytes(parts[1])]
    }
}

/// Returns 128 bits of a hash as hexadecimal digits.
pub(crate) fn short(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_string()
}
