//! The kinds of pages, each with its folder below `content/`.

use serde::{Deserialize, Serialize};

use crate::pack::Pack;

/// A kind of page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// An error message or symptom.
    Error,
    /// A group of errors; its page is the `_index.md` of a folder below `content/errors/`.
    Category,
    /// A program that prints errors.
    Tool,
    /// Instructions that several errors refer to.
    Guide,
    /// A language model.
    Model,
    /// A device that runs models.
    Hardware,
    /// A format of model weights.
    Quant,
    /// A term of the glossary.
    Term,
    /// Rules to read figures from a message with many layouts; it has no page in the site.
    Extractor,
    /// Rules to put a kind of message into words; it has no page in the site.
    Reading,
    /// A standalone page: about, methodology, editorial policy.
    Document,
    /// An entry of a collection that the site declares; its slug begins with the collection: `lints/dead-code`.
    Entry,
    /// A text that pages include; it has no page.
    Include,
}

impl Kind {
    /// All kinds with a folder of their own, in the order of lists: all but entries.
    pub const ALL: [Self; 12] = [
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
        Self::Include,
    ];

    /// Returns the folder below `content/`. Categories share the folder of errors; that of an entry is in its slug.
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
            Self::Entry => "",
            Self::Include => "includes",
        }
    }

    /// Returns the kind of the pages in a folder below `content/`.
    pub fn of_folder(folder: &str) -> Option<Self> {
        Self::ALL.into_iter().filter(|kind| *kind != Self::Category).find(|kind| kind.folder() == folder)
    }

    /// Returns the pack that a site must enable to have pages of this kind.
    pub fn pack(self) -> Option<Pack> {
        matches!(self, Self::Model | Self::Hardware | Self::Quant).then_some(Pack::Llm)
    }

    /// Returns whether pages of this kind have an address of their own.
    pub fn has_address(self) -> bool {
        !matches!(self, Self::Term | Self::Extractor | Self::Reading | Self::Include)
    }

    /// Returns the name in data files and messages.
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
            Self::Entry => "entry",
            Self::Include => "include",
        }
    }

    /// Returns the name with its article, for messages.
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
            Self::Entry => "an entry",
            Self::Include => "an included text",
        }
    }
}
