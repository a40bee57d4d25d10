//! The Markdown of a page holds something that it may not.

use crate::check::Subject;
use crate::diag::{Diagnostic, Rule};
use crate::files::{Sources, Span, Spanned};
use crate::markdown::{MarkdownErrorKind, is_reserved_id, outline_inline};
use crate::site::kinds::ErrorData;
use crate::site::{Head, Kind, parts_of};
use crate::unicode_safety::invisible_chars;

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
    rule(
        "hidden-character",
        "a page holds no character that nobody sees, such as a zero-width space, and no control character",
        "a command could do what it does not show, and a search would miss it; feeds are XML, which allows no controls",
    ),
    rule(
        "link-host",
        "the host of a link is written in ASCII, without a name before it",
        "it could be taken for another one",
    ),
    rule(
        "markdown-size",
        "a table has at most 64 columns, an address 2,048 bytes, a text at most 256 estimator calls, 1,000 headings, 1,000 references to footnotes, and 2,000 links and images",
        "bounded input keeps builds fast",
    ),
    TERM_PARTS,
    rule(
        "foreign-syntax",
        "a text is Markdown as this site takes it: no containers, admonitions, math, wiki links or imports of other dialects, and a table has its delimiter row",
        SHOWN,
    ),
    rule("undefined-reference", "a reference link has its definition", SHOWN),
    rule("bare-address", "a web address is written as a link", "it could not be followed"),
    rule("footnote", "footnotes are defined once and used", SHOWN),
];

/// What stands in a term's text.
const TERM_PARTS: Rule = rule(
    "term-parts",
    "the text of a glossary term has neither headings nor footnotes",
    "all terms stand on one page, and an id can be there once",
);

/// For a kind of fault that has no rule of its own yet.
const OTHER: Rule = rule("markup", "a body is Markdown as this site takes it", SHOWN);

pub(super) fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    // Extractors have no page, but their wordings and samples are read by people, too.
    let extractors = subject.pages.extractors.iter().map(|extractor| &extractor.head);
    let extractors = extractors.filter(|head| !head.is_unread());
    for head in subject.pages.heads().chain(extractors) {
        for fault in &head.body.outline.errors {
            found.push(finding(&fault.kind, head.body.span.part(fault.range.start, fault.range.end)));
        }
        found.extend(invisible_in_front(head, subject.sources));
        found.extend(ids_of_templates(head));
        found.extend(parts_of_terms(head));
    }
    for error in &subject.pages.errors {
        found.extend(faults_in_causes(&error.data));
    }
    found
}

fn finding(kind: &MarkdownErrorKind, span: Span) -> Diagnostic {
    let rule = RULES.iter().find(|rule| rule.code == kind.name()).unwrap_or(&OTHER);
    // A bare address is shown as it is, so the page is still whole.
    let make = if *kind == MarkdownErrorKind::BareAddress { Diagnostic::warning } else { Diagnostic::error };
    make(rule, span, kind.message()).help(kind.help())
}

/// Titles, samples and comments of the front matter are read too.
fn invisible_in_front(head: &Head, sources: &Sources) -> Vec<Diagnostic> {
    let front = sources.text(head.front);
    let written = invisible_chars(front)
        .map(|(at, character, kind)| (character, kind, head.front.part(at, at + character.len_utf8())));
    let escaped = head.escaped.iter().flat_map(|value| {
        let written = sources.text(value.span);
        let decoded = invisible_chars(&value.value).filter(|(_, character, _)| !written.contains(*character));
        decoded.map(|(_, character, kind)| (character, kind, value.span))
    });
    let all = written.chain(escaped);
    all.map(|(character, kind, span)| finding(&MarkdownErrorKind::of_invisible(character, kind), span))
        .collect()
}

/// Headings with an id that the templates of this very kind give, too.
fn ids_of_templates(head: &Head) -> impl Iterator<Item = Diagnostic> {
    let parts = parts_of(head.id.kind);
    let taken = head.body.outline.headings.iter().filter(|heading| parts.contains(&heading.id.as_str()));
    taken.filter(|heading| !is_reserved_id(&heading.id)).map(|heading| {
        let span = head.body.span.part(heading.range.start, heading.range.end);
        finding(&MarkdownErrorKind::ReservedId(heading.id.clone()), span)
    })
}

/// All terms stand on one page, where their headings and notes would have the ids of other terms'.
fn parts_of_terms(head: &Head) -> impl Iterator<Item = Diagnostic> {
    let outline = &head.body.outline;
    let headings = outline.headings.iter().map(|heading| (&heading.range, "a heading"));
    let footnotes = outline.footnotes.iter().map(|range| (range, "a footnote"));
    headings.chain(footnotes).filter(|_| head.id.kind == Kind::Term).map(|(range, what)| {
        let span = head.body.span.part(range.start, range.end);
        Diagnostic::error(&TERM_PARTS, span, format!("{what} in the text of a term"))
            .help("say it in the sentences of the term, or make a guide of it")
    })
}

/// The title of a cause, and how to tell it, are Markdown too, and HTML in a title is shown as text. Findings are
/// placed at the whole value, since quotes and folded lines move what is in it; the first of each value is enough. Where
/// links lead is for `broken-link` to say.
fn faults_in_causes(error: &ErrorData) -> Vec<Diagnostic> {
    use MarkdownErrorKind::{HtmlComment, LinkHost, LinkScheme, RawHtml};
    let is_link = |kind: &MarkdownErrorKind| matches!(kind, LinkScheme(_) | LinkHost(_));
    let is_html = |kind: &MarkdownErrorKind| matches!(kind, RawHtml(_) | HtmlComment);
    let first = |line: &Spanned<String>, counts: &dyn Fn(&MarkdownErrorKind) -> bool| {
        let fault = outline_inline(&line.value).errors.into_iter().find(|fault| counts(&fault.kind))?;
        Some(finding(&fault.kind, line.span))
    };
    let causes = error.causes.iter();
    causes
        .flat_map(|cause| {
            [first(&cause.title, &is_link), first(&cause.tell, &|kind| is_link(kind) || is_html(kind))]
        })
        .flatten()
        .collect()
}
