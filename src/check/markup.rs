//! The Markdown of a body holds something that it may not.

use crate::check::Subject;
use crate::diag::{Diagnostic, Rule};
use crate::markdown::{FaultKind, turns_direction};
use crate::site::Head;

const fn rule(code: &'static str, demands: &'static str, why: &'static str) -> Rule {
    Rule { code, demands, why }
}

const SAFETY: &str = "pages come from many hands; only Markdown reaches the reader";
const LINKS: &str = "links, contents and scripts find parts of a page by their ids";
const SHOWN: &str = "what was meant would not be shown";

/// One rule for every kind of fault, by its name.
pub const RULES: &[Rule] = &[
    rule("raw-html", "a body holds no HTML", SAFETY),
    rule("link-scheme", "links are https, http, mailto or relative", SAFETY),
    rule("heading-attribute", "nothing but an id stands in braces after a heading", SAFETY),
    rule("heading-id", "a heading's id is spelt with letters, digits and hyphens", LINKS),
    rule("heading-level", "headings begin at level 2 and skip no level", "screen readers lead through them"),
    rule(
        "heading-nested",
        "headings stand at the top level of the body",
        "the table of contents is made from them",
    ),
    rule("duplicate-id", "an id is given once on its page, to one cause, one solution or one heading", LINKS),
    rule("reserved-id", "no heading takes an id that the page's own parts have", LINKS),
    rule("code-language", "the language of a code block is known", "it is coloured by it"),
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
    for head in subject.site.heads() {
        for fault in &head.body.outline.faults {
            let rule = RULES.iter().find(|rule| rule.code == fault.kind.name()).unwrap_or(&OTHER);
            let span = head.body.span.part(fault.range.start, fault.range.end);
            // A bare address is shown as it is, so the page is still whole.
            let make =
                if fault.kind == FaultKind::BareAddress { Diagnostic::warning } else { Diagnostic::error };
            found.push(make(rule, span, fault.kind.message()).help(fault.kind.help()));
        }
        found.extend(direction_overrides(subject, head));
    }
    found
}

/// Titles and samples of the front matter are shown too.
fn direction_overrides(subject: &Subject<'_>, head: &Head) -> Vec<Diagnostic> {
    let front = subject.sources.text(head.front);
    let rule = RULES.iter().find(|rule| rule.code == "direction-override").expect("the rule is listed");
    front
        .char_indices()
        .filter(|(_, character)| turns_direction(*character))
        .map(|(at, character)| {
            let kind = FaultKind::DirectionOverride(character);
            Diagnostic::error(rule, head.front.part(at, at + character.len_utf8()), kind.message())
                .help(kind.help())
        })
        .collect()
}
