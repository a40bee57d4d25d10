//! Pages of a kind whose pack the site does not enable.

use std::collections::BTreeMap;

use crate::check::CheckContext;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::{Head, Kind};

pub(super) const RULE: Rule = Rule {
    code: "missing-pack",
    requirement: "pages of models, devices and quantizations need the pack `llm`",
    why: "without the pack, a site has no lists and calculators for them",
};

/// Reports the first page of each kind.
pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let mut first: BTreeMap<Kind, &Head> = BTreeMap::new();
    for head in context.site.heads().filter(|head| !context.site.has(head.id.kind.pack())) {
        first.entry(head.id.kind).or_insert(head);
    }
    let finding = |(kind, head): (Kind, &Head)| {
        let pack = kind.pack()?.name();
        let message = format!("{} without the pack `{pack}`", kind.with_article());
        let help = format!("add `packs = [\"{pack}\"]` to site.toml, or remove `content/{}/`", kind.folder());
        Some(Diagnostic::error(&RULE, Span::top(head.source), message).help(help))
    };
    first.into_iter().filter_map(finding).collect()
}
