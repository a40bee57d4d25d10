//! The pictures of an earlier build, kept in one file: nothing is drawn twice.
//!
//! The file holds the pictures of the last build and no others. It is put in place whole, and one that is broken or of
//! another make is as good as none.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::cache;
use crate::files::{Kept, Key};

/// Where they are kept, from the root of the site; deleting it does no harm.
const PLACE: &str = ".kbgen-cache/social";

/// What the file begins with.
const MAGIC: &[u8] = b"kbgen pictures 1\n";

/// Bytes of a hash.
const HASH: usize = size_of::<Key>();

/// Has pictures drawn that are not kept, and keeps all.
///
/// # Errors
/// When they cannot be kept; they were drawn all the same.
pub(super) fn keep(root: &Path, draw: impl FnOnce(&Kept) -> Kept) -> Result<()> {
    let path = root.join(PLACE);
    let before = fs::read(&path).ok().and_then(|bytes| unpack(&bytes)).unwrap_or_default();
    let kept = draw(&before);
    if kept == before {
        return Ok(());
    }
    cache::folder(root)?;
    write(&path, &pack(&kept))
}

/// Puts the file in place whole: a build at the same time reads the old one or the new one.
fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let new = path.with_extension(format!("{}.new", std::process::id()));
    let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        // what is left of it would only take room
        let _ = fs::remove_file(&new);
    }
    written.with_context(|| format!("cannot write `{}`", path.display()))
}

/// Key, length and bytes of each picture, and the hash of all before it.
fn pack(kept: &Kept) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    for (key, picture) in kept.iter() {
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(&(picture.len() as u64).to_le_bytes());
        bytes.extend_from_slice(picture);
    }
    let hash = blake3::hash(&bytes);
    bytes.extend_from_slice(hash.as_bytes());
    bytes
}

/// The pictures of a file that is whole.
fn unpack(bytes: &[u8]) -> Option<Kept> {
    let (told, hash) = bytes.split_last_chunk::<HASH>()?;
    if blake3::hash(told).as_bytes() != hash {
        return None;
    }
    let mut rest = told.strip_prefix(MAGIC)?;
    let mut kept = Kept::default();
    while !rest.is_empty() {
        let (key, after) = rest.split_first_chunk::<HASH>()?;
        let (length, after) = after.split_first_chunk()?;
        let (picture, after) = after.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        kept.add(*key, picture);
        rest = after;
    }
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept() -> Kept {
        let mut kept = Kept::default();
        kept.add([1; HASH], *b"one picture");
        kept.add([2; HASH], *b"");
        kept.add([3; HASH], *b"another");
        kept
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        assert_eq!(unpack(&pack(&kept())), Some(kept()));
        assert_eq!(unpack(&pack(&Kept::default())), Some(Kept::default()));
    }

    #[test]
    fn a_broken_file_is_as_good_as_none() {
        let bytes = pack(&kept());
        for end in 0..bytes.len() {
            assert_eq!(unpack(&bytes[..end]), None, "cut at {end}");
        }
        for at in 0..bytes.len() {
            let mut broken = bytes.clone();
            broken[at] ^= 1;
            assert_eq!(unpack(&broken), None, "changed at {at}");
        }
    }

    #[test]
    fn a_length_beyond_the_end_is_refused() {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&[7; HASH]);
        bytes.extend_from_slice(&u64::MAX.to_le_bytes());
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        assert_eq!(unpack(&bytes), None);
    }

    #[test]
    fn only_pictures_of_the_last_build_are_kept() {
        let root = tempfile::tempdir().expect("a folder");
        let build = |made: Kept| {
            let mut had = Kept::default();
            let draw = |kept: &Kept| {
                had = kept.clone();
                made
            };
            keep(root.path(), draw).expect("the folder can be written");
            had
        };
        let mut one = Kept::default();
        one.add([9; HASH], *b"one");
        assert_eq!(build(kept()), Kept::default(), "at first there is nothing");
        assert_eq!(build(one.clone()), kept());
        assert_eq!(build(one.clone()), one);
        fs::write(root.path().join(PLACE), "of another make").expect("a file");
        assert_eq!(build(one.clone()), Kept::default());
        assert_eq!(build(Kept::default()), one);
        let entries = fs::read_dir(root.path().join(".kbgen-cache")).expect("a folder").flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, [".gitignore", "CACHEDIR.TAG", "social"], "nothing else is left");
    }

    #[test]
    fn where_nothing_can_be_kept_pictures_are_drawn() {
        let root = tempfile::tempdir().expect("a folder");
        fs::write(root.path().join(".kbgen-cache"), "a file in the way").expect("a file");
        let mut is_drawn = false;
        let result = keep(root.path(), |_| {
            is_drawn = true;
            kept()
        });
        assert!(is_drawn && result.is_err());
    }
}
