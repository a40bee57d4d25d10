//! Diagnostics and rules.

use std::collections::BTreeMap;

use crate::files::{Edit, SourceId, Sources, Span};

/// Maximum number of findings of one rule in one file before they are summarized.
const MAX_PER_RULE: usize = 100;

/// Maximum length of a message in characters, since quotes may be as long as a page.
const MAX_MESSAGE_CHARS: usize = 300;
/// Maximum length of a help text in characters.
const MAX_HELP_CHARS: usize = 800;

fn truncate(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Rule for content. `docs/checks.md` is generated from these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Stable name, such as `broken-link`.
    pub code: &'static str,
    /// Requirement, in one sentence without a full stop.
    pub requirement: &'static str,
    /// Reason, in one sentence without a full stop.
    pub why: &'static str,
}

/// Severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Prevents publication.
    Error,
    /// Does not prevent publication.
    Warning,
}

impl Severity {
    /// Returns `error` or `warning`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// Finding with its location and one suggested action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Code of the violated rule.
    pub code: &'static str,
    /// Whether it prevents publication.
    pub severity: Severity,
    /// Location.
    pub span: Span,
    /// Phrase in lower case without a full stop, with names in backticks.
    pub message: String,
    /// Suggested action.
    pub help: Option<Box<str>>,
    /// Related locations, each with a label.
    pub related: Vec<(Span, String)>,
    /// Edit that resolves it, if there is exactly one.
    pub fix: Option<Box<Edit>>,
}

impl Diagnostic {
    /// Creates an error of `rule` at `span`.
    pub fn error(rule: &Rule, span: Span, message: impl Into<String>) -> Self {
        Self {
            code: rule.code,
            severity: Severity::Error,
            span,
            message: truncate(message.into(), MAX_MESSAGE_CHARS),
            help: None,
            related: Vec::new(),
            fix: None,
        }
    }

    /// Creates a warning of `rule` at `span`.
    pub fn warning(rule: &Rule, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(rule, span, message) }
    }

    /// Adds a suggested action.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(truncate(help.into(), MAX_HELP_CHARS).into());
        self
    }

    /// Sets the only text that resolves the finding in place of its span.
    pub fn fix(self, text: impl Into<String>) -> Self {
        let edit = Edit::new(self.span, text);
        self.edit(edit)
    }

    /// Sets the only edit that resolves the finding.
    pub fn edit(mut self, edit: Edit) -> Self {
        self.fix = Some(Box::new(edit));
        self
    }

    /// Adds a related location.
    pub fn related(mut self, span: Span, note: impl Into<String>) -> Self {
        self.related.push((span, note.into()));
        self
    }

    /// Sorts findings by file, location and code, removes duplicates, and summarizes many findings of one rule in one
    /// file.
    pub fn sort(found: &mut Vec<Self>, sources: &Sources) {
        found.sort_by_cached_key(|finding| {
            let span = finding.span;
            (
                sources.get(span.source).path.clone(),
                span.start,
                span.end,
                finding.code,
                finding.message.clone(),
            )
        });
        found.dedup();
        let mut counts: BTreeMap<(SourceId, &str), usize> = BTreeMap::new();
        for finding in found.iter() {
            *counts.entry((finding.span.source, finding.code)).or_default() += 1;
        }
        // A summary replaces at least two findings, so that sorting again changes nothing.
        counts.retain(|_, count| *count > MAX_PER_RULE + 1);
        if counts.is_empty() {
            return;
        }
        let mut seen: BTreeMap<(SourceId, &str), usize> = BTreeMap::new();
        found.retain_mut(|finding| {
            let Some(count) = counts.get(&(finding.span.source, finding.code)) else { return true };
            let at = seen.entry((finding.span.source, finding.code)).or_default();
            *at += 1;
            if *at == MAX_PER_RULE + 1 {
                finding.message = format!("{} more findings of this rule in this file", count - MAX_PER_RULE);
                finding.help = Some("fix the findings above first".into());
                finding.related.clear();
            }
            *at <= MAX_PER_RULE + 1
        });
    }
}
