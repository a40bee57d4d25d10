//! Markdown that is not allowed in pages.

use crate::check::CheckContext;
use crate::check::texts::LINK_MARKS;
use crate::diag::{Diagnostic, Rule};
use crate::files::{Sources, Span, Spanned};
use crate::markdown::{MarkdownError, MarkdownErrorKind, is_reserved_id, outline_inline};
use crate::site::kinds::ErrorData;
use crate::site::{Head, Kind, parts_of};
use crate::unicode_safety::invisible_chars;

const fn rule(code: &'static str, requirement: &'static str, why: &'static str) -> Rule {
    Rule { code, requirement, why }
}

const SAFETY: &str = "contributed pages may contain only Markdown";
const LINKS: &str = "links, the table of contents and scripts depend on ids";
const SHOWN: &str = "the text would not be rendered as intended";

/// Rules of Markdown, by the name of the error kind.
pub const RULES: &[Rule] = &[
    rule("raw-html", "bodies and `tell` of causes contain no HTML", SAFETY),
    rule("link-scheme", "links are https, http, mailto or relative", SAFETY),
    rule("heading-attribute", "headings have no attributes other than an id", SAFETY),
    rule("heading-id", "heading ids consist of letters, digits and hyphens", LINKS),
    rule(
        "heading-level",
        "headings start at level 2 and skip no level",
        "screen readers navigate by headings",
    ),
    rule(
        "heading-nested",
        "headings are at the top level of the body",
        "the table of contents is generated from them",
    ),
    rule(
        "duplicate-id",
        "ids of causes, solutions and headings, and titles of causes, are unique on their page",
        LINKS,
    ),
    rule("reserved-id", "headings use no ids reserved for templates", LINKS),
    rule("code-language", "code blocks have a known language", "it selects the syntax highlighting"),
    rule("code-label", "the attributes of a code block are `tool`, `os` and `title`", SHOWN),
    rule("unclosed-fence", "code blocks are closed", SHOWN),
    rule("unclosed-call", "estimator calls are closed", SHOWN),
    rule(
        "markdown-depth",
        "quotations and lists are nested at most 16 levels deep",
        "limits keep builds fast",
    ),
    rule(
        "direction-override",
        "text contains no bidirectional control characters",
        "a command could look like a different one",
    ),
    rule(
        "hidden-character",
        "pages contain no invisible characters, such as a zero-width space, and no control characters",
        "commands could differ from their display, searches would fail, and XML feeds do not allow control characters",
    ),
    rule(
        "link-host",
        "the host of a link is written in ASCII, without a user name",
        "it could be mistaken for another host",
    ),
    rule(
        "markdown-size",
        "tables have at most 64 columns, URLs 2,048 bytes, and texts 256 estimator calls, 1,000 headings, 1,000 footnote references, and 2,000 links and images",
        "limits keep builds fast",
    ),
    TERM_PARTS,
    rule(
        "foreign-syntax",
        "text uses supported Markdown: no containers, admonitions, math, wiki links or imports, and tables have a delimiter row",
        SHOWN,
    ),
    rule("undefined-reference", "reference links have a definition", SHOWN),
    rule("bare-address", "URLs are written as links", "readers could not click it"),
    rule("footnote", "footnotes are defined once and used", SHOWN),
];

const TERM_PARTS: Rule = rule(
    "term-parts",
    "glossary terms have no headings or footnotes",
    "all terms are on one page, where ids must be unique",
);

/// Rule for error kinds without their own rule.
const OTHER: Rule = rule("markup", "text uses supported Markdown", SHOWN);

