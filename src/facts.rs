//! Values that record their readers.
//!
//! A *fact* is a named value with a fingerprint. While a query runs, each fact that it reads becomes one of its
//! dependencies; `engine` reruns the query when a fingerprint changes.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Name of a fact: a hash of its kind and key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Name(pub(crate) u64);

/// Passes names through, since they are hashes already.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameHasher(u64);

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("a name is one number");
    }

    fn write_u64(&mut self, name: u64) {
        self.0 = name;
    }
}

/// Hash of the content of a fact; the default is that of a missing fact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint(pub(crate) u128);

impl Name {
    /// Returns the name of a fact.
    pub fn new(kind: &str, which: impl AsRef<[u8]>) -> Self {
        let hash = hash([kind.as_bytes(), which.as_ref()]);
        Self(u64::from_le_bytes(hash.as_chunks::<8>().0[0]))
    }
}

impl Fingerprint {
    /// Returns the fingerprint of a sequence of parts.
    pub fn of<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Self {
        Self(u128::from_le_bytes(hash(parts)))
    }

    /// Returns the fingerprint of serializable data.
    pub fn of_data(data: &impl Serialize) -> Self {
        Self::of([postcard::to_stdvec(data).expect("plain data can be written to memory")])
    }
}

fn hash<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        let part = part.as_ref();
        // Length-prefixed, so that different sequences of parts never have the same bytes.
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    hasher.finalize().as_bytes().as_chunks::<16>().0[0]
}

thread_local! {
    /// Dependencies of the query that runs on this thread.
    static READS: RefCell<Option<Vec<Name>>> = const { RefCell::new(None) };
}

/// Adds a fact to the dependencies of the running query.
pub fn read(name: Name) {
    READS.with_borrow_mut(|reads| {
        if let Some(reads) = reads
            && reads.last() != Some(&name)
        {
            reads.push(name);
        }
    });
}

/// Adds several facts to the dependencies of the running query.
pub(crate) fn read_all(names: &[Name]) {
    READS.with_borrow_mut(|reads| {
        if let Some(reads) = reads {
            reads.extend(names);
        }
    });
}

/// Restores the dependencies of the outer query when dropped, also on panic.
struct RestoreReads(Option<Vec<Name>>);

impl Drop for RestoreReads {
    fn drop(&mut self) {
        READS.set(self.0.take());
    }
}

/// Runs a query; returns its result, and the facts that it read, without duplicates.
pub fn record<T>(make: impl FnOnce() -> T) -> (T, Vec<Name>) {
    let _outer = RestoreReads(READS.replace(Some(Vec::new())));
    let made = make();
    let mut reads = READS.take().unwrap_or_default();
    reads.sort_unstable();
    reads.dedup();
    (made, reads)
}

/// Runs a function whose reads are not dependencies of the running query.
pub fn unrecorded<T>(make: impl FnOnce() -> T) -> T {
    let _outer = RestoreReads(READS.take());
    make()
}

/// Maps items in parallel. Reads are recorded for the running query; a plain parallel iterator would lose them.
pub fn map<T: Sync, R: Send>(items: &[T], make: impl Fn(&T) -> R + Send + Sync) -> Vec<R> {
    if READS.with_borrow(Option::is_none) {
        return items.par_iter().map(make).collect();
    }
    let made: Vec<(R, Vec<Name>)> = items.par_iter().map(|item| record(|| make(item))).collect();
    let add = |(made, reads): (R, Vec<Name>)| {
        read_all(&reads);
        made
    };
    made.into_iter().map(add).collect()
}

/// A value that records its readers.
#[derive(Debug)]
pub struct Fact<T>(Arc<Inner<T>>);

#[derive(Debug, Serialize, Deserialize)]
struct Inner<T> {
    name: Name,
    fingerprint: Fingerprint,
    value: T,
}

impl<T> Fact<T> {
    /// Creates a fact.
    pub fn new(name: Name, fingerprint: Fingerprint, value: T) -> Self {
        Self(Arc::new(Inner { name, fingerprint, value }))
    }

