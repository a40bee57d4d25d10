//! Many results in one piece of bytes: who made them, where each lies, the results, and a hash of all.

use std::sync::Arc;

use crate::engine::results::{CachedResult, PackPart};
use crate::files::Key;

/// Header of every pack: its form, and the program that made it. Another program makes other results.
const MARK: &str = concat!("kbgen results 1 ", env!("CARGO_PKG_VERSION"), " ", env!("KBGEN_SOURCES"), "\n");
/// Bytes of the hash at the end.
const HASH: usize = blake3::OUT_LEN;
/// Bytes of a line of the list: key, age, length.
const LINE: usize = Key::LENGTH + 1 + 4;

/// Packs entries; each is older by one then.
pub(super) fn write(entries: &[(&Key, &CachedResult)]) -> Vec<u8> {
    let results: usize = entries.iter().map(|(_, entry)| entry.range.len()).sum();
    let mut pack = Vec::with_capacity(MARK.len() + 4 + entries.len() * LINE + results + HASH);
    pack.extend_from_slice(MARK.as_bytes());
    pack.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    for (key, entry) in entries {
        pack.extend_from_slice(key.as_ref());
        pack.push(entry.age + 1);
        pack.extend_from_slice(&(entry.range.len() as u32).to_le_bytes());
    }
    for (_, entry) in entries {
        pack.extend_from_slice(entry.bytes());
    }
    let hash = blake3::hash(&pack);
    pack.extend_from_slice(hash.as_bytes());
    pack
}

/// The entries of a pack; `None` if this program did not write it, or not all of it.
pub(super) fn read(mut pack: Vec<u8>, part: PackPart) -> Option<Vec<(Key, CachedResult)>> {
    let end = pack.len().checked_sub(HASH)?;
    if !pack.starts_with(MARK.as_bytes()) || blake3::hash(&pack[..end]).as_bytes() != &pack[end..] {
        return None;
    }
    pack.truncate(end);
    let holder = Arc::new(pack);
    let (count, lines) = holder[MARK.len()..].split_first_chunk::<4>()?;
    let count = u32::from_le_bytes(*count) as usize;
    let lines = lines.get(..count.checked_mul(LINE)?)?;
    let mut at = MARK.len() + 4 + lines.len();
    let mut entries = Vec::with_capacity(count);
    for line in lines.chunks_exact(LINE) {
        let (key, rest) = line.split_first_chunk::<{ Key::LENGTH }>()?;
        let (age, length) = rest.split_first()?;
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        let range = at..at.checked_add(length)?;
        holder.get(range.clone())?;
        at = range.end;
        entries.push((Key::read(key), CachedResult { holder: Arc::clone(&holder), range, age: *age, part }));
    }
    Some(entries)
}
