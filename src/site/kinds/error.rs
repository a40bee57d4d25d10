//! An error page: signatures, causes, solutions.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::files::{Placed, Span};
use crate::markdown::Outline;
use crate::schema::{Fields, List, Record as _, Slug, Text, TextMap, Url, record, words};
use crate::site::kinds::common::{
    ALIASES, DRAFT, Evidence, MORE_SOURCES, RELATED, TITLE, VERIFIED, VERIFIED_WITH,
};
use crate::site::kinds::key;

/// Most fragments in one `all` or `not`.
pub const MAX_FRAGMENTS: usize = 8;

words! {
    /// What sort of message an error is.
    pub enum ErrorKind {
        /// The message says what went wrong.
        Cause = "cause",
        /// The message only reports that something earlier failed.
        Wrapper = "wrapper",
        /// The message is harmless as a rule.
        Warning = "warning",
        /// There is no message at all.
        Symptom = "symptom",
    }
}

words! {
    /// How bad an error is.
    pub enum Severity {
        /// The program ends or does not start.
        Fatal = "fatal",
        /// It goes on, but slower or worse.
        Degraded = "degraded",
        /// Nothing is lost.
        None = "none",
    }
}

words! {
    /// Whether people meet an error today.
    pub enum Status {
        /// People meet it today.
        Active = "active",
        /// Current versions no longer print it; the page stays.
        Retired = "retired",
    }
}

words! {
    /// Where an error is met.
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
    /// What a solution costs.
    pub enum Cost {
        /// Costs nothing but the typing.
        None = "none",
        /// Answers come slower.
        Speed = "speed",
        /// Answers get worse.
        Quality = "quality",
        /// Hardware or a service has to be paid for.
        Money = "money",
    }
}

record! {
    /// What an error page holds besides its head.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct ErrorData {
        /// Folder under `content/errors/`.
        apart category: String = |_: &Fields| String::new(),
        shared TITLE,
        /// The messages that lead to this page.
        optional signatures: Vec<Signature>,
        /// Output that looks alike and must not match.
        optional near_misses: Vec<Placed<String>>,
        /// What sort of message it is; left out: `cause`.
        optional kind: ErrorKind,
        /// How bad it is; left out: `fatal`.
        optional severity: Severity,
        /// Slugs of the tools that print it.
        required tools: Vec<Placed<String>> as List<Slug, 1>,
        /// Where it is met; left out: everywhere.
        optional platforms: Vec<Platform>,
        /// Causes, the most likely first.
        required causes: Vec<Cause> as List<Cause, 1>,
        /// Solutions in the order in which the causes first name them; left out: exactly those, at no cost.
        optional solutions: Vec<Solution> as List<Solution, 1>,
        shared related: Vec<Placed<String>> = RELATED,
        shared VERIFIED,
        shared VERIFIED_WITH,
        /// What changed on the page; shown with the latest first.
        optional changes: Vec<Change>,
        shared MORE_SOURCES,
        shared ALIASES,
        /// Whether people meet it today; left out: `active`.
        optional status: Status,
        /// Of a retired error: since when, and what replaced it.
        optional retired: Option<String>,
        shared DRAFT,
        /// What it rests on.
        apart evidence: Evidence = Evidence::of,
    }
}

record! {
    /// A message that leads to a page.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct Signature {
        /// Where the entry stands.
        apart span: Span = Fields::span,
        /// Literal text with typed holes: `Tried to allocate {requested:bytes}`.
        optional pattern: Option<Placed<String>>,
        /// Instead of `pattern`: fragments that must all occur.
        optional all: Vec<Placed<String>> as List<Text, 1, MAX_FRAGMENTS>,
        /// Fragments of which none may occur.
        optional not: Vec<Placed<String>> as List<Text, 1, MAX_FRAGMENTS>,
        /// A shared extractor that reads more figures, such as `torch-oom`.
        optional extract: Option<Placed<String>> as Slug,
        /// A condition on the figures or the place that chooses between pages.
        optional when: Option<Placed<String>>,
        /// Where the message was really seen: a thread, or the line that prints it.
        required source: String as Url,
        /// First and last version seen: `{pytorch: "1.0 - 2.4"}`.
        optional versions: Vec<(String, String)> as TextMap,
        /// Real output that this signature matches.
        required samples: Vec<Placed<String>> as List<Text, 1>,
    }
}

