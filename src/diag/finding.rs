//! One thing that is wrong with the content.

use crate::diag::rule::Rule;
use crate::files::{Sources, Span};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is published while it stands.
    Error,
    /// The site is published all the same.
    Warning,
}

impl Severity {
    /// `error` or `warning`, as every format names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// A finding: what, where, and one thing to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The rule that was broken, by its code.
    pub code: &'static str,
    /// Whether it stops publication.
    pub severity: Severity,
    /// Where it stands.
    pub span: Span,
    /// A phrase in lower case, without a full stop, names in backticks.
    pub message: String,
    /// One thing to do.
    pub help: Option<String>,
    /// Other places that belong to it, each with a phrase.
    pub related: Vec<(Span, String)>,
}

impl Diagnostic {
    /// An error against `rule` at `span`.
    pub fn error(rule: &Rule, span: Span, message: impl Into<String>) -> Self {
        Self {
            code: rule.code,
            severity: Severity::Error,
            span,
            message: message.into(),
            help: None,
            related: Vec::new(),
        }
    }

    /// A warning against `rule` at `span`.
    pub fn warning(rule: &Rule, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(rule, span, message) }
    }

    /// The same with one thing to do.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with another place that belongs to it.
    pub fn related(mut self, span: Span, note: impl Into<String>) -> Self {
        self.related.push((span, note.into()));
        self
    }

    /// Sorts findings by file, place and code, and drops exact repeats.
    pub fn sort(found: &mut Vec<Self>, sources: &Sources) {
        found.sort_by(|a, b| {
            let key = |d: &Self| (sources.get(d.span.source).path.clone(), d.span.start, d.span.end, d.code);
            key(a).cmp(&key(b)).then_with(|| a.message.cmp(&b.message))
        });
        found.dedup();
    }
}
