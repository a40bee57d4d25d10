//! Data of error pages: signatures, causes, solutions.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::custom::{OwnValues, Vocabularies, Words, default_word};
use crate::files::{Span, Spanned};
use crate::markdown::Outline;
use crate::schema::{FieldOf, Fields, List, Record as _, ShapeOf, Slug, Text, TextMap, Url, record, words};
use crate::site::kinds::common::{
    ALIASES, DRAFT, Evidence, MORE_SOURCES, PUBLISH_ON, QUESTIONS, RELATED, RUNS, TITLE, VERIFIED,
    VERIFIED_WITH,
};
use crate::site::kinds::key;

/// Maximum number of fragments in one `all` or `not`.
pub const MAX_FRAGMENTS: usize = 8;

words! {
    /// Kind of an error message.
    pub enum ErrorKind {
        /// The message names the cause.
        Cause = "cause",
        /// The message only reports that something earlier failed.
        Wrapper = "wrapper",
        /// The message is usually harmless.
        Warning = "warning",
        /// There is no message.
        Symptom = "symptom",
    }
}

words! {
    /// Severity of an error.
    pub enum Severity {
        /// The program stops or does not start.
        Fatal = "fatal",
        /// The program continues, but slower or with worse results.
        Degraded = "degraded",
        /// No effect.
        None = "none",
    }
}

words! {
    /// Whether current versions still print an error.
    pub enum Status {
        /// Current versions print it.
        Active = "active",
        /// Only older versions print it; the page remains.
        Retired = "retired",
    }
}

words! {
    /// Platform of an error.
    pub enum Platform {
        /// Linux.
        Linux = "linux",
        /// Windows.
        Windows = "windows",
        /// macOS.
        Macos = "macos",
        /// Windows Subsystem for Linux.
        Wsl = "wsl",
        /// Containers.
        Docker = "docker",
    }
}

words! {
    /// Cost of a solution.
    pub enum Cost {
        /// No cost.
        None = "none",
        /// Slower answers.
        Speed = "speed",
        /// Worse answers.
        Quality = "quality",
        /// Paid hardware or services.
        Money = "money",
    }
}

record! {
    /// Front matter of an error page.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct ErrorData {
        /// Folder below `content/errors/`.
        apart category: String = |_: &Fields| String::new(),
        shared TITLE,
        shared questions: Vec<String> = QUESTIONS,
        /// Messages that lead to this page.
        optional signatures: Vec<Signature> as List<Signature, 0, 256>,
        /// Similar output that must not match.
        optional near_misses: Vec<Spanned<String>>,
        /// Kind of message; default: `cause`.
        optional kind: ErrorKind,
        /// Severity of the error; defaults to `fatal`.
        optional severity: String as Severity,
        /// Slugs of the tools that print it.
        required tools: Vec<Spanned<String>> as List<Slug, 1>,
        /// Affected platforms; default: all.
        optional platforms: Vec<String> as List<Platform>,
        /// Causes, the most likely first.
        required causes: Vec<Cause> as List<Cause, 1>,
        /// Solutions, in the order in which the causes first name them; defaults to exactly those, at no cost.
        optional solutions: Vec<Solution> as List<Solution, 1>,
        shared related: Vec<Spanned<String>> = RELATED,
        shared VERIFIED,
        shared VERIFIED_WITH,
        shared RUNS,
        /// Changes of the page; shown latest first.
        optional changes: Vec<ChangelogEntry>,
        shared MORE_SOURCES,
        shared ALIASES,
        /// Whether current versions still print it; default: `active`.
        optional status: Status,
        /// For a retired error: since when, and what replaced it.
        optional retired: Option<String>,
        shared DRAFT,
        shared PUBLISH_ON,
        /// Values of declared fields.
        apart own: Vec<OwnValues> = |_: &Fields| Vec::new(),
        /// Evidence for the page.
        apart evidence: Evidence = Evidence::of,
    }
}

