//! An error page: signatures, causes, solutions.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::files::{Placed, Span};
use crate::schema::{Field, Fields, Shape};
use crate::site::kinds::common::{
    ALIASES, DRAFT, Evidence, RELATED, TITLE, VERIFIED, VERIFIED_WITH, WEB_SOURCES, plain,
};

/// Most fragments in one `all` or `not`.
pub const MAX_FRAGMENTS: usize = 8;

const FRAGMENTS: Shape = Shape::List { of: &Shape::Text, at_least: 1, at_most: MAX_FRAGMENTS };

const SIGNATURE: &[Field] = &[
    Field::optional(
        "pattern",
        Shape::Text,
        "Literal text with typed holes: `Tried to allocate {requested:bytes}`.",
    ),
    Field::optional("all", FRAGMENTS, "Instead of `pattern`: fragments that must all occur."),
    Field::optional("not", FRAGMENTS, "Fragments of which none may occur."),
    Field::optional(
        "extract",
        Shape::Slug,
        "A shared extractor that reads more figures, such as `torch-oom`.",
    ),
    Field::optional(
        "when",
        Shape::Text,
        "A condition on the figures or the place that chooses between pages.",
    ),
    Field::required(
        "source",
        Shape::Url,
        "Where the message was really seen: a thread, or the line that prints it.",
    ),
    Field::optional(
        "versions",
        Shape::Map(&Shape::Text),
        "First and last version seen: `{pytorch: \"1.0 - 2.4\"}`.",
    ),
    Field::required("samples", Shape::some(&Shape::Text), "Real output that this signature matches."),
];

const CAUSE: &[Field] = &[
    Field::required("id", Shape::Slug, "Name of the cause within the page."),
    Field::required("title", Shape::Text, "What went wrong, in one line."),
    Field::required("tell", Shape::Text, "How a reader tells that it is this cause."),
    Field::optional("when", Shape::Text, "A condition on the figures that points to this cause."),
    Field::optional(
        "case",
        Shape::Text,
        "What answers call the cause in place of its id, with values in braces: `over-by-{asked - window}`.",
    ),
    Field::required("solutions", Shape::some(&Shape::Slug), "Ids of solutions, the best first."),
];

const SOLUTION: &[Field] = &[
    Field::required("id", Shape::Slug, "Name of the solution; its heading in the body bears it as `{#id}`."),
    Field::required("title", Shape::Text, "What to do, in one line."),
    Field::required("cost", COST, "What the solution costs."),
];

const CHANGE: &[Field] = &[
    Field::required("date", Shape::Date, "Day of the change."),
    Field::required("what", Shape::Text, "What readers should know of it, in one line."),
];

const COSTS: &[(&str, &str)] = &[
    ("none", "Costs nothing but the typing."),
    ("speed", "Answers come slower."),
    ("quality", "Answers get worse."),
    ("money", "Hardware or a service has to be paid for."),
];

/// What a solution costs.
pub const COST: Shape = Shape::Choice(COSTS);

const KINDS: &[(&str, &str)] = &[
    ("cause", "The message says what went wrong."),
    ("wrapper", "The message only reports that something earlier failed."),
    ("warning", "The message is harmless as a rule."),
    ("symptom", "There is no message at all."),
];

/// What sort of message an error is.
pub const KIND: Shape = Shape::Choice(KINDS);

const SEVERITIES: &[(&str, &str)] = &[
    ("fatal", "The program ends or does not start."),
    ("degraded", "It goes on, but slower or worse."),
    ("none", "Nothing is lost."),
];

/// How bad an error is.
pub const SEVERITY: Shape = Shape::Choice(SEVERITIES);

const STATUSES: &[(&str, &str)] = &[
    ("active", "People meet it today."),
    ("retired", "Current versions no longer print it; the page stays."),
];

/// Whether people meet an error today.
pub const STATUS: Shape = Shape::Choice(STATUSES);

const PLATFORMS: &[(&str, &str)] = &[
    ("linux", "Linux."),
    ("windows", "Windows."),
    ("macos", "macOS."),
    ("wsl", "Windows Subsystem for Linux."),
    ("docker", "Containers."),
];

/// Where an error is met.
pub const PLATFORM: Shape = Shape::Choice(PLATFORMS);

