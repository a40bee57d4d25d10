//! Thousands of generated texts: no panics, no unsafe output, linear time.

use std::collections::BTreeSet;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use ammonia::Builder;
use kbgen::markdown::{LANGUAGES, highlight, inline, is_reserved_id, outline, outline_inline, plain, render};

use super::TestHooks;
use crate::fuzzed::markdown::places_lie_within;

/// Deterministic pseudorandom numbers (xorshift64*, Vigna 2016, doi:10.1145/2845077).
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % sides
    }

    fn pick<'a>(&mut self, parts: &[&'a str]) -> &'a str {
        parts[self.below(parts.len())]
    }
}

const PARTS: &[&str] = &[
    "a",
    " ",
    "\n",
    "\n\n",
    "*",
    "**",
    "_",
    "~~",
    "`",
    "``",
    "\n```",
    "```bash tool=x os=linux title=\"a\n",
    "\n~~~\n",
    "```console\n$ ls \"",
    "```log\n2026-01-01 00:00:00 ERROR /a/b",
    "```json\n{\"a\":",
    "[",
    "]",
    "(",
    ")",
    "![",
    "](",
    "[^a]",
    "\n[^a]: ",
    "[a][b]",
    "\n[b]: ",
    "{{",
    "}}",
    "{{ fit(\"a_b\", \"*\") }}",
    "{{ fit(x) }}",
    "{",
    "}",
    "{#a}",
    " {#main onclick=x}",
    "\n# ",
    "\n## ",
    "\n### ",
    "\n---\n",
    "\n===\n",
    "\n- ",
    "\n1. ",
    "\n- [x] ",
    "\n> ",
    "> [!NOTE]\n",
    "\n| a | b |\n|---|:-:|\n| ",
    "|",
    "\\",
    "\\{{",
    "<",
    ">",
    "<b>",
    "</script>",
    "<script>alert(1)</script>",
    "<img src=x onerror=y>",
    "<!-- ",
    " -->",
    "<svg/onload=x>",
    "<javascript:x>",
    "<https://a.org>",
    "<a@b.org>",
    "javascript:x",
    "(javascript&colon;x)",
    "data:text/html,x",
    "&#106;avascript:",
    "&lt;",
    "&amp;",
    "&quot;",
    "\"",
    "'",
    " onclick=\"x\"",
    "//evil.org",
    "/\\evil.org",
    "\u{202E}",
    "\u{2066}",
    "\0",
    "\t",
    "\r\n",
    "    ",
    "é",
    "😀",
    "\u{FEFF}",
    "![[x]]",
    "[[javascript:x]]",
    "$x$",
    "<data value=",
    "%6Aavascript:",
    "ftp:",
    "/errors/x/",
    "#id",
    " \"t<\\\"\")",
    ":",
    "=",
    "title=\"",
    "vbscript:",
];

fn made(dice: &mut Dice) -> String {
    (0..1 + dice.below(24)).map(|_| dice.pick(PARTS)).collect()
}

/// Sanitizer that allows only the elements and attributes of the renderer. Anything it removes is an error of the
/// renderer.
fn oracle() -> Builder<'static> {
    let mut builder = Builder::empty();
    builder
        .tags(
            "a aside blockquote br code data del div em h2 h3 h4 h5 h6 hr img input li ol p pre section span strong sup \
             table tbody td th thead tr ul"
                .split_whitespace()
                .collect(),
        )
        .generic_attributes(
            "id class role tabindex aria-label title data-lang data-label".split_whitespace().collect(),
        )
        .add_tag_attributes("a", ["href", "rel"])
        .add_tag_attributes("data", ["value"])
        .add_tag_attributes("img", ["src", "alt", "width", "height", "loading"])
        .add_tag_attributes("input", ["type", "disabled", "checked"])
        .add_tag_attributes("ol", ["start"])
        .add_tag_attributes("th", ["scope"])
        .link_rel(None)
        .strip_comments(false)
        .url_schemes(["http", "https", "mailto"].into())
        .url_relative(ammonia::UrlRelative::PassThrough);
    builder
}

