//! Generates Markdown (CommonMark with GitHub's extensions) for `llms.txt` and the Markdown versions of pages.

/// Markdown whose syntax is generated, checked by `check`, or escaped.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MarkdownText(String);

impl MarkdownText {
    /// Escapes plain text on one line, so that it contains no Markdown syntax.
    pub fn plain(text: &str) -> Self {
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ");
        let mut out = String::with_capacity(line.len());
        let mut before = None;
        let mut rest = line.chars();
        while let Some(character) = rest.next() {
            let next = rest.as_str().chars().next();
            if is_mark(character, before, next) || is_block_mark(character, &out, next) {
                out.push('\\');
            }
            out.push(character);
            before = Some(character);
        }
        Self(out)
    }

    /// Wraps Markdown of a page or a translation, whose links and HTML `check` has checked.
    pub fn checked(markdown: &str) -> Self {
        Self(markdown.to_string())
    }

    /// Wraps checked Markdown and joins its lines.
    pub fn checked_line(markdown: &str) -> Self {
        Self(markdown.split(['\r', '\n']).map(str::trim).collect::<Vec<_>>().join(" "))
    }

    /// Creates a link.
    pub fn link(text: &Self, address: &str) -> Self {
        Self(format!("[{}]({})", text.0, destination(address)))
    }

    /// Creates the marker of an item in a numbered list.
    pub fn number(number: usize) -> Self {
        Self(format!("{number}. "))
    }

    /// Creates a link whose text is its address.
    pub fn address(address: &str) -> Self {
        Self(format!("<{}>", destination(address)))
    }

    /// Creates inline code on one line.
    pub fn code(text: &str) -> Self {
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let ticks = "`".repeat(longest_run(&line, '`') + 1);
        let space = if line.starts_with('`') || line.ends_with('`') { " " } else { "" };
        Self(format!("{ticks}{space}{line}{space}{ticks}"))
    }

    /// Creates a fenced block of plain text with an empty line after it.
    pub fn code_block(text: &str) -> Self {
        let text = text.replace('\r', "\n");
        let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
        Self(format!("{fence}text\n{}\n{fence}\n\n", text.trim_end()))
    }

    /// Adds literal Markdown of the program.
    pub fn push_syntax(&mut self, markdown: &'static str) {
        self.0.push_str(markdown);
    }

    /// Appends Markdown.
    pub fn push(&mut self, text: &Self) {
        self.0.push_str(&text.0);
    }

    /// Returns the Markdown source.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts it to the bytes of a file.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

/// Returns whether a character is Markdown syntax anywhere in a line. An underscore inside a word is not.
fn is_mark(character: char, before: Option<char>, next: Option<char>) -> bool {
    let is_word = |near: Option<char>| near.is_some_and(char::is_alphanumeric);
    match character {
        '\\' | '`' | '*' | '[' | ']' | '<' | '{' | '~' => true,
        '_' => !(is_word(before) && is_word(next)),
        '&' => next.is_some_and(|next| next == '#' || next.is_ascii_alphanumeric()),
        _ => false,
    }
}

/// Returns whether a character would start a heading, a quotation, a list, a rule or a footnote; `before` is the line up to it.
fn is_block_mark(character: char, before: &str, next: Option<char>) -> bool {
    let is_number = !before.is_empty() && before.bytes().all(|byte| byte.is_ascii_digit());
    match character {
        '#' | '>' | '-' | '+' | '=' | '|' | ':' => before.is_empty(),
        '.' | ')' => is_number && next.is_none_or(char::is_whitespace),
        _ => false,
    }
}

/// Percent-encodes the characters of an address that would end the parentheses or angle brackets around it.
fn destination(address: &str) -> String {
    let mut out = String::with_capacity(address.len());
    for character in address.chars() {
        match character {
            '(' | ')' | '<' | '>' | '\\' | '`' | '[' | ']' | '"' | '*' => {
                out.push_str(&format!("%{:02X}", u32::from(character)));
            }
            space if space.is_whitespace() || space.is_control() => out.push_str("%20"),
            other => out.push(other),
        }
    }
    out
}

fn longest_run(text: &str, expected: char) -> usize {
    text.split(|c| c != expected).map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

    use super::*;

    fn plain(text: &str) -> String {
        MarkdownText::plain(text).0
    }

    #[test]
    fn escapes_titles() {
        assert_eq!(
            plain("Fix it](https://evil.example/x) and [more"),
            "Fix it\\](https://evil.example/x) and \\[more"
        );
        assert_eq!(plain("a\n# b"), "a # b");
        assert_eq!(
            plain("llama.cpp: kv_cache_type is 4 - not 8 (n=1)"),
            "llama.cpp: kv_cache_type is 4 - not 8 (n=1)"
        );
    }

    #[test]
    fn escaped_text_renders_unchanged() {
        for text in [
            "Fix it](https://evil.example/x) and [more",
            "`code` **bold** _em_ ~~gone~~ <b> &amp; &#35; \\ <https://a.org>",
            "# h",
            "> q",
            "- i",
            "+ i",
            "1. one",
            "2) two",
            "--- x",
            "=== x",
            "| a | b |",
            "snake_case_ _x",
            "[^1]: x",
            "![a](b)",
            "a {#id}",
            "***",
            "[ ] task",
            "{{ fit(1) }}",
        ] {
            let (mut shown, mut depth) = (String::new(), 0);
            let options = Options::all() - Options::ENABLE_SMART_PUNCTUATION;
            for event in Parser::new_ext(&plain(text), options) {
                match event {
                    Event::Text(part) => shown.push_str(&part),
                    Event::Start(Tag::Paragraph) => depth += 1,
                    Event::End(TagEnd::Paragraph) => depth -= 1,
                    other => panic!("{text}: {other:?}"),
                }
            }
            assert_eq!((shown.as_str(), depth), (text, 0));
        }
    }

    #[test]
    fn addresses_and_code_cannot_end_early() {
        let link = MarkdownText::link(&MarkdownText::plain("a]b"), "https://a.org/x) [y](z");
        assert_eq!(link.0, "[a\\]b](https://a.org/x%29%20%5By%5D%28z)");
        assert_eq!(MarkdownText::code("a`b").0, "``a`b``");
        assert_eq!(MarkdownText::code_block("a\n```\nb").0, "````text\na\n```\nb\n````\n\n");
    }
}