record! {
    /// A message that leads to a page.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct Signature {
        /// Span of the entry.
        apart span: Span = Fields::span,
        /// Literal text with typed placeholders: `Tried to allocate {requested:bytes}`.
        optional pattern: Option<Spanned<String>>,
        /// Instead of `pattern`: fragments that must all occur, at most 200 lines apart.
        optional all: Vec<Spanned<String>> as List<Text, 1, MAX_FRAGMENTS>,
        /// Fragments that must not occur within 40 lines of the message.
        optional not: Vec<Spanned<String>> as List<Text, 1, MAX_FRAGMENTS>,
        /// Fragments that must not occur in the line of the message, such as the words of another wording.
        optional not_on_line: Vec<Spanned<String>> as List<Text, 1, MAX_FRAGMENTS>,
        /// A shared extractor that reads more figures, such as `torch-oom`.
        optional extract: Option<Spanned<String>> as Slug,
        /// A condition on the figures or the place that selects between pages.
        optional when: Option<Spanned<String>>,
        /// Where the message was observed: a thread, or the source line that prints it, at a release or commit.
        required source: String as Url,
        /// First and last version observed: `{pytorch: "1.0 - 2.4"}`.
        optional versions: Vec<(String, String)> as TextMap,
        /// Real output that this signature matches.
        required samples: Vec<Spanned<String>> as List<Text, 1>,
    }
}

/// Text of a signature.
#[derive(Debug, Clone, Copy)]
pub enum SignatureText<'s> {
    /// One pattern.
    Pattern(&'s Spanned<String>),
    /// Fragments that must all occur.
    All(&'s [Spanned<String>]),
    /// Neither or both were given; reported by `check`.
    Unclear,
}

impl Signature {
    /// Returns the pattern or the fragments.
    pub fn text(&self) -> SignatureText<'_> {
        match (&self.pattern, self.all.as_slice()) {
            (Some(pattern), []) => SignatureText::Pattern(pattern),
            (None, all @ [_, ..]) => SignatureText::All(all),
            _ => SignatureText::Unclear,
        }
    }

    /// Returns the pattern or the fragments as a list.
    pub fn texts(&self) -> &[Spanned<String>] {
        match self.text() {
            SignatureText::Pattern(pattern) => std::slice::from_ref(pattern),
            SignatureText::All(fragments) => fragments,
            SignatureText::Unclear => &[],
        }
    }
}

record! {
    /// A cause of an error.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct Cause {
        /// Id of the cause within the page.
        required id: Spanned<String> as Slug,
        /// The cause, in one line.
        required title: Spanned<String>,
        /// How to recognize this cause.
        required tell: Spanned<String>,
        /// A condition on the figures that indicates this cause.
        optional when: Option<Spanned<String>>,
        /// Name of the cause in results instead of its id, with values in braces: `over-by-{asked - window}`.
        optional case: Option<Spanned<String>>,
        /// Ids of solutions, the best first.
        required solutions: Vec<Spanned<String>> as List<Slug, 1>,
    }
}

record! {
    /// A solution.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct Solution {
        /// Span of the entry.
        apart span: Span = Fields::span,
        /// Id of the solution; its heading in the body has it as `{#id}`.
        required id: Spanned<String> as Slug,
        /// Only in format 1: repeats the heading. `kbgen migrate` removes it.
        optional title: Option<Spanned<String>>,
        /// Cost of the solution; defaults to `none`.
        optional cost: String as Cost,
        /// Plain text of its heading in the body; empty without one.
        apart heading: String = |_: &Fields| String::new(),
    }
}

record! {
    /// A change of a page that is relevant to readers.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct ChangelogEntry {
        /// Date of the change.
        required date: Spanned<Date>,
        /// Summary for readers, in one line.
        required what: String,
    }
}

/// Returns whether a section of an error's body describes how to verify the fix, by its id and title.
pub fn is_check_section(id: &str, title: &str) -> bool {
    id == "check" || title.to_lowercase().starts_with("check that it worked")
}

