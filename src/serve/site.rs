//! A built site as the server holds it: bytes, entity tags, headers, and one version for the whole.

use std::collections::BTreeMap;

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
    /// The hash of all paths and bytes: the same site has the same version after a restart.
    pub(crate) version: String,
}

impl Site {
    /// Takes a build's files; the bytes are shared, not copied.
    pub(crate) fn new(outputs: &Outputs) -> Self {
        let outputs: Vec<_> = outputs.iter().collect();
        let hashes: Vec<_> = outputs.par_iter().map(|(_, bytes)| blake3::hash(bytes)).collect();
        let mut whole = blake3::Hasher::new();
        let mut files = BTreeMap::new();
        for ((path, bytes), hash) in outputs.iter().zip(hashes) {
            // No path has a zero byte, so that two sites with one list of bytes are one site.
            whole.update(path.as_bytes()).update(&[0]).update(hash.as_bytes());
            let tag = HeaderValue::from_str(&format!("\"{}\"", short(hash))).expect("a hash is plain text");
            let bytes = Bytes::from_owner((*bytes).clone());
            files.insert((*path).to_string(), File { bytes, tag });
        }
        let headers = files
            .get("_headers")
            .map(|file| headers::of_site(&String::from_utf8_lossy(&file.bytes)))
            .unwrap_or_default();
        Self { files, headers, version: short(whole.finalize()) }
    }
}

/// 128 bits of a hash: enough to tell any two files apart.
pub(crate) fn short(hash: blake3::Hash) -> String {
    hash.to_hex()[..32].to_string()
}