/// Front matter of an error page.
pub const FIELDS: &[Field] = &[
    TITLE,
    Field::optional(
        "signatures",
        Shape::list(&Shape::Record(SIGNATURE)),
        "The messages that lead to this page.",
    ),
    Field::optional("near_misses", Shape::list(&Shape::Text), "Output that looks alike and must not match."),
    Field::optional("kind", KIND, "What sort of message it is; left out: `cause`."),
    Field::required("severity", SEVERITY, "How bad it is."),
    Field::required("tools", Shape::some(&Shape::Slug), "Slugs of the tools that print it."),
    Field::optional("platforms", Shape::list(&PLATFORM), "Where it is met; left out: everywhere."),
    Field::required("causes", Shape::some(&Shape::Record(CAUSE)), "Causes, the most likely first."),
    Field::required(
        "solutions",
        Shape::some(&Shape::Record(SOLUTION)),
        "Solutions, in the order of the causes that name them; each has a heading in the body.",
    ),
    RELATED,
    VERIFIED,
    VERIFIED_WITH,
    Field::optional(
        "changes",
        Shape::list(&Shape::Record(CHANGE)),
        "What changed on the page; shown with the latest first.",
    ),
    WEB_SOURCES,
    ALIASES,
    Field::optional("status", STATUS, "Whether people meet it today; left out: `active`."),
    Field::optional("retired", Shape::Text, "Of a retired error: since when, and what replaced it."),
    DRAFT,
];

/// What an error page holds besides its head.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ErrorData {
    /// Folder under `content/errors/`.
    pub category: String,
    /// Messages that lead here.
    pub signatures: Vec<Signature>,
    /// Output that must not match.
    pub near_misses: Vec<Placed<String>>,
    /// What sort of message it is.
    pub kind: ErrorKind,
    /// How bad it is.
    pub severity: Severity,
    /// Slugs of tools.
    pub tools: Vec<Placed<String>>,
    /// Words of `PLATFORMS`; empty for all.
    pub platforms: Vec<String>,
    /// Causes, the most likely first.
    pub causes: Vec<Cause>,
    /// Solutions in the order declared, which is that of the causes.
    pub solutions: Vec<Solution>,
    /// Slugs of errors.
    pub related: Vec<Placed<String>>,
    /// What changed on the page, the latest first.
    pub changes: Vec<Change>,
    /// What it rests on.
    pub evidence: Evidence,
    /// Whether people meet it today.
    pub status: Status,
    /// Of a retired error: since when, and what replaced it.
    pub retired: Option<String>,
}

/// A message that leads to a page.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Signature {
    /// Where the entry stands.
    pub span: Span,
    /// The text to look for.
    pub text: SignatureText,
    /// Fragments of which none may occur.
    pub not: Vec<Placed<String>>,
    /// Name of a shared extractor.
    pub extract: Option<Placed<String>>,
    /// Condition that chooses between pages.
    pub when: Option<Placed<String>>,
    /// Where the message was seen.
    pub source: String,
    /// Tool and range of versions.
    pub versions: Vec<(String, String)>,
    /// Real output.
    pub samples: Vec<Placed<String>>,
}

/// What a signature looks for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum SignatureText {
    /// One pattern.
    Pattern(Placed<String>),
    /// Fragments that must all occur.
    All(Vec<Placed<String>>),
    /// Neither or both were given; reported by `check`.
    Unclear,
}

impl Signature {
    /// The pattern, or the fragments.
    pub fn texts(&self) -> &[Placed<String>] {
        match &self.text {
            SignatureText::Pattern(pattern) => std::slice::from_ref(pattern),
            SignatureText::All(fragments) => fragments,
            SignatureText::Unclear => &[],
        }
    }
}

/// One cause of an error.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Cause {
    /// Name within the page.
    pub id: Placed<String>,
    /// What went wrong.
    pub title: Placed<String>,
    /// How to tell, one line of Markdown.
    pub tell: Placed<String>,
    /// Condition on figures.
    pub when: Option<Placed<String>>,
    /// What answers call it, with values in braces.
    pub case: Option<Placed<String>>,
    /// Ids of solutions, the best first.
    pub solutions: Vec<Placed<String>>,
}