    /// Creates the only fact of a kind; all its data count.
    pub fn of(kind: &str, value: T) -> Self
    where
        T: Serialize,
    {
        Self::new(Name::new(kind, ""), Fingerprint::of_data(&value), value)
    }

    /// Makes the running query depend on the value, without returning it.
    pub fn touch(&self) {
        read(self.0.name);
    }
}

impl<T: Serialize> Serialize for Fact<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Inner::serialize(&self.0, serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Fact<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(Arc::new(Inner::deserialize(deserializer)?)))
    }
}

impl<T> Clone for Fact<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Deref for Fact<T> {
    type Target = T;

    fn deref(&self) -> &T {
        read(self.0.name);
        &self.0.value
    }
}

/// Facts of one kind by key. A lookup of a missing key is recorded, too.
#[derive(Debug)]
pub struct Table<K, V> {
    kind: &'static str,
    rows: HashMap<K, Row<V>>,
    /// Fingerprint of the set of keys.
    keys: Fingerprint,
}

#[derive(Debug)]
struct Row<V> {
    name: Name,
    fingerprint: Fingerprint,
    value: V,
}

impl<K: Eq + Hash + AsRef<[u8]>, V> Table<K, V> {
    /// Creates a table; `says` returns the part of a value that readers depend on.
    pub fn new<S: Serialize>(
        kind: &'static str,
        values: impl IntoIterator<Item = (K, V)>,
        says: impl Fn(&V) -> S,
    ) -> Self {
        let row = |(key, value): (K, V)| {
            let (name, fingerprint) = (Name::new(kind, &key), Fingerprint::of_data(&says(&value)));
            (key, Row { name, fingerprint, value })
        };
        let rows: HashMap<K, Row<V>> = values.into_iter().map(row).collect();
        let mut names: Vec<[u8; 8]> = rows.values().map(|row| row.name.0.to_le_bytes()).collect();
        names.sort_unstable();
        Self { kind, keys: Fingerprint::of(names), rows }
    }

    /// Records a dependency on the set of keys.
    pub fn read_keys(&self) {
        read(keys(self.kind));
    }

    /// Returns the value of a key, and records the read.
    pub fn get<Q: Eq + Hash + AsRef<[u8]> + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        let row = self.rows.get(key);
        read(row.map_or_else(|| Name::new(self.kind, key), |row| row.name));
        row.map(|row| &row.value)
    }
}

/// Returns the name of the fact for the set of keys of a table.
fn keys(kind: &str) -> Name {
    Name::new("keys", kind)
}

/// A collection of facts.
pub trait Facts {
    /// Calls `visit` with the name and fingerprint of every fact.
    fn visit(&self, visit: &mut dyn FnMut(Name, Fingerprint));
}

impl<T> Facts for Fact<T> {
    fn visit(&self, visit: &mut dyn FnMut(Name, Fingerprint)) {
        visit(self.0.name, self.0.fingerprint);
    }
}

impl<K, V> Facts for Table<K, V> {
    fn visit(&self, visit: &mut dyn FnMut(Name, Fingerprint)) {
        visit(keys(self.kind), self.keys);
        self.rows.values().for_each(|row| visit(row.name, row.fingerprint));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_each_read_once_for_the_innermost_query() {
        let facts: Vec<Fact<u8>> =
            (0..3).map(|at| Fact::new(Name(u64::from(at)), Fingerprint::default(), at)).collect();
        let ((inner, sum), outer) = record(|| {
            let _ = (*facts[0], *facts[0]);
            let inner = record(|| *facts[1]).1;
            (inner, map(&facts[2..], |fact| **fact).len() + unrecorded(|| *facts[1] as usize))
        });
        assert_eq!((inner, outer, sum), (vec![Name(1)], vec![Name(0), Name(2)], 2));
        let table = Table::new("letters", [("a".to_string(), 1)], |value| *value);
        let (found, reads) = record(|| (table.get("a").copied(), table.get("b").copied()));
        assert_eq!((found, reads.len()), ((Some(1), None), 2), "an absent key is read, too");
        assert_eq!(record(|| table.read_keys()).1, [keys("letters")]);
    }
}
