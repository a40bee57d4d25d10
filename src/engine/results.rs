//! Results of queries as bytes, by key. `cache` stores them between runs.

use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::pack::{self, ResultPack};
use crate::files::Key;

/// Declares the kinds of cached results, each with its name, which is also its file name.
macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $kind:ident = $name:literal,)+) => {
        /// Kinds of cached results.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[doc = $doc])+ $kind,)+
        }

        impl Kind {
            /// All kinds, in the order of their declaration.
            pub const ALL: [Self; [$($name),+].len()] = [$(Self::$kind),+];

            /// Returns the name, also used as the file name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name),+ }
            }
        }
    };
}

kinds! {
    /// Facts that each query read.
    Reads = "reads",
    /// Parsed error pages.
    Pages = "pages",
    /// Queries that produced files without errors, and checks without findings.
    Clean = "clean",
    /// Solutions of an error, by their text.
    Solutions = "solutions",
    /// Data computed from all pages.
    Gathered = "gathered",
    /// Word counts of pages.
    Words = "words",
    /// Bodies as HTML.
    Prose = "prose",
    /// Matches of the samples of an error.
    Hits = "hits",
    /// Memory figures of a model.
    Figures = "figures",
    /// Diagnosis tables of a whole knowledge base.
    Diagnosis = "diagnosis",
}

impl Kind {
    /// Returns whether results are stored as JSON, because they leave out fields or contain untagged enums.
    fn is_described(self) -> bool {
        matches!(self, Self::Hits | Self::Figures)
    }

    pub(super) fn write<T: Serialize>(self, value: &T) -> Option<Vec<u8>> {
        if self.is_described() { serde_json::to_vec(value).ok() } else { postcard::to_stdvec(value).ok() }
    }

    pub(super) fn read<T: DeserializeOwned>(self, bytes: &[u8]) -> Option<T> {
        if self.is_described() {
            serde_json::from_slice(bytes).ok()
        } else {
            postcard::from_bytes(bytes).ok()
        }
    }
}

/// Maximum bytes of the results of a kind.
pub const MAX_PACK_BYTES: usize = 128 * 1024 * 1024;

/// Number of packs after which an unused result is dropped.
const MAX_AGE: u8 = 4;

/// Which results of a kind a pack contains. With few new results, the full pack need not be rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackPart {
    /// All results at the time of writing.
    Whole,
    /// Results added since the full pack was read.
    Later,
}

impl PackPart {
    /// Both parts, in the order of reading.
    pub const ALL: [Self; 2] = [Self::Whole, Self::Later];
}

/// The full pack is rewritten when later results exceed this fraction (1/8) of all.
const LATER: usize = 8;

/// Cached results by kind and key.
#[derive(Debug)]
pub(super) struct Results {
    /// One table per kind; empty if caching is disabled.
    tables: Vec<Mutex<CacheTable>>,
    packs: Packs,
}

/// Returns the pack of a kind that [`Results::pack`] made in an earlier run.
struct Packs(Box<dyn Fn(Kind, PackPart) -> Option<Vec<u8>> + Send + Sync>);

impl Debug for Packs {
    fn fmt(&self, text: &mut Formatter<'_>) -> fmt::Result {
        text.write_str("Packs")
    }
}

/// Cached results of one kind.
#[derive(Debug, Default)]
struct CacheTable {
    entries: HashMap<Key, CachedResult>,
    /// Total bytes of the results and their keys.
    bytes: usize,
    /// Whether the packs have been read.
    is_open: bool,
    /// Whether there are results that were not read from a pack.
    is_new: bool,
}

#[derive(Debug, Clone)]
pub(super) struct CachedResult {
    /// Buffer with the result; results of one pack share it.
    pub(super) holder: Arc<Vec<u8>>,
    pub(super) range: Range<usize>,
    /// Number of packs written since the last use.
    pub(super) age: u8,
    pub(super) part: PackPart,
}

impl Default for Results {
    /// Creates an empty store.
    fn default() -> Self {
        Self::new(|_, _| None)
    }
}

impl Results {
    /// Creates a store. `packs` returns the output of [`Results::pack`] of an earlier run; it is called on the first
    /// access to a kind. Packs of another program version are ignored.
    pub fn new(packs: impl Fn(Kind, PackPart) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self { tables: Kind::ALL.iter().map(|_| Mutex::default()).collect(), packs: Packs(Box::new(packs)) }
    }

    /// Creates a store that caches nothing.
    pub fn disabled() -> Self {
        Self { tables: Vec::new(), ..Self::default() }
    }

