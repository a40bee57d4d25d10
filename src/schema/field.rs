//! Definitions: a field has a name, a shape, and a sentence that explains it.

/// One key that a mapping may hold.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What its value may be.
    pub shape: Shape,
    /// Whether it has to be there.
    pub need: Need,
    /// What it means, in one sentence; editors and the manual show it.
    pub doc: &'static str,
}

impl Field {
    /// A field that has to be there.
    pub const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, need: Need::Required, doc }
    }

    /// A field that is always there in what kbgen writes, and null where nothing is known.
    pub const fn or_null(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, need: Need::OrNull, doc }
    }

    /// A field that may be left out.
    pub const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Self {
        Self { name, shape, need: Need::Optional, doc }
    }
}

/// Whether a field has to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Its absence is a fault.
    Required,
    /// It may be left out.
    Optional,
    /// It is there, and may be null; only files that kbgen writes have such.
    OrNull,
}

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub enum Shape {
    /// Text that is not empty.
    Text,
    /// A slug: small letters, digits, hyphens and dots.
    Slug,
    /// An `https://` (or `http://`) address.
    Url,
    /// A calendar day, `YYYY-MM-DD`.
    Date,
    /// A whole number in a closed range.
    Integer {
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// A finite number above zero.
    Number,
    /// `true` or `false`.
    Flag,
    /// One of the words given, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
    /// A list whose items have one shape.
    List {
        /// Shape of every item.
        of: &'static Shape,
        /// Fewest items.
        at_least: usize,
        /// Most items.
        at_most: usize,
    },
    /// A mapping with the keys given.
    Record(&'static [Field]),
    /// A mapping with free keys, all values of one shape.
    Map(&'static Shape),
}

impl Shape {
    /// A list of any length.
    pub const fn any(of: &'static Self) -> Self {
        Self::List { of, at_least: 0, at_most: usize::MAX }
    }

    /// What a person would call it, for messages: "a date", "a list of texts".
    pub fn name(&self) -> String {
        match self {
            Self::Text => "text".into(),
            Self::Slug => "a slug".into(),
            Self::Url => "a web address".into(),
            Self::Date => "a date".into(),
            Self::Integer { .. } => "a whole number".into(),
            Self::Number => "a number".into(),
            Self::Flag => "`true` or `false`".into(),
            Self::Choice(choices) => {
                let names: Vec<_> = choices.iter().map(|(word, _)| format!("`{word}`")).collect();
                format!("one of {}", names.join(", "))
            }
            Self::List { of, .. } => match of {
                Self::Record(_) => "a list of mappings".into(),
                Self::Slug => "a list of slugs".into(),
                Self::Url => "a list of web addresses".into(),
                _ => "a list".into(),
            },
            Self::Record(_) | Self::Map(_) => "a mapping".into(),
        }
    }
}
