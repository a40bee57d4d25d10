//! Descriptors of hyperparameters, for readers, schemas, exports and the manual.

use crate::fields::ArchitectureFields;

/// A hyperparameter, as readers, schemas, exports and the manual use it.
#[derive(Debug)]
pub struct ArchitectureField {
    /// Name in front matter.
    pub name: &'static str,
    /// Meaning, in one sentence.
    pub doc: &'static str,
    /// Possible values.
    pub kind: FieldKind,
    /// Whether every model has it.
    pub is_required: bool,
    /// Returns the value, or the default if it is not given.
    pub get: fn(&ArchitectureFields) -> FieldValue,
    /// Sets the value. Returns `false` if the value has another type.
    pub set: fn(&mut ArchitectureFields, FieldValue) -> bool,
}

/// Possible values of a hyperparameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// Non-empty text.
    Text,
    /// One of these words, each with its meaning.
    Word(&'static [(&'static str, &'static str)]),
    /// A whole number from 1 to `most`.
    Count {
        /// Maximum.
        most: u64,
    },
    /// Yes or no.
    Flag,
}

/// Value of a hyperparameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldValue {
    /// Text or a word; empty if not given.
    Text(String),
    /// A number; zero if not given.
    Count(u64),
    /// Yes or no.
    Flag(bool),
}

/// Type of a hyperparameter.
pub(crate) trait FieldType: Clone + Sized {
    /// Possible values, unless the declaration overrides them.
    const KIND: FieldKind;
    /// Converts to the value of a field.
    fn value(self) -> FieldValue;
    /// Converts the value of a field; `None` if it has another type.
    fn of(value: FieldValue) -> Option<Self>;
}

macro_rules! field_types {
    ($($type:ty: $variant:ident = $kind:expr),+ $(,)?) => {
        $(impl FieldType for $type {
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

field_types! {
    String: Text = FieldKind::Text,
    u64: Count = FieldKind::Count { most: 10_000_000 },
    bool: Flag = FieldKind::Flag,
}
