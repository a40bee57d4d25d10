//! Keys of results: hashes of everything that a result depends on.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// Program version. Other versions may compute other results from the same sources.
pub const PROGRAM: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("KBGEN_SOURCES"));

/// Key of the result of a pure function, for reuse in later runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key([u8; Key::LENGTH]);

impl Key {
    /// Length of a key in bytes.
    pub const LENGTH: usize = blake3::OUT_LEN;

    /// Returns the key of a sequence of parts.
    pub fn of<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            let part = part.as_ref();
            // Length-prefixed, so that different sequences of parts never have the same bytes.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// Returns the key of one text; faster than [`Key::of`] for a long text.
    pub fn of_text(text: &str) -> Self {
        Self(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// Parses a key from hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|hash| Self(hash.into()))
    }

    /// Creates a key from the bytes of [`Key::as_ref`].
    pub fn read(bytes: &[u8; Key::LENGTH]) -> Self {
        Self(*bytes)
    }
}

impl Display for Key {
    /// Formats the key as hexadecimal digits, which [`Key::parse`] reads.
    fn fmt(&self, text: &mut Formatter<'_>) -> fmt::Result {
        text.write_str(&blake3::Hash::from(self.0).to_hex())
    }
}

impl AsRef<[u8]> for Key {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn keys_depend_on_part_boundaries() {
        let keys = [Key::of(["ab", "c"]), Key::of(["a", "bc"]), Key::of(["abc"]), Key::of(["abc", ""])];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[at + 1..].contains(key), "{at}");
        }
    }
}
