//! Enums of allowed words.

/// Declares an enum of allowed words: description, variant and word. The first one replaces a missing or invalid
/// value.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident {
        $(#[doc = $first_doc:literal])+ $first:ident = $first_word:literal
        $(, $(#[doc = $doc:literal])+ $variant:ident = $word:literal)* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $(#[doc = $first_doc])+
            #[serde(rename = $first_word)]
            $first,
            $($(#[doc = $doc])+
            #[serde(rename = $word)]
            $variant,)*
        }

        impl $name {
            /// All variants, in the order of their declaration.
            pub const ALL: &[Self] = &[Self::$first, $(Self::$variant),*];

            /// Returns the word in front matter and data files.
            pub fn name(self) -> &'static str {
                match self { Self::$first => $first_word, $(Self::$variant => $word),* }
            }
        }

        impl $crate::schema::Form for $name {
            const SHAPE: $crate::schema::Shape = $crate::schema::Shape::Choice(&[
                ($first_word, concat!($($first_doc),+).trim_ascii()),
                $(($word, concat!($($doc),+).trim_ascii())),*
            ]);
        }

        impl $crate::schema::Plain for $name {
            type Form = $name;
        }

        impl $crate::schema::Read<$name> for String {
            fn read(value: &$crate::files::Spanned<$crate::schema::Value>) -> Option<Self> {
                value.value.text().map(str::to_string)
            }

            fn absent(_place: $crate::files::Span) -> Self {
                $first_word.to_string()
            }
        }

        impl $crate::schema::Read<$name> for $name {
            fn read(value: &$crate::files::Spanned<$crate::schema::Value>) -> Option<Self> {
                match value.value.text()? {
                    $first_word => Some(Self::$first),
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }

            fn absent(_place: $crate::files::Span) -> Self {
                Self::$first
            }
        }
    };
}

pub(crate) use words;