/// One thing to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Solution {
    /// Name within the page and id of its heading.
    pub id: Placed<String>,
    /// What to do.
    pub title: String,
    /// `none`, `speed`, `quality` or `money`.
    pub cost: String,
}

/// A change of a page that its readers should know of.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Change {
    /// When.
    pub date: Placed<Date>,
    /// What, one line.
    pub what: String,
}

/// Whether a section of an error's body, by its id and title, says how to see that it worked.
pub fn is_check_section(id: &str, title: &str) -> bool {
    id == "check" || title.to_lowercase().starts_with("check that it worked")
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident { $($(#[$item:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum $name { $($(#[$item])* $variant),+ }
        impl $name {
            /// The word in front matter and data files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
            fn of(word: Option<&str>, default: Self) -> Self {
                match word { $(Some($word) => Self::$variant,)+ _ => default }
            }
        }
    };
}

words! {
    /// What sort of message an error is.
    ErrorKind {
        /// It says what went wrong.
        Cause = "cause",
        /// It only reports that something earlier failed.
        Wrapper = "wrapper",
        /// It is harmless as a rule.
        Warning = "warning",
        /// There is no message.
        Symptom = "symptom",
    }
}
words! {
    /// How bad an error is.
    Severity {
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
    Status {
        /// They do.
        Active = "active",
        /// Current versions no longer print it.
        Retired = "retired",
    }
}

impl ErrorData {
    /// What the fields of an error page say.
    pub fn new(category: &str, fields: &Fields) -> Self {
        let word = |name| fields.text(name).map(|placed| placed.value);
        Self {
            category: category.to_string(),
            signatures: fields.records("signatures").iter().map(Signature::new).collect(),
            near_misses: fields.texts("near_misses"),
            kind: ErrorKind::of(word("kind").as_deref(), ErrorKind::Cause),
            severity: Severity::of(word("severity").as_deref(), Severity::Fatal),
            tools: fields.texts("tools"),
            platforms: fields.texts("platforms").into_iter().map(|placed| placed.value).collect(),
            causes: fields.records("causes").iter().map(Cause::new).collect(),
            solutions: fields.records("solutions").iter().map(Solution::new).collect(),
            related: fields.texts("related"),
            changes: changes(fields),
            evidence: Evidence::new(fields),
            status: Status::of(word("status").as_deref(), Status::Active),
            retired: word("retired"),
        }
    }
}

/// Of one day, the one written last is the latest.
fn changes(fields: &Fields) -> Vec<Change> {
    let change =
        |fields: &Fields| Some(Change { date: fields.date("date")?, what: fields.text("what")?.value });
    let mut changes: Vec<Change> = fields.records("changes").iter().filter_map(change).collect();
    changes.reverse();
    changes.sort_by_key(|change| std::cmp::Reverse(change.date.value));
    changes
}

impl Signature {
    fn new(fields: &Fields) -> Self {
        let all = fields.texts("all");
        let text = match (fields.text("pattern"), all.is_empty()) {
            (Some(pattern), true) => SignatureText::Pattern(pattern),
            (None, false) => SignatureText::All(all),
            _ => SignatureText::Unclear,
        };
        Self {
            span: fields.span(),
            text,
            not: fields.texts("not"),
            extract: fields.text("extract"),
            when: fields.text("when"),
            source: fields.text("source").map(|placed| placed.value).unwrap_or_default(),
            versions: plain(fields.map("versions")),
            samples: fields.texts("samples"),
        }
    }
}

impl Cause {
    fn new(fields: &Fields) -> Self {
        Self {
            id: fields.text("id").unwrap_or_else(|| Placed::new(String::new(), fields.span())),
            title: fields.text("title").unwrap_or_else(|| Placed::new(String::new(), fields.span())),
            tell: fields.text("tell").unwrap_or_else(|| Placed::new(String::new(), fields.span())),
            when: fields.text("when"),
            case: fields.text("case"),
            solutions: fields.texts("solutions"),
        }
    }
}

impl Solution {
    fn new(fields: &Fields) -> Self {
        let word = |name| fields.text(name).map(|placed| placed.value).unwrap_or_default();
        Self {
            id: fields.text("id").unwrap_or_else(|| Placed::new(String::new(), fields.span())),
            title: word("title"),
            cost: word("cost"),
        }
    }
}
