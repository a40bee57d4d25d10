//! Runs queries, and runs a query again only when a fact that it read says something else.
//!
//! A build tells its facts stage by stage ([`Engine::tell`]) and asks queries of each stage after the facts that these can
//! read. While a query runs, its reads are recorded ([`crate::facts`]). Its key is the hash of what these facts say: as long
//! as the key is the same, so is the result, in this run or a later one, for `build`, `check` and `serve` alike. Nobody
//! writes a key or a list of dependencies by hand.

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

pub use results::{Kind, MAX_PACK_BYTES, PackPart};

/// Queries with what is known of earlier runs.
#[derive(Debug, Default)]
pub struct Engine {
    /// Fingerprints of the facts of this build.
    facts: RwLock<HashMap<Name, Fingerprint, BuildHasherDefault<NameHasher>>>,
    results: Results,
    values: Option<Mutex<Values>>,
}

/// Values of queries by the query, each with the key that it was made under.
#[derive(Default)]
struct Values(HashMap<Key, (Key, Arc<dyn Any + Send + Sync>)>);

impl Debug for Values {
    fn fmt(&self, text: &mut Formatter<'_>) -> fmt::Result {
        write!(text, "Values({})", self.0.len())
    }
}

impl Engine {
    /// An engine that knows what `packs` returns: what [`Engine::pack`] made of a kind. It is called when the first result of
    /// the kind is asked for; what another program made is left out.
    pub fn new(packs: impl Fn(Kind, PackPart) -> Option<Vec<u8>> + Send + Sync + 'static) -> Self {
        Self { results: Results::new(packs), ..Self::default() }
    }

    /// An engine that runs every query.
    pub fn without_cache() -> Self {
        Self { results: Results::disabled(), ..Self::default() }
    }

    /// The same for many builds in one process: values stay in memory as they are.
    pub fn with_values(self) -> Self {
        Self { values: Some(Mutex::default()), ..self }
    }

    /// Begins a build: no fact is known.
    pub fn begin(&self) {
        self.facts.write().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Takes in what facts say in this build.
    pub fn register(&self, facts: &impl Facts) {
        let mut known = self.facts.write().unwrap_or_else(PoisonError::into_inner);
        facts.visit(&mut |name, fingerprint| {
            known.insert(name, fingerprint);
        });
    }

    /// The value of a query. It is kept from one run to the next.
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

    /// The value of a query. It is kept as it is as long as the process lives, if this serves many builds.
    pub fn value<T: Any + Send + Sync>(&self, name: &str, make: impl FnOnce() -> T) -> Arc<T> {
        if self.values.is_none() { Arc::new(make()) } else { self.keyed(name, make).0 }
    }

    /// The key of a query, which `learn` runs only if its reads are not known.
    pub fn key(&self, name: &str, learn: impl FnOnce()) -> Key {
        let query = query("key", name);
        match self.recorded(&query) {
            Some((key, _)) => key,
            None => self.run(&query, learn).1,
        }
    }

    /// As [`Engine::value`], with the key that it was made under.
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

    /// The result of a function of nothing but its arguments.
    pub fn pure<A: Debug, T: Serialize + DeserializeOwned>(
        &self,
        kind: Kind,
        arguments: A,
        function: fn(A) -> T,
    ) -> T {
        if self.results.is_disabled() {
            return function(arguments);
        }
        // What they show of themselves is all that they hold.
        self.results.get_or(kind, &Key::of([format!("{arguments:?}")]), || function(arguments))
    }

    /// Whether a check finds nothing. One that does is not run again as long as that holds.
    pub fn check<T>(&self, name: &str, check: impl FnOnce() -> Vec<T>) -> Vec<T> {
        let query = query("check", name);
        if self.recorded(&query).is_some_and(|(key, _)| self.results.knows(Kind::Clean, &key)) {
            return Vec::new();
        }
        let (found, key) = self.run(&query, check);
        if found.is_empty() {
            self.results.note(Kind::Clean, key);
        }
        found
    }

    /// Makes files, unless the sink has them as they were made under the same key.
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
        self.results.note(Kind::Clean, key);
        sink.write_group(&key, files);
        Ok(())
    }

    /// Returns the results of a kind in one piece; see [`Results::pack`].
    pub fn pack(&self, kind: Kind) -> Option<(PackPart, Vec<u8>)> {
        self.results.pack(kind)
    }

    /// The key that a query has now, and its reads, if it ran before.
    fn recorded(&self, query: &Key) -> Option<(Key, Vec<Name>)> {
        let reads: Vec<u8> = self.results.bytes(Kind::Reads, query)?;
        let (names, _) = reads.as_chunks::<8>();
        let reads: Vec<Name> = names.iter().map(|name| Name(u64::from_le_bytes(*name))).collect();
        Some((self.key_of(query, &reads), reads))
    }

    fn run<T>(&self, query: &Key, make: impl FnOnce() -> T) -> (T, Key) {
        let (value, reads) = facts::record(make);
        let key = self.key_of(query, &reads);
        facts::read_all(&reads);
        self.results.put_bytes(
            Kind::Reads,
            *query,
            reads.iter().flat_map(|name| name.0.to_le_bytes()).collect(),
        );
        (value, key)
    }

    fn key_of(&self, query: &Key, reads: &[Name]) -> Key {
        let facts = self.facts.read().unwrap_or_else(PoisonError::into_inner);
        let says = |name| facts.get(name).copied().unwrap_or_default().0.to_le_bytes();
        let says: Vec<u8> = reads.iter().flat_map(says).collect();
        Key::of([PROGRAM.as_bytes(), query.as_ref(), &says])
    }
}

fn query(kind: &str, name: &str) -> Key {
    Key::of([kind, name])
}

/// Takes no file, where only the faults of making them matter: what was made without one is not made again.
#[derive(Debug)]
pub struct DryRun<'e>(pub &'e Engine);

impl Sink for DryRun<'_> {
    fn write(&self, _path: String, _bytes: Vec<u8>) {}

    fn reuse_group(&self, key: &Key) -> bool {
        self.0.results.knows(Kind::Clean, key)
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
    fn a_query_runs_again_when_a_fact_that_it_read_says_something_else() {
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
    fn who_asks_a_query_depends_on_what_it_read() {
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
    fn a_check_that_finds_something_is_run_again() {
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
