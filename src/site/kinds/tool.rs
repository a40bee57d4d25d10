//! Data of tool pages.

use crate::schema::{Url, record};
use crate::site::kinds::common::{
    ALIASES, DRAFT, Evidence, PUBLISH_ON, RUNS, TITLE, VERIFIED, VERIFIED_WITH, WEB_SOURCES,
};

record! {
    /// Front matter of a tool page.
    #[derive(Debug, Clone)]
    pub struct ToolData {
        shared TITLE,
        /// Homepage of the tool.
        required homepage: String as Url,
        /// Repository of its source code.
        optional repository: Option<String> as Url,
        /// Programs of the tool: options in commands that start with one of them are checked by `kbgen verify`.
        optional commands: Vec<String>,
        /// Beginnings of the names of its environment variables: `OLLAMA_`.
        optional variables: Vec<String>,
        shared VERIFIED,
        shared VERIFIED_WITH,
        shared RUNS,
        shared WEB_SOURCES,
        shared ALIASES,
        shared DRAFT,
        shared PUBLISH_ON,
        /// Evidence for the page.
        apart evidence: Evidence = Evidence::of,
    }
}