pub(super) fn run(context: &CheckContext<'_>) -> Vec<Diagnostic> {
    use MarkdownErrorKind::{HeadingLevelOne, HeadingSkipsLevel};
    let mut found = Vec::new();
    // Extractors and readings have no page, but people read their patterns and samples.
    let readings = context.pages.readings.iter().map(|page| &page.head);
    let extractors = context.pages.extractors.iter().map(|page| &page.head).chain(readings);
    let extractors = extractors.filter(|head| !head.is_unread());
    let is_solution = |head: &Head, fault: &MarkdownError| {
        let heading = head.body.outline.headings.iter().find(|heading| heading.range == fault.range);
        let error = context.pages.errors.iter().find(|error| error.head.source == head.source);
        heading.zip(error).is_some_and(|(heading, error)| {
            error.data.solutions.iter().any(|solution| solution.id.value == heading.id)
        })
    };
    for head in context.pages.heads().chain(extractors) {
        for fault in &head.body.outline.errors {
            let span = head.body.span.part(fault.range.start, fault.range.end);
            let mut finding = with_fix(finding(&fault.kind, span), &fault.kind, context.sources.text(span));
            if matches!(fault.kind, HeadingSkipsLevel { .. } | HeadingLevelOne) && is_solution(head, fault) {
                finding = finding.help("use `##`, the level of solutions");
            }
            found.push(finding);
        }
        found.extend(invisible_in_front(head, context.sources));
        found.extend(ids_of_templates(head));
        found.extend(parts_of_terms(head));
    }
    for error in &context.pages.errors {
        found.extend(faults_in_causes(&error.data));
    }
    found
}

fn finding(kind: &MarkdownErrorKind, span: Span) -> Diagnostic {
    let rule = RULES.iter().find(|rule| rule.code == kind.name()).unwrap_or(&OTHER);
    // A bare address is still shown as text, and code in an unknown language without colors.
    let is_shown = matches!(kind, MarkdownErrorKind::BareAddress | MarkdownErrorKind::UnknownLanguage(_));
    let make = if is_shown { Diagnostic::warning } else { Diagnostic::error };
    make(rule, span, kind.message()).help(kind.help())
}

/// Adds the edit to findings that have only one: a bare URL becomes a link, an invisible character is removed.
fn with_fix(finding: Diagnostic, kind: &MarkdownErrorKind, written: &str) -> Diagnostic {
    match kind {
        MarkdownErrorKind::BareAddress if !written.ends_with(['_', '*', '~']) => {
            finding.fix(format!("<{written}>"))
        }
        MarkdownErrorKind::HiddenCharacter(character)
            if written == character.to_string() && !character.is_control() =>
        {
            finding.fix("")
        }
        _ => finding,
    }
}

/// Finds invisible characters in the front matter.
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

/// Finds headings whose id is used by the templates of this page kind.
fn ids_of_templates(head: &Head) -> impl Iterator<Item = Diagnostic> {
    let parts = parts_of(head.id.kind);
    let taken = head.body.outline.headings.iter().filter(|heading| parts.contains(&heading.id.as_str()));
    taken.filter(|heading| !is_reserved_id(&heading.id)).map(|heading| {
        let span = head.body.span.part(heading.range.start, heading.range.end);
        finding(&MarkdownErrorKind::ReservedId(heading.id.clone()), span)
    })
}

/// Finds headings and footnotes in terms, whose ids would clash on the common glossary page.
fn parts_of_terms(head: &Head) -> impl Iterator<Item = Diagnostic> {
    let outline = &head.body.outline;
    let headings = outline.headings.iter().map(|heading| (&heading.range, "a heading"));
    let footnotes = outline.footnotes.iter().map(|range| (range, "a footnote"));
    headings.chain(footnotes).filter(|_| head.id.kind == Kind::Term).map(|(range, what)| {
        let span = head.body.span.part(range.start, range.end);
        Diagnostic::error(&TERM_PARTS, span, format!("{what} in a glossary term"))
            .help("rewrite it as text, or move it to a guide")
    })
}

/// Checks the Markdown of causes, where HTML in a title is shown as text. Quotes and folded lines shift offsets, so
/// findings cover the whole value, and only the first of each value is reported. `broken-link` checks the targets of
/// links.
fn faults_in_causes(error: &ErrorData) -> Vec<Diagnostic> {
    use MarkdownErrorKind::{HtmlComment, LinkHost, LinkScheme, RawHtml};
    let is_link = |kind: &MarkdownErrorKind| matches!(kind, LinkScheme(_) | LinkHost(_));
    let is_html = |kind: &MarkdownErrorKind| matches!(kind, RawHtml(_) | HtmlComment);
    let first = |line: &Spanned<String>, counts: &dyn Fn(&MarkdownErrorKind) -> bool| {
        // Other lines have neither links nor HTML, so that they need not be parsed.
        line.value.contains(LINK_MARKS).then_some(())?;
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
