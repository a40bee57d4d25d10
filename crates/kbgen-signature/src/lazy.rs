//! Values that are parsed on first use.

use std::fmt::{self, Debug, Formatter};
use std::ops::Deref;
use std::sync::OnceLock;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser::Error};

/// A value that a binary format stores as JSON, which is parsed on first use: a log needs few of the many thousands of
/// values of a stored table. A text format has the value itself.
#[derive(Clone)]
pub struct Lazy<T> {
    json: Box<str>,
    value: OnceLock<T>,
}

impl<T> From<T> for Lazy<T> {
    fn from(value: T) -> Self {
        Self { json: Box::default(), value: OnceLock::from(value) }
    }
}

impl<T: DeserializeOwned> Deref for Lazy<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.value.get_or_init(|| serde_json::from_str(&self.json).expect("it was stored by this program"))
    }
}

impl<T: Debug> Debug for Lazy<T> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self.value.get() {
            Some(value) => value.fmt(formatter),
            None => self.json.fmt(formatter),
        }
    }
}

impl<T: DeserializeOwned + Serialize> Serialize for Lazy<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return (**self).serialize(serializer);
        }
        serde_json::to_string(&**self).map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Lazy<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            return T::deserialize(deserializer).map(Self::from);
        }
        Ok(Self { json: Box::deserialize(deserializer)?, value: OnceLock::new() })
    }
}
