//! Names of what was made: the hash of all that it was made from.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// The program that makes things: another one makes other things of the same sources.
pub const PROGRAM: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("KBGEN_SOURCES"));

/// Names what comes of a pure function: whoever has it from an earlier run need not make it again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Key([u8; Key::LENGTH]);

impl Key {
    /// Bytes of a key.
    pub const LENGTH: usize = blake3::OUT_LEN;

    /// The key of what is made of these parts, in this order.
    pub fn of<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            let part = part.as_ref();
            // The length comes first, so that no two lists of parts are one text.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(*hasher.finalize().as_bytes())
    }

    /// The key of one text; of a long one sooner known than with [`Key::of`].
    pub fn of_text(text: &str) -> Self {
        Self(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// Reads a key that was written as text.
    pub fn parse(text: &str) -> Option<Self> {
        blake3::Hash::from_hex(text).ok().map(|hash| Self(hash.into()))
    }

    /// The key of these bytes, as [`Key::as_ref`] gives them.
    pub fn read(bytes: &[u8; Key::LENGTH]) -> Self {
        Self(*bytes)
    }
}

impl Display for Key {
    /// As hexadecimal digits, which [`Key::parse`] reads.
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
    fn where_one_part_ends_makes_a_difference() {
        let keys = [Key::of(["ab", "c"]), Key::of(["a", "bc"]), Key::of(["abc"]), Key::of(["abc", ""])];
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[at + 1..].contains(key), "{at}");
        }
    }
}