#[test]
fn nothing_unsafe_comes_out() {
    let oracle = oracle();
    let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
    for round in 0..4_000 {
        let text = made(&mut dice);
        let rendered = render(&text, &TestHooks);
        for html in [rendered.html(), inline(&text, &TestHooks)] {
            let cleaned = oracle.clean(&html).to_string();
            assert_eq!(tags(&cleaned), tags(&html), "round {round}: {text:?}\n{html}");
            assert!(!html.contains(['\u{202E}', '\u{2066}', '\0']), "{text:?}");
        }
        let ids: Vec<_> = rendered.html().match_indices(" id=\"").map(|(at, _)| at).collect();
        let html = rendered.html();
        let ids: Vec<_> = ids
            .into_iter()
            .map(|at| html[at + 5..].split('"').next().unwrap_or_default().to_string())
            .collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "ids are unique: {text:?}\n{html}");
        assert!(
            ids.iter().all(|id| id.starts_with("fn") || !is_reserved_id(id)),
            "round {round}: {text:?}\n{html}"
        );
    }
}

/// Returns the tags of a page, normalized to remove differences between the two serializers.
fn tags(html: &str) -> Vec<String> {
    let mut tags: Vec<String> = html
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace('\r', "\n")
        .split('<')
        .skip(1)
        .map(|tag| {
            let tag = tag.split('>').next().unwrap_or_default();
            let mut words: Vec<_> = tag.replace("=\"\"", "").split(' ').map(str::to_string).collect();
            words.sort();
            words.join(" ")
        })
        .collect();
    tags.sort();
    tags
}

/// Titles that collide with reserved ids, directly or with a number appended, or with each other.
const TITLES: &[&str] = &[
    "Cause",
    "Letter",
    "Fn",
    "Fnref",
    "Kbgen",
    "Main",
    "Next",
    "Sources",
    "Fit data",
    "Cause 1",
    "Section cause 1",
    "Section",
    "Letter-2",
    "Main 1",
    "???",
    "*Cause* `1`",
];

/// Suffixes of titles.
const IDS: &[&str] =
    &["", "", "", " {#cause}", " {#cause-1}", " {#fn-1}", " {#section-cause-1}", " {#main}", " {#a b}"];

/// Generates a document of blocks that an author could write.
fn document(dice: &mut Dice) -> String {
    let mut text = String::new();
    for _ in 0..1 + dice.below(30) {
        let (title, id) = (dice.pick(TITLES), dice.pick(IDS));
        text.push_str(&match dice.below(10) {
            0..=4 => format!("{} {title}{id}\n\n", "#".repeat(2 + dice.below(3))),
            5 => format!("{title}{id}\n---\n\n"),
            6 => format!("A note[^{title}] and [a link](#{title}).\n\n[^{title}]: What it says.\n\n"),
            7 => format!(
                "> - {title}\n>   1. [{title}][cause]\n>      - ## {title}\n\n[cause]: /errors/x/\n\n"
            ),
            8 => format!(
                "| {title} | b |\n|---|:-:|\n| [^1] | {{{{ fit(\"a\", \"q\").kv }}}} |\n\n[^1]: {title}\n\n"
            ),
            _ => format!("```bash title=\"{title}\"\n## {title}\n```\n\n"),
        });
    }
    text
}

