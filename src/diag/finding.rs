//! One thing that is wrong with the content.

use std::collections::BTreeMap;

use crate::files::{SourceId, Sources, Span};

/// Most findings of one rule in one file that are told one by one.
const MAX_PER_RULE: usize = 100;

/// Most characters of a message: what it quotes may be as long as a page.
const MAX_MESSAGE_CHARS: usize = 300;
/// Most characters of a help, which may quote what is to be written.
const MAX_HELP_CHARS: usize = 800;

fn truncate(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// A rule that content has to keep; `docs/checks.md` is written from these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Stable name, in words joined by hyphens.
    pub code: &'static str,
    /// What is demanded, in one sentence.
    pub demands: &'static str,
    /// Why it is demanded, in one sentence.
    pub why: &'static str,
}

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
            message: truncate(message.into(), MAX_MESSAGE_CHARS),
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
        self.help = Some(truncate(help.into(), MAX_HELP_CHARS));
        self
    }

    /// The same with another place that belongs to it.
    pub fn related(mut self, span: Span, note: impl Into<String>) -> Self {
        self.related.push((span, note.into()));
        self
    }

    /// Sorts findings by file, place and code, drops exact repeats, and sums up what one file repeats without end.
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
        // A sum stands for two findings at least, so that sorting a second time changes nothing.
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
                finding.message =
                    format!("this file has {} more findings of this rule", count - MAX_PER_RULE);
                finding.help = Some("mend those above first".into());
                finding.related.clear();
            }
            *at <= MAX_PER_RULE + 1
        });
    }
}
