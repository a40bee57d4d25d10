//! Data of guides: instructions that several errors refer to.

use crate::files::Spanned;
use crate::schema::{Integer, List, Slug, record, words};
use crate::site::kinds::common::{
    ALIASES, DRAFT, Evidence, PUBLISH_ON, QUESTIONS, RELATED, RUNS, TITLE, VERIFIED, VERIFIED_WITH,
    WEB_SOURCES,
};

words! {
    /// A drawing below the introduction of a guide.
    pub enum Illustration {
        /// Memory use of a GPU: weights, KV cache, compute buffer, driver.
        Memory = "memory",
        /// Memory use of a GPU by context length.
        Context = "context",
        /// GPU memory and RAM with experts or layers in RAM.
        Offload = "offload",
    }
}

record! {
    /// Front matter of a guide.
    #[derive(Debug, Clone)]
    pub struct GuideData {
        shared TITLE,
        shared questions: Vec<String> = QUESTIONS,
        /// Position in lists; smaller numbers come first.
        optional order: i64 as Integer<0, 9999> = 9999,
        /// Slugs of the tools that it covers.
        optional tools: Vec<Spanned<String>> as List<Slug>,
        /// Drawing below the introduction, from the figures of `illustration_model`.
        optional illustration: Option<Illustration>,
        /// Slug of the model in the drawing.
        optional illustration_model: Option<Spanned<String>> as Slug,
        shared related: Vec<Spanned<String>> = RELATED,
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
