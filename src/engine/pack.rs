//! Serializes cached results: header, index, results, and a hash of everything.

use std::io::{self, Write};
use std::sync::Arc;

use blake3::Hasher;

use crate::engine::results::{CachedResult, PackPart};
use crate::files::Key;

/// Header of a pack: format, and program version. Results of another version are not reused.
const MARK: &str = concat!("kbgen results 1 ", env!("CARGO_PKG_VERSION"), " ", env!("KBGEN_SOURCES"), "\n");
/// Length of the final hash in bytes.
const HASH: usize = blake3::OUT_LEN;
/// Length of an index entry in bytes: key, age, length.
const LINE: usize = Key::LENGTH + 1 + 4;

/// Results of one kind, to be written.
#[derive(Debug)]
pub struct ResultPack(pub(super) Vec<(Key, CachedResult)>);

impl ResultPack {
    /// Writes the results piece by piece, with incremented ages.
    ///
    /// # Errors
    /// As `out`.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let mut hasher = Hasher::new();
        let mut add = |bytes: &[u8]| {
            hasher.update(bytes);
            out.write_all(bytes)
        };
        add(MARK.as_bytes())?;
        add(&(self.0.len() as u32).to_le_bytes())?;
        for (key, entry) in &self.0 {
            add(key.as_ref())?;
            add(&[entry.age + 1])?;
            add(&(entry.range.len() as u32).to_le_bytes())?;
        }
        for (_, entry) in &self.0 {
            add(entry.bytes())?;
        }
        out.write_all(hasher.finalize().as_bytes())
    }
}

/// Parses a pack. `None` if it is incomplete or of another program version.
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