/// Calls a function with the fields of errors, whose words are those of declared vocabularies.
pub fn with_vocabularies<T>(own: &Vocabularies, make: impl FnOnce(&[FieldOf<'_>]) -> T) -> T {
    let [severities, costs, systems] =
        [&own.severities, &own.costs, &own.systems].map(|words| choices(words));
    let severity = ShapeOf::Choice(&severities);
    let cost = ShapeOf::Choice(&costs);
    let system = ShapeOf::Choice(&systems);
    let solution = with_shape(Solution::FIELDS, key!(Solution.cost), (!costs.is_empty()).then_some(cost));
    let solution = ShapeOf::Record(&solution);
    let fields = with_shape(
        ErrorData::FIELDS,
        key!(ErrorData.solutions),
        Some(ShapeOf::List { of: &solution, at_least: 1, at_most: 64 }),
    );
    let severity = (!severities.is_empty()).then_some(severity);
    let systems = (!systems.is_empty()).then_some(ShapeOf::List { of: &system, at_least: 0, at_most: 64 });
    let fields = with_shape(&fields, key!(ErrorData.severity), severity);
    make(&with_shape(&fields, key!(ErrorData.platforms), systems))
}

fn choices(words: &Words) -> Vec<(&str, &str)> {
    words.iter().map(|(word, label)| (word.as_str(), label.as_str())).collect()
}

/// Returns fields of which one has another shape, if it is given.
fn with_shape<'f>(fields: &[FieldOf<'f>], name: &str, shape: Option<ShapeOf<'f>>) -> Vec<FieldOf<'f>> {
    let shape_of = |field: &FieldOf<'f>| shape.filter(|_| field.name == name).unwrap_or(field.shape);
    fields.iter().map(|field| FieldOf { shape: shape_of(field), ..*field }).collect()
}

impl ErrorData {
    /// Reads the fields of an error page in a category.
    pub fn new(category: &str, fields: &Fields, outline: &Outline, own: &Vocabularies) -> Self {
        let mut data = Self::of(fields);
        data.category = category.to_string();
        data.add_defaults(fields);
        for solution in &mut data.solutions {
            let mut headings = outline.headings.iter();
            let heading = headings.find(|heading| heading.level == 2 && heading.id == solution.id.value);
            solution.heading = heading.map(|heading| heading.title.clone()).unwrap_or_default();
        }
        // Words that were not written are built-in defaults; unknown ones were reported.
        data.severity = default_word(&own.severities, &data.severity).to_string();
        for solution in &mut data.solutions {
            solution.cost = default_word(&own.costs, &solution.cost).to_string();
        }
        data.changes.retain(|change| change.date.value != Date::ZERO && !change.what.is_empty());
        // For entries of one day, the last one written is the latest.
        data.changes.reverse();
        data.changes.sort_by_key(|change| std::cmp::Reverse(change.date.value));
        data
    }

    /// Adds the solutions of the causes if none are listed, and the sources of the signatures.
    fn add_defaults(&mut self, fields: &Fields) {
        if fields.value(key!(ErrorData.solutions)).is_none()
            && !fields.unread().contains(key!(ErrorData.solutions))
        {
            let solution = |id: &Spanned<String>| Solution {
                span: id.span,
                id: id.clone(),
                title: None,
                cost: Cost::None.name().to_string(),
                heading: String::new(),
            };
            self.solutions = self.named_solutions().into_iter().map(solution).collect();
        }
        let sources = &mut self.evidence.sources;
        sources.retain(|listed| self.signatures.iter().all(|signature| signature.source != listed.value));
        for signature in &self.signatures {
            if sources.iter().all(|known| known.value != signature.source) && !signature.source.is_empty() {
                sources.push(Spanned::new(signature.source.clone(), signature.span));
            }
        }
    }

    /// Returns the ids that causes name, each where it is named first.
    pub fn named_solutions(&self) -> Vec<&Spanned<String>> {
        let mut named: Vec<&Spanned<String>> = Vec::new();
        for id in self.causes.iter().flat_map(|cause| &cause.solutions) {
            if named.iter().all(|known| known.value != id.value) {
                named.push(id);
            }
        }
        named
    }
}
