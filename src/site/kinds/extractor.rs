//! An extractor: figures of a message that comes in many layouts, each read on its own.

use crate::files::Placed;
use crate::schema::{Field, Fields, Shape};
use crate::site::kinds::common::{SOURCES, TITLE};

const FIGURE: &[Field] = &[
    Field::required("name", Shape::Text, "Name of the figure, as conditions use it."),
    Field::required(
        "wordings",
        Shape::some(&Shape::Text),
        "Patterns with one named hole, which is the figure; the first that stands in the message counts.",
    ),
    Field::optional(
        "repeats",
        Shape::Flag,
        "`true`: it may stand several times; the name is the sum, `name_1` and so on the single ones.",
    ),
];

const DERIVED: &[Field] = &[
    Field::required("name", Shape::Text, "Name of the figure, as conditions use it."),
    Field::required(
        "value",
        Shape::Text,
        "How it is reckoned from others, unless it was read: `reserved - allocated`.",
    ),
    Field::optional("when", Shape::Text, "A condition without which it is not reckoned so."),
];

const VERDICT: &[Field] = &[
    Field::required("name", Shape::Slug, "What the figure `verdict` becomes."),
    Field::required("when", Shape::Text, "The condition on figures; the first that holds counts."),
];

const PLACE: &[Field] = &[
    Field::required(
        "name",
        Shape::Slug,
        "What the figure `place` becomes; `unknown` if no fragment is found.",
    ),
    Field::required(
        "fragments",
        Shape::some(&Shape::Text),
        "What stands in the traceback there; one is enough.",
    ),
];

const SAMPLE: &[Field] = &[
    Field::required("text", Shape::Text, "Real output, of a page's message with this extractor."),
    Field::required(
        "figures",
        Shape::Map(&Shape::Text),
        "What must be read from it: `{requested: \"2.00 GiB\", verdict: too-big}`.",
    ),
];

/// Front matter of an extractor.
pub const FIELDS: &[Field] = &[
    TITLE,
    Field::required(
        "figures",
        Shape::some(&Shape::Record(FIGURE)),
        "Figures that are read from the message.",
    ),
    Field::optional(
        "derived",
        Shape::list(&Shape::Record(DERIVED)),
        "Figures that are reckoned, in this order.",
    ),
    Field::optional(
        "verdicts",
        Shape::list(&Shape::Record(VERDICT)),
        "What an expert concludes from the figures, in the order in which the rules lead.",
    ),
    Field::optional(
        "places",
        Shape::list(&Shape::Record(PLACE)),
        "Parts of the program, told by the traceback; the first that is found counts.",
    ),
    Field::required(
        "samples",
        Shape::some(&Shape::Record(SAMPLE)),
        "The known layouts, each with its figures.",
    ),
    SOURCES,
];

/// An extractor as its file has it.
#[derive(Debug, Clone)]
pub struct ExtractorData {
    /// Figures that are read.
    pub figures: Vec<FigureText>,
    /// Figures that are reckoned.
    pub derived: Vec<DerivedText>,
    /// Name and condition of each conclusion.
    pub verdicts: Vec<(Placed<String>, Placed<String>)>,
    /// Name and fragments of each part of the program.
    pub places: Vec<(Placed<String>, Vec<Placed<String>>)>,
    /// The known layouts.
    pub samples: Vec<SampleText>,
}

/// A layout, and what must be read from it.
#[derive(Debug, Clone)]
pub struct SampleText {
    /// Real output.
    pub text: Placed<String>,
    /// Names and values of figures.
    pub figures: Vec<(Placed<String>, Placed<String>)>,
}

/// A figure that is read.
#[derive(Debug, Clone)]
pub struct FigureText {
    /// Its name.
    pub name: Placed<String>,
    /// Patterns, the first that stands counts.
    pub wordings: Vec<Placed<String>>,
    /// Whether it may stand several times.
    pub repeats: bool,
}

/// A figure that is reckoned.
#[derive(Debug, Clone)]
pub struct DerivedText {
    /// Its name.
    pub name: Placed<String>,
    /// How it is reckoned.
    pub value: Placed<String>,
    /// When it is.
    pub when: Option<Placed<String>>,
}

impl ExtractorData {
    /// What the fields of an extractor say.
    pub fn new(fields: &Fields) -> Self {
        let text = |record: &Fields, name: &str| {
            record.text(name).unwrap_or_else(|| Placed::new(String::new(), record.span()))
        };
        Self {
            figures: fields
                .records("figures")
                .iter()
                .map(|record| FigureText {
                    name: text(record, "name"),
                    wordings: record.texts("wordings"),
                    repeats: record.flag("repeats").is_some_and(|placed| placed.value),
                })
                .collect(),
            derived: fields
                .records("derived")
                .iter()
                .map(|record| DerivedText {
                    name: text(record, "name"),
                    value: text(record, "value"),
                    when: record.text("when"),
                })
                .collect(),
            verdicts: fields
                .records("verdicts")
                .iter()
                .map(|record| (text(record, "name"), text(record, "when")))
                .collect(),
            places: fields
                .records("places")
                .iter()
                .map(|record| (text(record, "name"), record.texts("fragments")))
                .collect(),
            samples: fields
                .records("samples")
                .iter()
                .map(|record| SampleText { text: text(record, "text"), figures: record.map("figures") })
                .collect(),
        }
    }
}