/// What a signature looks for.
#[derive(Debug, Clone, Copy)]
pub enum SignatureText<'s> {
    /// One pattern.
    Pattern(&'s Placed<String>),
    /// Fragments that must all occur.
    All(&'s [Placed<String>]),
    /// Neither or both were given; reported by `check`.
    Unclear,
}

impl Signature {
    /// The pattern, or the fragments.
    pub fn text(&self) -> SignatureText<'_> {
        match (&self.pattern, self.all.as_slice()) {
            (Some(pattern), []) => SignatureText::Pattern(pattern),
            (None, all @ [_, ..]) => SignatureText::All(all),
            _ => SignatureText::Unclear,
        }
    }

    /// The pattern, or the fragments, as a list.
    pub fn texts(&self) -> &[Placed<String>] {
        match self.text() {
            SignatureText::Pattern(pattern) => std::slice::from_ref(pattern),
            SignatureText::All(fragments) => fragments,
            SignatureText::Unclear => &[],
        }
    }
}

record! {
    /// One cause of an error.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct Cause {
        /// Name of the cause within the page.
        required id: Placed<String> as Slug,
        /// What went wrong, in one line.
        required title: Placed<String>,
        /// How a reader tells that it is this cause.
        required tell: Placed<String>,
        /// A condition on the figures that points to this cause.
        optional when: Option<Placed<String>>,
        /// What answers call the cause in place of its id, with values in braces: `over-by-{asked - window}`.
        optional case: Option<Placed<String>>,
        /// Ids of solutions, the best first.
        required solutions: Vec<Placed<String>> as List<Slug, 1>,
    }
}

record! {
    /// One thing to do.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct Solution {
        /// Name of the solution; its heading in the body has it as `{#id}`.
        required id: Placed<String> as Slug,
        /// Of format 1 only: repeats the heading. `kbgen migrate` removes it.
        optional title: Option<Placed<String>>,
        /// What the solution costs; left out: `none`.
        optional cost: Cost,
        /// Plain text of its heading in the body; empty without one.
        apart heading: String = |_: &Fields| String::new(),
    }
}

record! {
    /// A change of a page that its readers should know of.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct Change {
        /// Day of the change.
        required date: Placed<Date>,
        /// What readers should know of it, in one line.
        required what: String,
    }
}

/// Whether a section of an error's body, by its id and title, says how to see that it worked.
pub fn is_check_section(id: &str, title: &str) -> bool {
    id == "check" || title.to_lowercase().starts_with("check that it worked")
}

impl ErrorData {
    /// Returns the data of an error page in a category.
    pub fn new(category: &str, fields: &Fields, outline: &Outline) -> Self {
        let mut data = Self::of(fields);
        data.category = category.to_string();
        data.add_defaults(fields);
        for solution in &mut data.solutions {
            let mut headings = outline.headings.iter();
            let heading = headings.find(|heading| heading.level == 2 && heading.id == solution.id.value);
            solution.heading = heading.map(|heading| heading.title.clone()).unwrap_or_default();
        }
        data.changes.retain(|change| change.date.value != Date::ZERO && !change.what.is_empty());
        // Of one day, the one written last is the latest.
        data.changes.reverse();
        data.changes.sort_by_key(|change| std::cmp::Reverse(change.date.value));
        data
    }

    /// Adds the solutions of the causes if none are listed, and the sources of the signatures.
    fn add_defaults(&mut self, fields: &Fields) {
        if fields.value(key!(ErrorData.solutions)).is_none()
            && !fields.unread().contains(key!(ErrorData.solutions))
        {
            let solution = |id: &Placed<String>| Solution {
                id: id.clone(),
                title: None,
                cost: Cost::None,
                heading: String::new(),
            };
            self.solutions = self.named_solutions().into_iter().map(solution).collect();
        }
        let sources = &mut self.evidence.sources;
        sources.retain(|listed| self.signatures.iter().all(|signature| signature.source != listed.value));
        for signature in &self.signatures {
            if sources.iter().all(|known| known.value != signature.source) && !signature.source.is_empty() {
                sources.push(Placed::new(signature.source.clone(), signature.span));
            }
        }
    }

    /// Returns the ids that causes name, each where it is named first.
    pub fn named_solutions(&self) -> Vec<&Placed<String>> {
        let mut named: Vec<&Placed<String>> = Vec::new();
        for id in self.causes.iter().flat_map(|cause| &cause.solutions) {
            if named.iter().all(|known| known.value != id.value) {
                named.push(id);
            }
        }
        named
    }
}
