//! Data of extractors, which read figures from a message with many layouts, each figure independently.

use crate::files::Spanned;
use crate::schema::{List, Slug, Text, TextMap, record};
use crate::site::kinds::common::{SOURCES, TITLE};

record! {
    /// Contents of an extractor file.
    #[derive(Debug, Clone)]
    pub struct ExtractorData {
        shared TITLE,
        /// Figures to read from the message.
        required figures: Vec<FigureText> as List<FigureText, 1>,
        /// Computed figures, in order of computation.
        optional derived: Vec<DerivedText>,
        /// Conclusions from the figures, in order of precedence.
        optional verdicts: Vec<VerdictText>,
        /// Parts of the program, recognized in the traceback; the first match counts.
        optional places: Vec<PlaceText>,
        /// Known layouts, each with its figures.
        required samples: Vec<SampleText> as List<SampleText, 1>,
        shared SOURCES,
    }
}

record! {
    /// A figure to read.
    #[derive(Debug, Clone)]
    pub struct FigureText {
        /// Name of the figure in conditions.
        required name: Spanned<String>,
        /// Patterns with one named placeholder for the figure; the first that occurs in the message counts.
        required wordings: Vec<Spanned<String>> as List<Text, 1>,
        /// `true`: the figure may occur several times; the name is the sum, `name_1` and so on are the single values.
        optional repeats: bool,
    }
}

record! {
    /// A computed figure.
    #[derive(Debug, Clone)]
    pub struct DerivedText {
        /// Name of the figure in conditions.
        required name: Spanned<String>,
        /// Formula from other figures, used unless the figure was read: `reserved - allocated`.
        required value: Spanned<String>,
        /// A condition for using the formula.
        optional when: Option<Spanned<String>>,
    }
}

record! {
    /// A conclusion.
    #[derive(Debug, Clone)]
    pub struct VerdictText {
        /// Value of the figure `verdict`.
        required name: Spanned<String> as Slug,
        /// Condition on the figures; the first that holds counts.
        required when: Spanned<String>,
    }
}

record! {
    /// A part of the program.
    #[derive(Debug, Clone)]
    pub struct PlaceText {
        /// Value of the figure `place`; `unknown` if no fragment is found.
        required name: Spanned<String> as Slug,
        /// Fragments of the traceback; one is enough.
        required fragments: Vec<Spanned<String>> as List<Text, 1>,
    }
}

record! {
    /// A known layout with its figures.
    #[derive(Debug, Clone)]
    pub struct SampleText {
        /// Real output, from the message of a page that uses this extractor.
        required text: Spanned<String>,
        /// Expected figures: `{requested: "2.00 GiB", verdict: too-big}`.
        required figures: Vec<(Spanned<String>, Spanned<String>)> as TextMap,
    }
}