/// Runs in a separate thread, so that a text that causes an endless loop is reported.
fn named_if_endless(text: String, work: impl FnOnce(&str) + Send + 'static) {
    let (sender, ended) = mpsc::channel();
    let shared = text.clone();
    thread::spawn(move || {
        work(&shared);
        let _ = sender.send(());
    });
    match ended.recv_timeout(Duration::from_secs(60)) {
        Ok(()) => {}
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("this text has no end: {text:?}"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("this text fails: {text:?}"),
    }
}

#[test]
fn every_document_ends_and_its_ids_are_unique_and_its_own() {
    let mut dice = Dice(0x5EED_CA05_E000_0001);
    for round in 0..1_500 {
        let text = document(&mut dice);
        named_if_endless(text, move |text| {
            let headings = outline(text).headings;
            let ids: BTreeSet<&str> = headings.iter().map(|heading| heading.id.as_str()).collect();
            assert_eq!(ids.len(), headings.len(), "round {round}: {ids:?} of {text:?}");
            assert!(!ids.iter().any(|id| is_reserved_id(id)), "round {round}: {ids:?} of {text:?}");
            let html = render(text, &TestHooks).html();
            let all: Vec<&str> =
                html.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap_or_default()).collect();
            assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "round {round}: {text:?}");
            inline(text, &TestHooks);
            plain(text);
        });
    }
}

#[test]
fn places_lie_in_the_text() {
    let mut dice = Dice(42);
    for _ in 0..4_000 {
        let text = made(&mut dice);
        places_lie_within(&text);
        for outline in [outline(&text), outline_inline(&text)] {
            for call in &outline.calls {
                assert!(
                    text[call.range.clone()].starts_with("{{") && text[call.range.clone()].ends_with("}}")
                );
                assert_eq!(text[call.inner_range.clone()].replace(['\n', '\r'], " "), call.source);
            }
            assert!(outline.errors.iter().all(|fault| !fault.kind.message().contains('\n')));
        }
        plain(&text);
    }
}

/// Returns the CPU time of this thread. Unlike a clock, it does not run while other programs use the machine.
#[cfg(unix)]
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

#[cfg(unix)]
#[test]
fn time_grows_with_the_length() {
    for part in [
        "## a\n\n",
        "## a {#a}\n\n",
        "## Cause\n\n",
        "## Section cause 1\n\n## Cause\n\n",
        "{{",
        "{{ a }}",
        "}}",
        "[",
        "![",
        "]",
        "[a][",
        "[^",
        "[^a]",
        "[^a]: b\n\n",
        "[a](",
        "<",
        "<b>",
        "<!--",
        "<a@b>",
        "`",
        "> ",
        "- ",
        "*",
        "_*",
        "|",
        "| a ",
        "\n| a |\n|---|\n",
        "\\",
        "&",
        "&#",
        ">---\n",
        "```x y=\"\n",
        "```\n",
        "(",
        "[a]: b\n",
        "[a] ",
        "{#a",
        "## a {",
        "\u{202E}",
        "a\n===\n",
        "[a](javascript:b)",
        "~~",
        "<?",
        "![a](b) ",
        "- [x] a\n",
        "https://",
        "https://a",
        "https://a ",
        "[^a](",
        "{{ `",
    ] {
        // Linear work takes much less than a second, quadratic work minutes.
        let text = part.repeat(200_000 / part.len());
        let start = cpu_time();
        outline(&text);
        render(&text, &TestHooks);
        plain(&text);
        inline(&text, &TestHooks);
        let taken = cpu_time() - start;
        assert!(taken < Duration::from_secs(10), "{part:?}: {taken:?} for 200 kB");
    }
}

#[test]
fn highlighted_code_is_the_code() {
    let mut dice = Dice(3);
    for round in 0..1_500 {
        let code = made(&mut dice).replace(['\u{202E}', '\u{2066}', '\0'], "");
        let language = dice.pick(&LANGUAGES);
        let html = highlight(language, &code);
        let text: String = html
            .split('<')
            .enumerate()
            .map(|(index, part)| if index == 0 { part } else { part.split_once('>').expect("a tag").1 })
            .collect();
        let text =
            text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
        assert_eq!(text.replace("&amp;", "&"), code, "round {round}: {language}\n{html}");
        assert_eq!(html.matches("<span class=\"").count(), html.matches("</span>").count());
        assert!(!html.contains("\"></span>"), "no empty span: {html}");
    }
}
