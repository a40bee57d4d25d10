//! Runs queries, and reruns a query only when a fact that it read has changed.
//!
//! A build registers its facts stage by stage ([`Engine::register`]), and runs the queries of a stage after the facts
//! that they can read. The facts that a query reads are recorded ([`crate::facts`]). The key of a query is the hash
//! of their fingerprints: as long as the key is unchanged, so is the result, in this run or a later one, for `build`,
//! `check` and `serve` alike. Keys and dependency lists are never written by hand.

mod pack;
mod results;

use std::any::Any;
use std::collections::HashMap;
use std::fmt::{self, Debug, Formatter};
use std::hash::BuildHasherDefault;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::results::Results;
use crate::facts::{self, Facts, Fingerprint, Name, NameHasher};
use crate::files::{Key, PROGRAM, Sink};

pub use pack::ResultPack;
pub use results::{Kind, MAX_PACK_BYTES, PackPart};

/// Runs queries and keeps their results.
#[derive(Debug, Default)]
pub struct Engine {
    /// Fingerprints of the facts of the current build.
    facts: RwLock<HashMap<Name, Fingerprint, BuildHasherDefault<NameHasher>>>,
    results: Results,
    values: Option<Mutex<Values>>,
}

/// In-memory values by query, each with the key that it was computed under.
#[derive(Default)]
struct Values(HashMap<Key, (Key, Arc<dyn Any + Send + Sync>)>);

impl Debug for Values {
    fn fmt(&self, text: &mut Formatter<'_>) -> fmt::Result {
        write!(text, "Values({})", self.0.len())
    }
}

impl Engine {
    /// Creates an engine with cached results. `packs` returns the output of [`Engine::pack`] of an earlier run; it is
    /// called when the first result of a kind is needed. Packs of another kbgen version are ignored.
    pub fn new(packs: impl Fn(Kind, PackPart) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self { results: Results::new(packs), ..Self::default() }
    }

    /// Creates an engine that runs every query.
    pub fn without_cache() -> Self {
        Self { results: Results::disabled(), ..Self::default() }
    }

    /// Returns whether every query is run.
    pub fn is_without_cache(&self) -> bool {
        self.results.is_disabled()
    }

    /// Also keeps values in memory, for several builds in one process.
    pub fn with_values(self) -> Self {
        Self { values: Some(Mutex::default()), ..self }
    }

    /// Begins a build: removes all facts.
    pub fn begin(&self) {
        self.facts.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Registers the fingerprints of facts for the current build.
    pub fn register(&self, facts: &impl Facts) {
        let mut known = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        facts.visit(&mut |name, fingerprint| {
            known.insert(name, fingerprint);
        });
    }

    /// Returns the result of a query, from the cache if its key is unchanged.
    pub fn query<T: Serialize + DeserializeOwned>(
        &self,
        kind: Kind,
        name: &str,
        make: impl FnOnce() -> T,
    ) -> T {
        if self.results.is_disabled() {
            return make();
        }
        let query = query(kind.name(), name);
        if let Some((key, reads)) = self.recorded(&query)
            && let Some(value) = self.results.get(kind, &key)
        {
            facts::read_all(&reads);
            return value;
        }
        let (value, key) = self.run(&query, make);
        self.results.put(kind, key, &value);
        value
    }

    /// Returns the value of a query. The value is kept in memory if the engine was created [`with
    /// values`](Self::with_values).
    pub fn value<T: Any + Send + Sync>(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        if self.values.is_none() { Arc::new(make()) } else { self.keyed(name, make).0 }
    }

    /// Returns the key of a query. `learn` runs the query unless it has run under this key: with other facts, it may
    /// read further ones, such as those of a new page.
    pub fn key(&self, name: &str, learn: impl FnOnce()) -> Key {
        let query = query("key", name);
        if let Some((key, _)) = self.recorded(&query)
            && self.results.contains_key(Kind::Clean, &key)
        {
            return key;
        }
        let key = self.run(&query, learn).1;
        self.results.insert_key(Kind::Clean, key);
        key
    }

    /// Returns the value of a query, and the key that it was computed under.
    pub fn keyed<T: Any + Send + Sync>(&self, name: &str, make: impl FnOnce() -> T) -> (Arc<T>, Key) {
        let query = query("value", name);
        let values =
            || self.values.as_ref().map(|values| values.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some((key, reads)) = self.recorded(&query) {
            let found = values().and_then(|values| {
                let (under, value) = values.0.get(&query)?;
                (*under == key).then(|| Arc::clone(value))
            });
            if let Some(value) = found.and_then(|value| value.downcast().ok()) {
                facts::read_all(&reads);
                return (value, key);
            }
        }
        let (value, key) = self.run(&query, make);
        let value = Arc::new(value);
        if let Some(mut values) = values() {
            values.0.insert(query, (key, Arc::clone(&value) as Arc<dyn Any + Send + Sync>));
        }
        (value, key)
    }

    /// Returns the result of a pure function, cached by its arguments.
    pub fn pure<A: Debug, T: Serialize + DeserializeOwned>(
        &self,
        kind: Kind,
        arguments: A,
        function: fn(A) -> T,
    ) -> T {
        if self.results.is_disabled() {
            return function(arguments);
        }
        // The `Debug` output of arguments contains all their data; that of a model family is its unique name.
        self.results.get_or(kind, &Key::of([format!("{arguments:?}")]), || function(arguments))
    }

    /// Returns the findings of a check. A check without findings is not rerun while its key is unchanged.
    pub fn check<T>(&self, name: &str, check: impl FnOnce() -> Vec<T>) -> Vec<T> {
        let query = query("check", name);
        if self.recorded(&query).is_some_and(|(key, _)| self.results.contains_key(Kind::Clean, &key)) {
            return Vec::new();
        }
        let (found, key) = self.run(&query, check);
        if found.is_empty() {
            self.results.insert_key(Kind::Clean, key);
        }
        found
    }

    /// Produces the files of a query, unless the sink can reuse those produced under the same key.
    ///
    /// # Errors
    /// As `make`.
    pub fn files<E>(
        &self,
        name: &str,
        sink: &dyn Sink,
        make: impl FnOnce() -> Result<Vec<(String, Vec<u8>)>, E>,
    ) -> Result<(), E> {
        let query = query("files", name);
        if self.recorded(&query).is_some_and(|(key, _)| sink.reuse_group(&key)) {
            return Ok(());
        }
        let (made, key) = self.run(&query, make);
        let files = made?;
        self.results.insert_key(Kind::Clean, key);
        sink.write_group(&key, files);
        Ok(())
    }

    /// Selects the results of a kind that are written; see [`Results::pack`].
    pub fn pack(&self, kind: Kind) -> Option<(PackPart, ResultPack)> {
        self.results.pack(kind)
    }

    /// Returns the current key of a query and its dependencies, if it has run before.
    fn recorded(&self, query: &Key) -> Option<(Key, Vec<Name>)> {
        let reads = self.results.find(Kind::Reads, query)?;
        let (names, _) = reads.bytes().as_chunks::<8>();
        let reads: Vec<Name> = names.iter().map(|name| Name(u64::from_le_bytes(*name))).collect();
        Some((self.key_of(query, &reads), reads))
    }

    fn run<T>(&self, query: &Key, make: impl FnOnce() -> T) -> (T, Key) {
        let (value, reads) = facts::record(make);
        let key = self.key_of(query, &reads);
        facts::read_all(&reads);
        let names: Vec<[u8; 8]> = reads.iter().map(|name| name.0.to_le_bytes()).collect();
        self.results.put_bytes(Kind::Reads, *query, names.into_flattened());
        (value, key)
    }

    fn key_of(&self, query: &Key, reads: &[Name]) -> Key {
        let facts = self.facts.read().unwrap_or_else(PoisonError::into_inner);
        let says = |name| facts.get(name).copied().unwrap_or_default().0.to_le_bytes();
        let says: Vec<[u8; 16]> = reads.iter().map(says).collect();
        Key::of([PROGRAM.as_bytes(), query.as_ref(), says.as_flattened()])
    }
}

fn query(kind: &str, name: &str) -> Key {
    Key::of([kind, name])
}

/// Sink that discards files, to find only rendering errors. Skips queries that had none.
#[derive(Debug)]
pub struct DryRun<'e>(pub &'e Engine);

impl Sink for DryRun<'_> {
    fn write(&self, _path: String, _bytes: Vec<u8>) {}

