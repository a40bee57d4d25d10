//! Fields that several kinds share.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::files::Spanned;
use crate::schema::{Day, Fields, Flag, List, Shared, Slug, Text, TextMap, Url, record};

/// Title of a page.
pub const TITLE: Shared<Spanned<String>> =
    Shared::required::<Text>("title", "Title of the page; in quotes if it holds a colon and a space.");
/// Whether a page is published only on request.
pub const DRAFT: Shared<bool> =
    Shared::optional::<Flag>("draft", "`true` keeps the page out of the site unless `--drafts` is given.");
/// Day on which a page is published.
pub const PUBLISH_ON: Shared<Spanned<Date>> = Shared::optional::<Day>(
    "publish_on",
    "The day on which the page is published; before that day, it is a draft.",
);
/// Old addresses of a page.
pub const ALIASES: Shared<Vec<Spanned<String>>> =
    Shared::optional::<List<Text>>("aliases", "Old addresses that lead here, such as `/errors/old-name/`.");
pub(super) const ALSO_KNOWN_AS: Shared<Vec<String>> = Shared::optional::<List<Text>>(
    "also_known_as",
    "Other names that people and programs use and that follow from neither title nor slug, such as `DGX Spark`.",
);
pub(super) const QUESTIONS: Shared<Vec<String>> = Shared::optional::<List<Text>>(
    "questions",
    "Questions that lead to this page, as people type them: `ollama does not use the GPU`.",
);
pub(super) const RELATED: Shared<Vec<Spanned<String>>> = Shared::optional::<List<Slug>>(
    "related",
    "Slugs of error pages that belong to this one; they list it in return.",
);
/// Date of the last verification.
pub const VERIFIED: Shared<Spanned<Date>> = Shared::required::<Day>(
    "verified",
    "The day on which its messages and commands were last found again in a source; editing prose does not change it.",
);
pub(super) const LAST_READ: Shared<Spanned<Date>> =
    Shared::optional::<Day>("verified", "The day on which the page was last reviewed.");
pub(super) const LAST_VERIFIED: Shared<Spanned<Date>> =
    Shared::optional::<Day>("verified", "The day on which its facts were last found again in a source.");
pub(super) const VERIFIED_WITH: Shared<Vec<(String, String)>> = Shared::optional::<TextMap>(
    "verified_with",
    "Versions of the sources that were compared: `{ollama: \"0.5.4\"}`.",
);
pub(super) const RUNS: Shared<Vec<CommandRun>> = Shared::optional::<List<CommandRun>>(
    "runs",
    "Programs that accepted their command lines of the page; written by `kbgen verify --run`.",
);
pub(super) const WEB_SOURCES: Shared<Vec<Spanned<String>>> =
    Shared::required::<List<Url, 1>>("sources", "Addresses of the sources of the page.");
/// Sources of an error page beside those of its signatures.
pub const MORE_SOURCES: Shared<Vec<Spanned<String>>> = Shared::optional::<List<Url>>(
    "sources",
    "Further sources of the page; those of its signatures need not be listed again.",
);
pub(super) const SOURCES: Shared<Vec<Spanned<String>>> =
    Shared::optional::<List<Text>>("sources", "Sources of the page: addresses, or names of publications.");

record! {
    /// A program that accepted its command lines of a page.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct CommandRun {
        /// Slug of the tool.
        required tool: String as Slug,
        /// Version of the program.
        required version: String,
        /// The day on which it was run.
        required date: Date,
    }
}

/// Evidence for the content of a page.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Evidence {
    /// Versions it was verified with: name and version.
    pub verified_with: Vec<(String, String)>,
    /// Programs that accepted their command lines.
    pub runs: Vec<CommandRun>,
    /// Addresses or names of publications.
    pub sources: Vec<Spanned<String>>,
}

impl Evidence {
    pub(super) fn of(fields: &Fields) -> Self {
        Self {
            verified_with: VERIFIED_WITH.of(fields).unwrap_or_default(),
            runs: RUNS.of(fields).unwrap_or_default(),
            sources: SOURCES.of(fields).unwrap_or_default(),
        }
    }
}