    /// Returns the cached result of a key, or computes and caches it. `make` may depend only on what the key is
    /// computed from.
    pub fn get_or<T: Serialize + DeserializeOwned>(
        &self,
        kind: Kind,
        key: &Key,
        make: impl FnOnce() -> T,
    ) -> T {
        // A result that cannot be deserialized is computed again and replaced.
        self.get(kind, key).unwrap_or_else(|| {
            let value = make();
            self.put(kind, *key, &value);
            value
        })
    }

    /// Returns the cached result of a key.
    pub fn get<T: DeserializeOwned>(&self, kind: Kind, key: &Key) -> Option<T> {
        self.find(kind, key).and_then(|entry| kind.read(entry.bytes()))
    }

    /// Caches a result.
    pub fn put<T: Serialize + DeserializeOwned>(&self, kind: Kind, key: Key, value: &T) {
        if self.is_disabled() {
            return;
        }
        if let Some(mut bytes) = kind.write(value) {
            debug_assert!(kind.read::<T>(&bytes).is_some(), "{kind:?} is kept in a form that cannot be read");
            bytes.shrink_to_fit();
            self.insert(kind, key, bytes);
        }
    }

    /// Caches bytes, unless they are unchanged.
    pub fn put_bytes(&self, kind: Kind, key: Key, bytes: Vec<u8>) {
        if self.find(kind, &key).is_none_or(|entry| entry.bytes() != bytes) {
            self.insert(kind, key, bytes);
        }
    }

    /// Returns whether caching is disabled.
    pub fn is_disabled(&self) -> bool {
        self.tables.is_empty()
    }

    /// Returns whether a key is present.
    pub fn contains_key(&self, kind: Kind, key: &Key) -> bool {
        self.find(kind, key).is_some()
    }

    /// Adds a key without a result.
    pub fn insert_key(&self, kind: Kind, key: Key) {
        if !self.contains_key(kind, &key) {
            self.insert(kind, key, Vec::new());
        }
    }

    /// Looks up an entry and resets its age.
    pub fn find(&self, kind: Kind, key: &Key) -> Option<CachedResult> {
        let mut table = self.table(kind)?;
        let entry = table.entries.get_mut(key)?;
        entry.age = 0;
        Some(entry.clone())
    }

    fn insert(&self, kind: Kind, key: Key, bytes: Vec<u8>) {
        let Some(mut table) = self.table(kind) else { return };
        let entry =
            CachedResult { range: 0..bytes.len(), holder: Arc::new(bytes), age: 0, part: PackPart::Later };
        if table.bytes + entry.size() > MAX_PACK_BYTES {
            // Drops everything in a long session; results that are still needed are computed again.
            *table = CacheTable { is_open: true, ..CacheTable::default() };
        }
        table.is_new = true;
        table.add(key, entry);
    }

    fn table(&self, kind: Kind) -> Option<MutexGuard<'_, CacheTable>> {
        let mut table = self.lock_table(kind)?;
        if !table.is_open {
            table.is_open = true;
            for part in PackPart::ALL {
                table.unpack(part, (self.packs.0)(kind, part).unwrap_or_default());
            }
        }
        Some(table)
    }

    fn lock_table(&self, kind: Kind) -> Option<MutexGuard<'_, CacheTable>> {
        // A table is consistent between any two calls, so a panic in another thread does no harm.
        Some(self.tables.get(kind as usize)?.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Selects the results of a kind that are written, without those unused for long: all of them, or only the new ones
    /// if these are few. `None` if there are no new results.
    pub fn pack(&self, kind: Kind) -> Option<(PackPart, ResultPack)> {
        let table = self.lock_table(kind).filter(|table| table.is_new)?;
        let mut entries: Vec<(&Key, &CachedResult)> =
            table.entries.iter().filter(|(_, entry)| entry.age < MAX_AGE).collect();
        let is_later = |(_, entry): &(&Key, &CachedResult)| entry.part == PackPart::Later;
        let size = |(_, entry): &(&Key, &CachedResult)| entry.size();
        let later: usize = entries.iter().filter(|entry| is_later(entry)).map(size).sum();
        let all: usize = entries.iter().map(size).sum();
        let part = if later * LATER < all { PackPart::Later } else { PackPart::Whole };
        if part == PackPart::Later {
            entries.retain(is_later);
        }
        entries.sort_by_key(|(key, entry)| (entry.age, *key));
        let mut left = MAX_PACK_BYTES;
        entries.retain(|(_, entry)| {
            let fits = entry.size() <= left;
            left -= if fits { entry.size() } else { 0 };
            fits
        });
        let entries = entries.into_iter().map(|(key, entry)| (*key, entry.clone())).collect();
        Some((part, ResultPack(entries)))
    }
}

