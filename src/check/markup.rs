//! The Markdown of a page holds something that it may not.

use crate::check::Subject;
use crate::diag::{Diagnostic, Rule};
use crate::files::Span;
use crate::markdown::{FaultKind, outline_inline, turns_direction};
use crate::site::Head;
use crate::site::kinds::ErrorData;

const fn rule(code: &'static str, demands: &'static str, why: &'static str) -> Rule {
    Rule { code, demands, why }
}

const SAFETY: &str = "pages come from many hands; only Markdown reaches the reader";
const LINKS: &str = "links, contents and scripts find parts of a page by their ids";
const SHOWN: &str = "what was meant would not be shown";

/// One rule for every kind of fault, by its name.
pub const RULES: &[Rule] = &[
    rule("raw-html", "neither a body nor a cause's `tell` holds HTML", SAFETY),
    rule("link-scheme", "links are https, http, mailto or relative", SAFETY),
    rule("heading-attribute", "nothing but an id stands in braces after a heading", SAFETY),
    rule("heading-id", "a heading's id is spelled with letters, digits and hyphens", LINKS),
    rule("heading-level", "headings begin at level 2 and skip no level", "screen readers lead through them"),
    rule(
        "heading-nested",
        "headings stand at the top level of the body",
        "the table of contents is made from them",
    ),
    rule("duplicate-id", "an id is given once on its page, to one cause, one solution or one heading", LINKS),
    rule("reserved-id", "no heading takes an id that the page's own parts have", LINKS),
    rule("code-language", "the language of a code block is known", "it is colored by it"),
    rule("code-label", "a code block's labels are `tool`, `os` and `title`", SHOWN),
    rule("unclosed-fence", "a code block is closed", SHOWN),
    rule("unclosed-call", "an estimator call is closed", SHOWN),
    rule(
        "markdown-depth",
        "quotations and lists are nested 16 deep at most",
        "bounded input keeps builds fast",
    ),
    rule(
        "direction-override",
        "no character turns the direction of the text",
        "a command could look like another one",
    ),
    rule("undefined-reference", "a reference link has its definition", SHOWN),
    rule("bare-address", "a web address is written as a link", "it could not be followed"),
    rule("footnote", "footnotes are defined once and used", SHOWN),
];

/// For a kind of fault that has no rule of its own yet.
const OTHER: Rule = rule("markup", "a body is Markdown as this site takes it", SHOWN);

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for head in subject.pages.heads() {
        for fault in &head.body.outline.faults {
            found.push(finding(&fault.kind, head.body.span.part(fault.range.start, fault.range.end)));
        }
        found.extend(direction_overrides(subject, head));
    }
    for error in &subject.pages.errors {
        found.extend(html_in_tells(&error.data));
    }
    found
}

fn finding(kind: &FaultKind, span: Span) -> Diagnostic {
    let rule = RULES.iter().find(|rule| rule.code == kind.name()).unwrap_or(&OTHER);
    // A bare address is shown as it is, so the page is still whole.
    let make = if *kind == FaultKind::BareAddress { Diagnostic::warning } else { Diagnostic::error };
    make(rule, span, kind.message()).help(kind.help())
}

/// Titles and samples of the front matter are shown too.
fn direction_overrides(subject: &Subject<'_>, head: &Head) -> Vec<Diagnostic> {
    let front = subject.sources.text(head.front);
    front
        .char_indices()
        .filter(|(_, character)| turns_direction(*character))
        .map(|(at, character)| {
            let span = head.front.part(at, at + character.len_utf8());
            finding(&FaultKind::DirectionOverride(character), span)
        })
        .collect()
}

/// How to tell a cause is Markdown too. Its findings stand at the whole value, since quotes and folded lines move
/// what is in it; the first tag of each value is enough.
fn html_in_tells(error: &ErrorData) -> Vec<Diagnostic> {
    let is_html = |kind: &FaultKind| matches!(kind, FaultKind::RawHtml(_) | FaultKind::HtmlComment);
    let html_in = |tell: &str| outline_inline(tell).faults.into_iter().find(|fault| is_html(&fault.kind));
    error
        .causes
        .iter()
        .filter_map(|cause| Some(finding(&html_in(&cause.tell.value)?.kind, cause.tell.span)))
        .collect()
}
