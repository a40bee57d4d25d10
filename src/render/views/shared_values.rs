//! Template values that several pages show, made once per build.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use minijinja::value::Value;

use crate::facts::{self, Name};

/// A value with the facts that it depends on.
type SharedValue = (Option<Value>, Vec<Name>);

/// Values by key.
#[derive(Debug, Default)]
pub(super) struct SharedValues(Mutex<HashMap<String, SharedValue>>);

impl SharedValues {
    /// Returns the value of a key; `make` is called unless it is known, without a lock.
    pub fn get(&self, key: &str, make: impl FnOnce() -> Option<Value>) -> Option<Value> {
        let values = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let value_of = |(value, reads): &SharedValue| {
            facts::read_all(reads);
            value.clone()
        };
        if let Some(known) = values().get(key) {
            return value_of(known);
        }
        let made = facts::record(make);
        value_of(values().entry(key.to_string()).or_insert(made))
    }
}
