//! Field definitions: name, shape, and description.

/// Key of a mapping, declared in the code.
pub type Field = FieldOf<'static>;

/// Form of a value, declared in the code.
pub type Shape = ShapeOf<'static>;

/// Key of a mapping, declared in the code or in `site.toml`.
#[derive(Debug, Clone, Copy)]
pub struct FieldOf<'f> {
    /// Key.
    pub name: &'f str,
    /// Shape of its value.
    pub shape: ShapeOf<'f>,
    /// Whether it is required.
    pub need: Need,
    /// Description in one sentence, shown by editors and in the manual.
    pub doc: &'f str,
}

impl<'f> FieldOf<'f> {
    /// Defines a required field.
    pub const fn required(name: &'f str, shape: ShapeOf<'f>, doc: &'f str) -> Self {
        Self { name, shape, need: Need::Required, doc }
    }

    /// Defines a field that kbgen always writes, as null if the value is unknown.
    pub const fn or_null(name: &'f str, shape: ShapeOf<'f>, doc: &'f str) -> Self {
        Self { name, shape, need: Need::OrNull, doc }
    }

    /// Defines an optional field.
    pub const fn optional(name: &'f str, shape: ShapeOf<'f>, doc: &'f str) -> Self {
        Self { name, shape, need: Need::Optional, doc }
    }
}

/// Whether a field is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The field must be present.
    Required,
    /// The field may be missing.
    Optional,
    /// The field is present but may be null, in files written by kbgen.
    OrNull,
}

/// Allowed form of a value.
#[derive(Debug, Clone, Copy)]
pub enum ShapeOf<'f> {
    /// Text that is not empty.
    Text,
    /// A slug: lowercase letters, digits, hyphens and dots.
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
    Choice(&'f [(&'f str, &'f str)]),
    /// A list whose items have one shape.
    List {
        /// Shape of every item.
        of: &'f ShapeOf<'f>,
        /// Fewest items.
        at_least: usize,
        /// Most items.
        at_most: usize,
    },
    /// A mapping with the given keys.
    Record(&'f [FieldOf<'f>]),
    /// A mapping with free keys, all values of one shape.
    Map(&'f ShapeOf<'f>),
}

impl<'f> ShapeOf<'f> {
    /// Defines a list of any length.
    pub const fn any(of: &'f Self) -> Self {
        Self::List { of, at_least: 0, at_most: usize::MAX }
    }

    /// Returns the name for messages, such as "a date" or "a list of slugs".
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
