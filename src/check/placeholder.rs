//! Placeholder text of templates in published pages.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::check::{CheckContext, texts};
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::site::scaffold;

pub(super) const RULE: Rule = Rule {
    code: "placeholder",
    requirement: "published pages contain no placeholder text of `kbgen new`",
    why: "placeholders would be published as facts",
};

/// Maximum number of reported places per phrase.
const SHOWN: usize = 10;

static PHRASES: LazyLock<Vec<&str>> = LazyLock::new(scaffold::placeholders);
static SEARCH: LazyLock<AhoCorasick> =
    LazyLock::new(|| AhoCorasick::new(&*PHRASES).expect("the phrases are few and short"));

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    texts::files(context)
        .filter(|head| !head.draft)
        .filter(|head| SEARCH.is_match(context.sources.get(head.source).text.as_str()))
        .flat_map(|head| {
            let text = &context.sources.get(head.source).text;
            let mut ranges: Vec<Range<usize>> = Vec::new();
            for phrase in &*PHRASES {
                for (at, _) in text.match_indices(phrase).take(SHOWN) {
                    if !ranges.iter().any(|range| range.contains(&at)) {
                        ranges.push(at..at + phrase.len());
                    }
                }
            }
            ranges.into_iter().map(|range| {
                let message = format!("placeholder text `{}`", &text[range.clone()]);
                Diagnostic::error(&RULE, Span::new(head.source, range.start, range.end), message)
                    .help("replace it, or set `draft: true`")
            })
        })
        .collect()
}
