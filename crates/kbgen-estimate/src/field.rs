//! Descriptors of hyperparameters, for readers, schemas, exports and the manual.

use crate::fields::ArchitectureFields;

/// A hyperparameter: all that readers, schemas, exports and the manual need to know of it.
#[derive(Debug)]
pub struct ArchitectureField {
    /// Its name.
    pub name: &'static str,
    /// Meaning, in one sentence.
    pub doc: &'static str,
    /// Its values.
    pub kind: FieldKind,
    /// Every model has it.
    pub is_required: bool,
    /// Its value; of one that is not given, the default.
    pub get: fn(&ArchitectureFields) -> FieldValue,
    /// Takes a value; `false` if it is of another type.
    pub set: fn(&mut ArchitectureFields, FieldValue) -> bool,
}

/// The values that a hyperparameter may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Text that is not empty.
    Text,
    /// One of these words, each with its meaning.
    Word(&'static [(&'static str, &'static str)]),
    /// A whole number from 1 to `most`.
    Count {
        /// The largest.
        most: u64,
    },
    /// Yes or no.
    Flag,
}

/// The value of a hyperparameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// Text or a word; empty where it is not given.
    Text(String),
    /// A number; zero where it is not given.
    Count(u64),
    /// Yes or no.
    Flag(bool),
}

/// A type that hyperparameters have.
pub(crate) trait Plain: Clone + Sized {
    /// The values of the type, unless a declaration says otherwise.
    const KIND: FieldKind;
    /// As the value of a field.
    fn value(self) -> FieldValue;
    /// Converts the value of a field; `None` if it has another type.
    fn of(value: FieldValue) -> Option<Self>;
}

macro_rules! plain {
    ($($type:ty: $variant:ident = $kind:expr),+ $(,)?) => {
        $(impl Plain for $type {
            const KIND: FieldKind = $kind;
            fn value(self) -> FieldValue {
                FieldValue::$variant(self)
            }
            fn of(value: FieldValue) -> Option<Self> {
                match value {
                    FieldValue::$variant(value) => Some(value),
                    _ => None,
                }
            }
        })+
    };
}

plain! {
    String: Text = FieldKind::Text,
    u64: Count = FieldKind::Count { most: 10_000_000 },
    bool: Flag = FieldKind::Flag,
}
