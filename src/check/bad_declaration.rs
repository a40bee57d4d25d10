//! Declarations in `site.toml` that contradict the pages of the site.

use crate::check::CheckContext;
use crate::custom::{BAD_DECLARATION, OptionalPage};
use crate::diag::{Diagnostic, Rule};

pub(super) const RULE: Rule = BAD_DECLARATION;

/// Reports an omitted glossary that has terms, since they have no other page.
pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    let Some(declared) = &context.site.declared else { return Vec::new() };
    let glossary = declared.omitted.iter().find(|page| page.value == OptionalPage::Glossary);
    let Some((page, term)) = glossary.zip(context.site.terms.first()) else { return Vec::new() };
    vec![
        Diagnostic::error(&RULE, page.span, "`glossary` is omitted, but the site has terms")
            .related(term.head.front, "first term")
            .help("remove `glossary` from `omit`, or remove the files in `content/glossary/`"),
    ]
}
