//! The kinds of page, each with its folder under `content/`.

use serde::{Deserialize, Serialize};

/// A kind of page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// An error that people meet.
    Error,
    /// A group of errors; its page is the `_index.md` of a folder under `content/errors/`.
    Category,
    /// A program that prints errors.
    Tool,
    /// How to do something that several errors need.
    Guide,
    /// A language model.
    Model,
    /// A device that runs models.
    Hardware,
    /// A format that weights are kept in.
    Quant,
    /// A term of the glossary.
    Term,
    /// How figures are read from a message with many layouts; it has no page in the site.
    Extractor,
    /// What a kind of message says; it has no page in the site.
    Reading,
    /// A page of its own: about, methodology, editorial policy.
    Document,
}

impl Kind {
    /// All kinds, in the order in which lists name them.
    pub const ALL: [Self; 11] = [
        Self::Error,
        Self::Category,
        Self::Tool,
        Self::Guide,
        Self::Model,
        Self::Hardware,
        Self::Quant,
        Self::Term,
        Self::Extractor,
        Self::Reading,
        Self::Document,
    ];

    /// Its folder under `content/`. Categories share the folder of the errors.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Error | Self::Category => "errors",
            Self::Tool => "tools",
            Self::Guide => "guides",
            Self::Model => "models",
            Self::Hardware => "hardware",
            Self::Quant => "quants",
            Self::Term => "glossary",
            Self::Extractor => "extractors",
            Self::Reading => "readings",
            Self::Document => "pages",
        }
    }

    /// The kind whose pages lie in a folder under `content/`.
    pub fn of_folder(folder: &str) -> Option<Self> {
        Self::ALL.into_iter().filter(|kind| *kind != Self::Category).find(|kind| kind.folder() == folder)
    }

    /// One word for data files and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Category => "category",
            Self::Tool => "tool",
            Self::Guide => "guide",
            Self::Model => "model",
            Self::Hardware => "hardware",
            Self::Quant => "quant",
            Self::Term => "term",
            Self::Extractor => "extractor",
            Self::Reading => "reading",
            Self::Document => "page",
        }
    }

    /// Name with its article, as messages use it.
    pub fn with_article(self) -> &'static str {
        match self {
            Self::Error => "an error page",
            Self::Category => "a category",
            Self::Tool => "a tool page",
            Self::Guide => "a guide",
            Self::Model => "a model page",
            Self::Hardware => "a hardware page",
            Self::Quant => "a quantization page",
            Self::Term => "a glossary entry",
            Self::Extractor => "an extractor",
            Self::Reading => "a reading",
            Self::Document => "a page",
        }
    }
}
