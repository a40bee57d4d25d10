//! Records: one declaration per field generates the struct member, its definition and its reader.

use jiff::civil::Date;

use crate::files::{Span, Spanned};
use crate::schema::field::{Field, Need, Shape};
use crate::schema::fields::{Fields, Value};

/// Shape of a value as a type, so that the compiler checks it against the type of the member.
pub trait Form {
    /// Shape of the value.
    const SHAPE: Shape;
}

/// Type that values of a form are converted to.
pub trait Read<F>: Sized {
    /// Converts a value, or returns `None` if it has another form.
    fn read(value: &Spanned<Value>) -> Option<Self>;

    /// Returns the replacement for a missing or invalid value, which has been reported.
    fn absent(place: Span) -> Self;
}

/// Type with a default form.
pub trait Plain {
    /// Default form.
    type Form;
}

/// Struct read from a mapping with known keys.
pub trait Record: Sized {
    /// Field definitions.
    const FIELDS: &'static [Field];

    /// Creates the struct from the fields.
    fn of(fields: &Fields) -> Self;
}

macro_rules! forms {
    ($($(#[$doc:meta])+ $name:ident = $shape:expr),+ $(,)?) => {
        $($(#[$doc])+
        #[derive(Debug)]
        pub enum $name {}

        impl Form for $name {
            const SHAPE: Shape = $shape;
        })+
    };
}

forms! {
    /// Text that is not empty.
    Text = Shape::Text,
    /// Lowercase letters, digits, hyphens and dots.
    Slug = Shape::Slug,
    /// A web address.
    Url = Shape::Url,
    /// A calendar day.
    Day = Shape::Date,
    /// A finite number above zero.
    Number = Shape::Number,
    /// `true` or `false`.
    Flag = Shape::Flag,
}

/// Values under free keys.
#[derive(Debug)]
pub struct MapOf<F>(F);

impl<F: Form> Form for MapOf<F> {
    const SHAPE: Shape = Shape::Map(&F::SHAPE);
}

/// Texts under free keys.
pub type TextMap = MapOf<Text>;

/// A whole number in a closed range.
#[derive(Debug)]
pub struct Integer<const MIN: i64, const MAX: i64>;

impl<const MIN: i64, const MAX: i64> Form for Integer<MIN, MAX> {
    const SHAPE: Shape = Shape::Integer { min: MIN, max: MAX };
}

/// A list with a minimum and maximum length.
#[derive(Debug)]
pub struct List<F, const LEAST: usize = 0, const MOST: usize = 64>(F);

impl<F: Form, const LEAST: usize, const MOST: usize> Form for List<F, LEAST, MOST> {
    const SHAPE: Shape = Shape::List { of: &F::SHAPE, at_least: LEAST, at_most: MOST };
}

macro_rules! read {
    ($($type:ty, $(default $form:ty,)? [$($other:ty),*], $variant:ident, $take:expr, $absent:expr;)+) => {
        $(
            $(impl Plain for $type {
                type Form = $form;
            }
            read!(@ $type, $form, $variant, $take, $absent);)?
            $(read!(@ $type, $other, $variant, $take, $absent);)*
        )+
    };
    (@ $type:ty, $form:ty, $variant:ident, $take:expr, $absent:expr) => {
        impl Read<$form> for $type {
            fn read(value: &Spanned<Value>) -> Option<Self> {
                match &value.value {
                    Value::$variant(value) => $take(value),
                    _ => None,
                }
            }

            fn absent(_place: Span) -> Self {
                $absent
            }
        }
    };
}

read! {
    String, default Text, [Slug, Url], Text, |text: &String| Some(text.clone()), Self::new();
    bool, default Flag, [], Flag, |flag: &bool| Some(*flag), false;
    f64, default Number, [], Number, |number: &f64| Some(*number), 0.0;
    Date, default Day, [], Date, |date: &Date| Some(*date), Self::ZERO;
    Vec<(String, String)>, [TextMap], Map,
        |pairs: &[(Spanned<String>, Spanned<Value>)]| {
            let text = |(key, text): &(Spanned<String>, Spanned<Value>)| {
                Some((key.value.clone(), text.value.text()?.to_string()))
            };
            Some(pairs.iter().filter_map(text).collect())
        },
        Self::new();
}

impl<F, T: Read<F>> Read<MapOf<F>> for Vec<(Spanned<String>, T)> {
    fn read(value: &Spanned<Value>) -> Option<Self> {
        match &value.value {
            Value::Map(pairs) => {
                Some(pairs.iter().filter_map(|(key, value)| Some((key.clone(), T::read(value)?))).collect())
            }
            _ => None,
        }
    }

    fn absent(_place: Span) -> Self {
        Self::new()
    }
}

macro_rules! integers {
    ($($type:ty),+) => {
        $(impl<const MIN: i64, const MAX: i64> Read<Integer<MIN, MAX>> for $type {
            fn read(value: &Spanned<Value>) -> Option<Self> {
                match value.value {
                    Value::Integer(number) => <$type>::try_from(number).ok(),
                    _ => None,
                }
            }

            fn absent(_place: Span) -> Self {
                0
            }
        })+
    };
}

integers!(i64, u64);

impl<F, T: Read<F>> Read<F> for Spanned<T> {
    fn read(value: &Spanned<Value>) -> Option<Self> {
        T::read(value).map(|read| Self::new(read, value.span))
    }

    fn absent(place: Span) -> Self {
        Self::new(T::absent(place), place)
    }
}

impl<F, T: Read<F>> Read<F> for Option<T> {
    fn read(value: &Spanned<Value>) -> Option<Self> {
        T::read(value).map(Some)
    }

    fn absent(_place: Span) -> Self {
        None
    }
}

impl<F, T: Read<F>, const LEAST: usize, const MOST: usize> Read<List<F, LEAST, MOST>> for Vec<T> {
    fn read(value: &Spanned<Value>) -> Option<Self> {
        match &value.value {
            Value::List(items) => {
                let mut read: Self = items.iter().filter_map(T::read).collect();
                // All pages stay in memory, and most lists have fewer items than the smallest capacity.
                read.shrink_to_fit();
                Some(read)
            }
            _ => None,
        }
    }

    fn absent(_place: Span) -> Self {
        Self::new()
    }
}

impl<T: Plain> Plain for Spanned<T> {
    type Form = T::Form;
}

impl<T: Plain> Plain for Option<T> {
    type Form = T::Form;
}

impl<T: Plain> Plain for Vec<T> {
    type Form = List<T::Form>;
}

/// Field shared by several records, with its type.
#[derive(Debug)]
pub struct Shared<T> {
    /// Definition.
    pub field: Field,
    read: fn(&Spanned<Value>) -> Option<T>,
}

impl<T> Shared<T> {
    /// Defines a required field.
    pub const fn required<F: Form>(name: &'static str, doc: &'static str) -> Self
    where
        T: Read<F>,
    {
        Self { field: Field { name, shape: F::SHAPE, need: Need::Required, doc }, read: T::read }
    }

    /// Defines an optional field.
    pub const fn optional<F: Form>(name: &'static str, doc: &'static str) -> Self
    where
        T: Read<F>,
    {
        Self { field: Field { name, shape: F::SHAPE, need: Need::Optional, doc }, read: T::read }
    }

    /// Returns its value in a mapping, if present.
    pub fn of(&self, fields: &Fields) -> Option<T> {
        fields.value(self.field.name).and_then(self.read)
    }
}

impl Fields {
    /// Returns the value of a field, or its replacement.
    pub fn member<F, T: Read<F>>(&self, name: &str) -> T {
        self.value(name).and_then(T::read).unwrap_or_else(|| T::absent(self.span))
    }

    /// Returns the value of a field, or a default.
    pub fn member_or<F, T: Read<F>>(&self, name: &str, default: T) -> T {
        self.value(name).and_then(T::read).unwrap_or(default)
    }
}

/// Declares a record: a struct whose members are fields of a mapping. Each entry has the description, whether the
/// field is required, its name, its type, its form unless it is the default, and its default value. `shared` refers to
/// a field of several records; without a member, [`Shared::of`] reads it. `apart` is a member computed from the fields
/// by a function.
macro_rules! record {
    ($(#[$meta:meta])* pub struct $name:ident { $($entries:tt)* }) => {
        $crate::schema::record! { @next { $(#[$meta])* $name } [] [] [] $($entries)* }
    };
    (@next $head:tt [$($member:tt)*] [$($field:tt)*] [$($read:tt)*] shared $shared:ident, $($rest:tt)*) => {
        $crate::schema::record! { @next $head [$($member)*] [$($field)* $shared.field,] [$($read)*] $($rest)* }
    };
    (@next $head:tt [$($member:tt)*] [$($field:tt)*] [$($read:tt)*]
        shared $name:ident: $type:ty = $shared:ident, $($rest:tt)*) => {
        $crate::schema::record! { @next $head
            [$($member)* #[doc = concat!("The field [`", stringify!($shared), "`].")] pub $name: $type,]
            [$($field)* $shared.field,]
            [$($read)* $name: (|fields| $shared.of(fields).unwrap_or_default()),]
            $($rest)* }
    };
    (@next $head:tt [$($member:tt)*] [$($field:tt)*] [$($read:tt)*]
        $(#[doc = $doc:literal])+ apart $name:ident: $type:ty = $make:expr, $($rest:tt)*) => {
        $crate::schema::record! { @next $head
            [$($member)* $(#[doc = $doc])+ pub $name: $type,] [$($field)*]
            [$($read)* $name: ($make),] $($rest)* }
    };
    (@next $head:tt [$($member:tt)*] [$($field:tt)*] [$($read:tt)*]
        $(#[doc = $doc:literal])+ $need:ident $name:ident: $type:ty $(as $form:ty)? $(= $default:expr)?,
        $($rest:tt)*) => {
        $crate::schema::record! { @next $head
            [$($member)* $(#[doc = $doc])+ pub $name: $type,]
            [$($field)* $crate::schema::Field {
                name: stringify!($name),
                shape: <$crate::schema::record!(@form $type $(, $form)?) as $crate::schema::Form>::SHAPE,
                need: $crate::schema::record!(@need $need),
                doc: concat!($($doc),+).trim_ascii(),
            },]
            [$($read)* $name: (|fields| $crate::schema::record!(
                @read fields, stringify!($name), $crate::schema::record!(@form $type $(, $form)?) $(, $default)?
            )),]
            $($rest)* }
    };
    (@next { $(#[$meta:meta])* $name:ident } [$($member:tt)*] [$($field:tt)*] [$($read:ident: $make:tt,)*]) => {
        $(#[$meta])*
        pub struct $name { $($member)* }

        impl $crate::schema::Record for $name {
            const FIELDS: &'static [$crate::schema::Field] = &[$($field)*];

            #[allow(unused_variables, reason = "a record may have no member")]
            fn of(fields: &$crate::schema::Fields) -> Self {
                Self { $($read: $crate::schema::made(fields, $make)),* }
            }
        }

        $crate::schema::record! { @forms $name }
    };
    (@forms $name:ident) => {
        impl $crate::schema::Form for $name {
            const SHAPE: $crate::schema::Shape =
                $crate::schema::Shape::Record(<$name as $crate::schema::Record>::FIELDS);
        }

        impl $crate::schema::Plain for $name {
            type Form = $name;
        }

        impl $crate::schema::Read<$name> for $name {
            fn read(value: &$crate::files::Spanned<$crate::schema::Value>) -> Option<Self> {
                value.value.record().map(<$name as $crate::schema::Record>::of)
            }

            fn absent(place: $crate::files::Span) -> Self {
                <$name as $crate::schema::Record>::of(&$crate::schema::Fields::none(place))
            }
        }
    };
    (@form $type:ty) => { <$type as $crate::schema::Plain>::Form };
    (@form $type:ty, $form:ty) => { $form };
    (@need required) => { $crate::schema::Need::Required };
    (@need optional) => { $crate::schema::Need::Optional };
    (@read $fields:ident, $name:expr, $form:ty) => { $fields.member::<$form, _>($name) };
    (@read $fields:ident, $name:expr, $form:ty, $default:expr) => {
        $fields.member_or::<$form, _>($name, $default)
    };
}

/// Value that a function computes from the fields of a record.
pub fn made<T>(fields: &Fields, make: impl FnOnce(&Fields) -> T) -> T {
    make(fields)
}

pub(crate) use record;

#[cfg(test)]
mod tests {
    use crate::files::{Sources, Span, Spanned};
    use crate::schema::word_enum::words;
    use crate::schema::{Integer, List, Node, NodeKind, Record as _, Slug, Syntax, json_schema, read};

    words! {
        /// How it is.
        pub enum Mood {
            /// Well.
            Well = "well",
            /// Not so
            /// well.
            Ill = "ill",
        }
    }

    record! {
        /// A record with members of each sort.
        #[derive(Debug)]
        pub struct Sample {
            /// How many.
            required count: u64 as Integer<1, 9>,
            /// How it is.
            required mood: Mood,
            /// Left out: seven.
            optional seven: i64 as Integer<0, 9> = 7,
            /// Its names.
            optional names: Vec<Spanned<String>> as List<Slug, 1, 2>,
            /// One more.
            optional inner: Option<Inner>,
            /// All keys that are right.
            apart given: usize = |fields: &crate::schema::Fields| {
                Sample::FIELDS.iter().filter(|field| fields.value(field.name).is_some()).count()
            },
        }
    }

    record! {
        /// A record in a record.
        #[derive(Debug)]
        pub struct Inner {
            /// A flag.
            optional flag: bool,
        }
    }

    /// A mapping of these keys to words, and what is read of it, with the messages.
    fn sample(pairs: &[(&str, &str)]) -> (Sample, Vec<String>) {
        let mut sources = Sources::default();
        let span = Span::top(sources.add("page.md", ""));
        let scalar = |text: &str| Node { span, kind: NodeKind::Scalar { text: text.into(), quoted: false } };
        let pairs = pairs.iter().map(|(key, text)| {
            let kind = match key.split_once('.') {
                Some((_, inner)) => NodeKind::Map(vec![(Spanned::new(inner.into(), span), scalar(text))]),
                None if text.contains(' ') => NodeKind::List(text.split(' ').map(scalar).collect()),
                None => scalar(text).kind,
            };
            (Spanned::new(key.split('.').next().unwrap_or_default().to_string(), span), Node { span, kind })
        });
        let node = Node { span, kind: NodeKind::Map(pairs.collect()) };
        let mut found = Vec::new();
        let sample = Sample::of(&read(&node, Sample::FIELDS, "a sample", Syntax::Yaml, &mut found));
        (sample, found.into_iter().map(|finding| finding.message).collect())
    }

    #[test]
    fn a_declaration_makes_the_reader() {
        let (sample, found) =
            sample(&[("count", "3"), ("mood", "ill"), ("names", "a b"), ("inner.flag", "true")]);
        assert_eq!(found, Vec::<String>::new());
        assert_eq!((sample.count, sample.mood, sample.seven, sample.given), (3, Mood::Ill, 7, 4));
        assert_eq!(sample.names.iter().map(|name| name.value.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert!(sample.inner.is_some_and(|inner| inner.flag));
    }

    #[test]
    fn invalid_values_are_reported_and_replaced() {
        let (sample, found) = sample(&[("count", "12"), ("mod", "ill"), ("names", "A b")]);
        assert_eq!(found, ["`count` is 12", "unknown key `mod` in a sample", "`names` is `A`, not a slug"],);
        assert_eq!((sample.count, sample.mood, sample.names.len()), (0, Mood::Well, 1));
        assert!(sample.inner.is_none());
    }

    #[test]
    fn a_declaration_makes_the_schema() {
        let schema = json_schema("id", "title", Sample::FIELDS);
        assert_eq!(schema["required"], serde_json::json!(["count", "mood"]));
        let fields = &schema["properties"];
        assert_eq!(fields["count"]["description"], "How many.");
        assert_eq!(fields["mood"]["oneOf"][1]["const"], Mood::Ill.name());
        assert_eq!(fields["mood"]["oneOf"][1]["description"], "Not so well.");
        assert_eq!(fields["names"]["maxItems"], 2);
        assert_eq!(fields["inner"]["properties"]["flag"]["type"], "boolean");
    }
}