    fn append(&self, _path: &str, _bytes: &[u8]) {}

    fn reuse_group(&self, key: &Key) -> bool {
        self.0.results.contains_key(Kind::Clean, key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Fact;

    fn fact(name: &str, text: &str) -> Fact<String> {
        Fact::new(Name::new("fact", name), Fingerprint::of([text]), text.to_string())
    }

    #[test]
    fn reruns_a_query_when_a_fact_changes() {
        let engine = Engine::default();
        let ask = |one: &str, two: &str| {
            let (one, two) = (fact("one", one), fact("two", two));
            engine.begin();
            engine.register(&one);
            engine.register(&two);
            let mut ran = false;
            let made = engine.query(Kind::Prose, "query", || {
                ran = true;
                if one.len() > 1 { two.clone().to_string() } else { String::new() }
            });
            (ran, made)
        };
        assert_eq!(ask("a", "x"), (true, String::new()));
        assert_eq!(ask("a", "y"), (false, String::new()), "the second was not read");
        assert_eq!(ask("aa", "y"), (true, "y".to_string()));
        assert_eq!(ask("aa", "z"), (true, "z".to_string()));
        assert_eq!(ask("a", "z"), (true, String::new()), "its reads are those of its last run");
        assert_eq!(ask("a", "x"), (false, String::new()));
    }

    #[test]
    fn a_key_depends_on_the_facts_read_since_the_last_change() {
        let engine = Engine::default();
        let ask = |texts: &[&str]| {
            let list = Fact::new(Name::new("list", ""), Fingerprint::of([[texts.len() as u8]]), texts.len());
            let pages: Vec<_> =
                texts.iter().enumerate().map(|(at, text)| fact(&at.to_string(), text)).collect();
            engine.begin();
            engine.register(&list);
            pages.iter().for_each(|page| engine.register(page));
            engine.key("all", || (0..*list).for_each(|at| assert!(!pages[at].is_empty())))
        };
        let (one, two) = (ask(&["a"]), ask(&["a", "b"]));
        assert!(one != two && two != ask(&["a", "c"]), "the second page was added later");
        assert_eq!(ask(&["a", "b"]), two);
    }

    #[test]
    fn outer_queries_depend_on_the_facts_of_inner_ones() {
        let engine = Engine::default();
        let ask = |text: &str| {
            let fact = fact("inner", text);
            engine.begin();
            engine.register(&fact);
            let inner = || engine.query(Kind::Prose, "inner", || fact.to_string());
            engine.query(Kind::Prose, "outer", || inner() + "!")
        };
        assert_eq!([ask("a"), ask("a"), ask("b")], ["a!", "a!", "b!"]);
    }

    #[test]
    fn reruns_checks_with_findings() {
        let engine = Engine::default();
        let mut runs = 0;
        for found in [vec![1], vec![], vec![]] {
            engine.check("check", || {
                runs += 1;
                found
            });
        }
        assert_eq!(runs, 2);
    }
}
