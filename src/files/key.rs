//! Names of results: the hash of all that they were made from.

/// Names a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub(super) [u8; Key::LENGTH]);

impl Key {
    /// Bytes of a key.
    pub(super) const LENGTH: usize = blake3::OUT_LEN;

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
