//! Entries of data files: declarations of their fields, which are written without a tree of values.

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::schema::Field;

/// Declares an entry: its fields after those of a base entry, and the function that creates it.
macro_rules! entry {
    ($(#[doc = $doc:literal])+ $form:ident: $base:expr, fn $name:ident($($arg:ident: $type:ty),*) on $start:expr; {
        $($need:ident $key:literal: $shape:expr, $meaning:expr => $value:expr;)*
    }) => {
        $(#[doc = $doc])+
        pub(super) const $form: &[Field] = {
            const OWN: &[Field] = &[$(Field::$need($key, $shape, $meaning)),*];
            &joined::<{ $base.len() + OWN.len() }>($base, OWN)
        };

        $(#[doc = $doc])+
        pub(super) fn $name<'e>($($arg: $type),*) -> Entry<impl WriteFields + 'e> {
            struct Own<'e> {
                $($arg: $type,)*
                lifetime: PhantomData<&'e ()>,
            }

            impl WriteFields for Own<'_> {
                fn write<M: SerializeMap>(&self, fields: &mut M) -> Result<(), M::Error> {
                    let Self { $($arg,)* .. } = *self;
                    $start.0.write(fields)?;
                    $(write_field!(fields, $need $key, $value);)*
                    Ok(())
                }
            }

            Entry(Own { $($arg,)* lifetime: PhantomData })
        }
    };
    ($(#[doc = $doc:literal])+ $form:ident, fn $name:ident($($arg:ident: $type:ty),*) $fields:tt) => {
        entry! { $(#[doc = $doc])+ $form: NOTHING, fn $name($($arg: $type),*) on Entry(NoFields); $fields }
    };
}

/// Writes a field; omits an optional one without a value.
macro_rules! write_field {
    ($fields:ident, optional $key:literal, $value:expr) => {
        if let Some(value) = &$value {
            $fields.serialize_entry($key, value)?;
        }
    };
    ($fields:ident, $need:ident $key:literal, $value:expr) => {
        $fields.serialize_entry($key, &$value)?
    };
}

pub(super) use {entry, write_field};

/// Writes the fields of an entry directly, since a tree would take several times as long.
pub(super) trait WriteFields {
    fn write<M: SerializeMap>(&self, fields: &mut M) -> Result<(), M::Error>;
}

/// An entry of a data file.
pub(super) struct Entry<F>(pub F);

impl<F: WriteFields> Serialize for Entry<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_map(None)?;
        self.0.write(&mut fields)?;
        fields.end()
    }
}

pub(super) struct NoFields;

impl WriteFields for NoFields {
    fn write<M: SerializeMap>(&self, _fields: &mut M) -> Result<(), M::Error> {
        Ok(())
    }
}

pub(super) const NOTHING: &[Field] = &[];

/// Concatenates two lists of fields.
pub(super) const fn joined<const N: usize>(first: &[Field], second: &[Field]) -> [Field; N] {
    let mut all = [if first.is_empty() { second[0] } else { first[0] }; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}