impl CacheTable {
    fn add(&mut self, key: Key, entry: CachedResult) {
        self.bytes += entry.size();
        self.bytes -= self.entries.insert(key, entry).map_or(0, |before| before.size());
    }

    fn unpack(&mut self, part: PackPart, pack: Vec<u8>) {
        for (key, entry) in pack::read(pack, part).unwrap_or_default() {
            self.add(key, entry);
        }
    }
}

impl CachedResult {
    /// Returns the size of the entry with its key, in bytes.
    fn size(&self) -> usize {
        self.range.len() + Key::LENGTH
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.holder[self.range.clone()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str) -> Key {
        Key::of([name])
    }

    fn put(store: &Results, name: &str, value: &str) {
        store.get_or(Kind::Words, &key(name), || value.to_string());
    }

    fn get(store: &Results, name: &str) -> String {
        store.get_or(Kind::Words, &key(name), || "made anew".to_string())
    }

    fn packed(store: &Results) -> Option<(PackPart, Vec<u8>)> {
        let (part, pack) = store.pack(Kind::Words)?;
        let mut bytes = Vec::new();
        pack.write(&mut bytes).expect("memory takes all bytes");
        Some((part, bytes))
    }

    fn unpacked(whole: Vec<u8>) -> Results {
        with_both(whole, Vec::new())
    }

    fn with_both(whole: Vec<u8>, later: Vec<u8>) -> Results {
        Results::new(move |_, part| Some(if part == PackPart::Whole { whole.clone() } else { later.clone() }))
    }

    fn two() -> Vec<u8> {
        let store = Results::default();
        put(&store, "a", "first");
        put(&store, "b", "second");
        let (part, pack) = packed(&store).expect("something is new");
        assert_eq!(part, PackPart::Whole);
        pack
    }

    #[test]
    fn keys_without_results_count_towards_the_maximum() {
        let store = Results::default();
        ["a", "b", "a"].iter().for_each(|name| store.insert_key(Kind::Clean, key(name)));
        assert_eq!(store.table(Kind::Clean).map(|table| table.bytes), Some(2 * Key::LENGTH));
    }

    #[test]
    fn finds_packed_results_only() {
        let store = unpacked(two());
        assert_eq!((get(&store, "a"), get(&store, "b")), ("first".to_string(), "second".to_string()));
        assert_eq!(packed(&store), None, "nothing is new");
        assert_eq!(get(&store, "c"), "made anew");
        assert!(packed(&store).is_some());
        assert_eq!(get(&Results::disabled(), "a"), "made anew");
    }

    #[test]
    fn ignores_damaged_packs() {
        let pack = two();
        for at in 0..pack.len() {
            let mut changed = pack.clone();
            changed[at] ^= 0x10;
            assert_eq!(get(&unpacked(changed), "a"), "made anew", "byte {at}");
            assert_eq!(get(&unpacked(pack[..at].to_vec()), "a"), "made anew", "cut at {at}");
        }
        assert_eq!(get(&unpacked([&pack[..], b"x"].concat()), "a"), "made anew");
    }

    #[test]
    fn drops_unused_results() {
        let mut pack = two();
        for round in 0..=MAX_AGE {
            let store = unpacked(pack);
            assert_eq!(get(&store, "a"), "first", "round {round}");
            put(&store, &format!("round {round}"), "new");
            (_, pack) = packed(&store).expect("something is new");
        }
        let store = unpacked(pack);
        assert_eq!((get(&store, "a"), get(&store, "b")), ("first".to_string(), "made anew".to_string()));
    }

    #[test]
    fn packs_few_new_results_separately() {
        let long = "a long text ".repeat(100);
        let store = Results::default();
        put(&store, "a", &long);
        let (part, whole) = packed(&store).expect("something is new");
        assert_eq!(part, PackPart::Whole);
        let mut later = Vec::new();
        for round in 0..3 {
            let store = with_both(whole.clone(), later);
            put(&store, &format!("round {round}"), "new");
            let (part, pack) = packed(&store).expect("something is new");
            assert_eq!(part, PackPart::Later);
            assert!(pack.len() < whole.len());
            later = pack;
        }
        let store = with_both(whole, later);
        assert_eq!((get(&store, "a"), get(&store, "round 0")), (long, "new".to_string()));
        put(&store, "b", &"another long text ".repeat(100));
        assert_eq!(packed(&store).map(|(part, _)| part), Some(PackPart::Whole));
    }

    #[test]
    fn recomputes_unreadable_results() {
        let store = Results::default();
        store.get_or(Kind::Words, &key("a"), || 7_u64);
        assert_eq!(get(&store, "a"), "made anew");
        assert_eq!(get(&store, "a"), "made anew", "the text took its place");
    }
}
