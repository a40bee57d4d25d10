//! Fuzzes page bodies: the HTML is parsed like a browser does and contains only what the renderer writes.

use std::cell::RefCell;
use std::collections::BTreeSet;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{
    BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use kbgen::markdown::{
    Call, CallValue, RenderHooks, inline, is_reserved_id, outline, outline_inline, plain, plain_inline,
    render,
};

/// Elements that the renderer writes.
const ELEMENTS: &str = "a aside blockquote br code data del div em h2 h3 h4 h5 h6 hr img input li ol p pre section span \
                        strong sup table tbody td th thead tr ul";
/// Attributes that the renderer writes.
const ATTRIBUTES: &str = "alt aria-label checked class data-by data-label data-lang disabled height href id loading rel role \
                          scope src start tabindex title type value width";
/// Void elements.
const VOID: &str = "br hr img input";
/// Elements that browsers move out of a paragraph or heading.
const BLOCKS: &str =
    "aside blockquote div h2 h3 h4 h5 h6 hr li ol p pre section table tbody td th thead tr ul";
/// Allowed URL schemes.
const SCHEMES: [&str; 3] = ["http", "https", "mailto"];

/// Render hooks that change nothing.
struct TestHooks;

impl RenderHooks for TestHooks {
    fn href(&self, destination: &str) -> String {
        destination.to_string()
    }

    fn call_value(&self, call: &Call) -> Option<CallValue> {
        call.source.starts_with("fit(").then(|| CallValue {
            text: "4.00 GiB".to_string(),
            value: "4294967296".to_string(),
            title: format!("of \"{}\"", call.source),
        })
    }
}

/// Renders the text as a body and as one line.
pub fn hold(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    places_lie_within(text);
    let rendered = render(text, &TestHooks);
    is_harmless(&rendered.html());
    for section in &rendered.sections {
        is_harmless(&section.title_html);
    }
    is_harmless(&inline(text, &TestHooks));
    plain(text);
    plain_inline(text);
}

/// Checks that all ranges of the outline are inside the text.
pub fn places_lie_within(text: &str) {
    for outline in [outline(text), outline_inline(text)] {
        let ranges = (outline.headings.iter().map(|heading| &heading.range))
            .chain(outline.links.iter().map(|link| &link.range))
            .chain(outline.calls.iter().flat_map(|call| [&call.range, &call.inner_range]))
            .chain(outline.errors.iter().map(|fault| &fault.range))
            .chain(outline.fences.iter().flat_map(|fence| fence.tool_range.as_ref()));
        for range in ranges {
            assert!(text.get(range.clone()).is_some(), "{range:?} of {text:?}");
        }
    }
}

/// Checks that HTML uses only the elements above and is well nested.
fn is_harmless(html: &str) {
    assert!(!html.contains(['\u{202E}', '\u{2066}', '\0']), "an unseen character comes through: {html}");
    let judge = Judge::default();
    let tokenizer = Tokenizer::new(judge, TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() });
    let input = BufferQueue::default();
    input.push_back(StrTendril::from_slice(html));
    let _ = tokenizer.feed(&input);
    tokenizer.end();
    let open = tokenizer.sink.open.borrow();
    assert!(open.is_empty(), "{open:?} stay open: {html}");
}

/// Checks the tags in order.
#[derive(Default)]
struct Judge {
    open: RefCell<Vec<String>>,
    ids: RefCell<BTreeSet<String>>,
}

impl TokenSink for Judge {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        match token {
            Token::TagToken(tag) if tag.kind == TagKind::StartTag => self.start(&tag),
            Token::TagToken(tag) => {
                let open = self.open.borrow_mut().pop();
                assert_eq!(open.as_deref(), Some(&*tag.name), "tags are well nested");
            }
            Token::CommentToken(text) => panic!("a comment: {text}"),
            Token::DoctypeToken(_) => panic!("a document type"),
            // Control characters have their own finding and are harmless.
            Token::ParseError(error) if error.starts_with("Bad character") => {}
            Token::ParseError(error) => panic!("not HTML: {error}"),
            Token::CharacterTokens(_) | Token::NullCharacterToken | Token::EOFToken => {}
        }
        TokenSinkResult::Continue
    }
}

impl Judge {
    fn start(&self, tag: &Tag) {
        let name = tag.name.to_string();
        assert!(has(ELEMENTS, &name), "an element `{name}`");
        let mut open = self.open.borrow_mut();
        if has(BLOCKS, &name) {
            let holder = open.iter().rev().find(|open| is_paragraph(open));
            assert!(holder.is_none(), "`{name}` in {open:?}");
        }
        assert!(name != "a" || open.iter().all(|open| open != "a"), "a link in a link");
        for attribute in &tag.attrs {
            self.attribute(&name, &attribute.name.local, &attribute.value);
        }
        if !has(VOID, &name) {
            open.push(name);
        }
    }

    fn attribute(&self, element: &str, name: &str, value: &str) {
        assert!(has(ATTRIBUTES, name), "an attribute `{name}` of `{element}`");
        match name {
            "href" | "src" => is_address(value),
            "id" => {
                let is_new = self.ids.borrow_mut().insert(value.to_string());
                assert!(is_new, "the id `{value}` twice");
                assert!(value.starts_with("fn") || !is_reserved_id(value), "the id `{value}`");
            }
            "type" => assert_eq!(value, "checkbox"),
            _ => {}
        }
    }
}

fn has(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|known| known == name)
}

fn is_paragraph(name: &str) -> bool {
    matches!(name, "p" | "h2" | "h3" | "h4" | "h5" | "h6" | "pre")
}

/// Returns the scheme as browsers parse it (<https://url.spec.whatwg.org/#concept-basic-url-parser>), ignoring leading
/// white space and control characters, and tabs and line ends anywhere.
fn is_address(value: &str) {
    let value = value.trim_start_matches(|c: char| c <= ' ');
    let value: String = value.chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    assert!(!value.replace('\\', "/").starts_with("//"), "an address of another host: {value}");
    let Some((scheme, _)) = value.split_once(':') else { return };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    assert!(!is_scheme || SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()), "the scheme `{scheme}`");
}
