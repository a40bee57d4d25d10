//! An extractor: figures of a message that comes in many layouts, each read on its own.

use crate::files::Spanned;
use crate::schema::{List, Slug, Text, TextMap, record};
use crate::site::kinds::common::{SOURCES, TITLE};

record! {
    /// An extractor as its file has it.
    #[derive(Debug, Clone)]
    pub struct ExtractorData {
        shared TITLE,
        /// Figures that are read from the message.
        required figures: Vec<FigureText> as List<FigureText, 1>,
        /// Figures that are reckoned, in this order.
        optional derived: Vec<DerivedText>,
        /// What an expert concludes from the figures, in the order in which the rules lead.
        optional verdicts: Vec<VerdictText>,
        /// Parts of the program, told by the traceback; the first that is found counts.
        optional places: Vec<PlaceText>,
        /// The known layouts, each with its figures.
        required samples: Vec<SampleText> as List<SampleText, 1>,
        shared SOURCES,
    }
}

record! {
    /// A figure that is read.
    #[derive(Debug, Clone)]
    pub struct FigureText {
        /// Name of the figure, as conditions use it.
        required name: Spanned<String>,
        /// Patterns with one named hole, which is the figure; the first that stands in the message counts.
        required wordings: Vec<Spanned<String>> as List<Text, 1>,
        /// `true`: it may stand several times; the name is the sum, `name_1` and so on the single ones.
        optional repeats: bool,
    }
}

record! {
    /// A figure that is reckoned.
    #[derive(Debug, Clone)]
    pub struct DerivedText {
        /// Name of the figure, as conditions use it.
        required name: Spanned<String>,
        /// How it is reckoned from others, unless it was read: `reserved - allocated`.
        required value: Spanned<String>,
        /// A condition without which it is not reckoned so.
        optional when: Option<Spanned<String>>,
    }
}

record! {
    /// A conclusion.
    #[derive(Debug, Clone)]
    pub struct VerdictText {
        /// What the figure `verdict` becomes.
        required name: Spanned<String> as Slug,
        /// The condition on figures; the first that holds counts.
        required when: Spanned<String>,
    }
}

record! {
    /// A part of the program.
    #[derive(Debug, Clone)]
    pub struct PlaceText {
        /// What the figure `place` becomes; `unknown` if no fragment is found.
        required name: Spanned<String> as Slug,
        /// What stands in the traceback there; one is enough.
        required fragments: Vec<Spanned<String>> as List<Text, 1>,
    }
}

record! {
    /// A layout, and what must be read from it.
    #[derive(Debug, Clone)]
    pub struct SampleText {
        /// Real output, of a page's message with this extractor.
        required text: Spanned<String>,
        /// What must be read from it: `{requested: "2.00 GiB", verdict: too-big}`.
        required figures: Vec<(Spanned<String>, Spanned<String>)> as TextMap,
    }
}
