//! A built site as the server holds it: bytes, entity tags, headers, and one version for the whole.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderValue};
use rayon::prelude::*;

use crate::files::Outputs;
use crate::serve::headers;

/// One output.
#[derive(Debug, Clone)]
pub(crate) struct File {
    pub(crate) bytes: Bytes,
    /// A strong entity tag: the hash of the bytes, in quotes.
    pub(crate) tag: HeaderValue,
}

/// All outputs of a build.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    pub(crate) files: BTreeMap<String, File>,
    /// The followed headers of the site's `_headers`.
    pub(crate) headers: HeaderMap,
    sum: Sum,
}

impl Site {
    /// Takes a build's files; the bytes are shared, not copied.
    pub(crate) fn new(outputs: &Outputs) -> Self {
        let outputs: Vec<_> = outputs.iter().collect();
        let hashes: Vec<_> = outputs.par_iter().map(|(_, bytes)| blake3::hash(bytes)).collect();
        let mut sum = Sum::default();
        let mut files = BTreeMap::new();
        for ((path, bytes), hash) in outputs.iter().zip(hashes) {
            let file = File::new(bytes, hash);
            sum.add(path, &file);
            files.insert((*path).to_string(), file);
        }
        let headers = files
            .get("_headers")
            .map(|file| headers::of_site(&String::from_utf8_lossy(&file.bytes)))
            .unwrap_or_default();
        Self { files, headers, sum }
    }

    /// The same site with a few files in the place of those that are there. Nothing else is looked at.
    pub(crate) fn with(&self, outputs: &Outputs) -> Self {
        let mut site = self.clone();
        for (path, bytes) in outputs.iter() {
            let file = File::new(bytes, blake3::hash(bytes));
            site.sum.add(path, &file);
            if let Some(old) = site.files.insert(path.to_string(), file) {
                site.sum.take(path, &old);
            }
        }
        site
    }

    /// Changes with any path and any byte: the same site has the same version after a restart.
    pub(crate) fn version(&self) -> String {
        let [high, low] = self.sum.0;
        format!("{high:016x}{low:016x}")
    }
}

impl File {
    fn new(bytes: &Arc<[u8]>, hash: blake3::Hash) -> Self {
        let tag = HeaderValue::from_str(&format!("\"{}\"", short(hash))).expect("a hash is plain text");
        Self { bytes: Bytes::from_owner(Arc::clone(bytes)), tag }
    }
}

/// A sum of hashes, so that one file more or less does not mean to go through all.
#[derive(Debug, Clone, Copy, Default)]
struct Sum([u64; 2]);

impl Sum {
    fn add(&mut self, path: &str, file: &File) {
        let [high, low] = Self::of(path, file);
        self.0 = [self.0[0].wrapping_add(high), self.0[1].wrapping_add(low)];
    }

    fn take(&mut self, path: &str, file: &File) {
        let [high, low] = Self::of(path, file);
        self.0 = [self.0[0].wrapping_sub(high), self.0[1].wrapping_sub(low)];
    }

    fn of(path: &str, file: &File) -> [u64; 2] {
        let mut hasher = blake3::Hasher::new();
        // No path has a zero byte, so that two files never make one text.
        hasher.update(path.as_bytes()).update(&[0]).update(file.tag.as_bytes());
        let hash = hasher.finalize();
        let (parts, _) = hash.as_bytes().as_chunks::<8>();
        [u64::from_le_bytes(parts[0]), u64::from_le_bytes(parts[1])]
    }
}

/// 128 bits of a hash: enough to tell any two files apart.
pub(crate) fn short(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_string()
}
