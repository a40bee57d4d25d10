//! A reading: what a kind of message says, for errors without a page.

use crate::files::Spanned;
use crate::schema::{Integer, List, Slug, Text, TextMap, record, words};
use crate::site::kinds::common::{SOURCES, TITLE};

words! {
    /// Claim of a reading about the cause.
    pub enum Role {
        /// It names the cause.
        Cause = "cause",
        /// It names the cause in any message of a form.
        Form = "form",
        /// It says what failed, not why.
        Outcome = "outcome",
        /// It says that the program crashed.
        Crash = "crash",
        /// It says where the cause is.
        Pointer = "pointer",
        /// It repeats a message.
        Repeat = "repeat",
    }
}

record! {
    /// A reading as its file has it.
    #[derive(Debug, Clone)]
    pub struct ReadingData {
        shared TITLE,
        /// Claim about the cause; the default is `cause`.
        optional role: Role,
        /// Place in the answer among those that name the cause, or among those of the same role; smaller comes first.
        optional order: i64 as Integer<0, 9999> = 9999,
        /// Patterns of the messages; one is enough.
        optional patterns: Vec<Spanned<String>> as List<Text, 1, 256>,
        /// Patterns of which none may occur within 40 lines of the message.
        optional not: Vec<Spanned<String>> as List<Text, 1>,
        /// `true`: reads the last Python traceback, or without one the native call stack, in place of a message.
        optional traceback: bool,
        /// Meanings of values, such as exit codes, for the lookups of all readings.
        optional table: Vec<(Spanned<String>, Spanned<String>)> as TextMap,
        /// Figures that are looked up in a table, in this order.
        optional lookups: Vec<LookupText>,
        /// Sentences; the first one whose condition is true and whose figures are known is used.
        required says: Vec<SaysText> as List<SaysText, 1>,
        /// Slugs of the error pages about this failure, for sentences without `pages` of their own.
        optional pages: Vec<Spanned<String>> as List<Slug>,
        /// Real output, each with the sentence that it leads to.
        required samples: Vec<ReadingSample> as List<ReadingSample, 1>,
        shared SOURCES,
    }
}

record! {
    /// A figure that is the meaning of another one.
    #[derive(Debug, Clone)]
    pub struct LookupText {
        /// The figure with the value.
        required figure: Spanned<String>,
        /// Slug of the reading with the table.
        required table: Spanned<String> as Slug,
        /// Name of the figure with the meaning.
        required name: Spanned<String>,
    }
}

record! {
    /// A sentence, the next step, and the pages about it.
    #[derive(Debug, Clone)]
    pub struct SaysText {
        /// A condition on the figures.
        optional when: Option<Spanned<String>>,
        /// Sentence that says what the log reports, with figures in braces.
        required text: Spanned<String>,
        /// The next step, with figures in braces.
        required next: Spanned<String>,
        /// Slugs of the error pages about the failure of this sentence; empty if none is.
        optional pages: Option<Vec<Spanned<String>>> as List<Slug>,
    }
}

record! {
    /// A message, and what must be said of it.
    #[derive(Debug, Clone)]
    pub struct ReadingSample {
        /// Real output.
        required text: Spanned<String>,
        /// The sentence that it leads to.
        required says: Spanned<String>,
    }
}
