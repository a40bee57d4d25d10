//! Errors in Markdown, with messages and help.

use std::ops::Range;

use crate::markdown::destination::MAX_ADDRESS;
use crate::markdown::fence::{KEYS, SYSTEMS};
use crate::markdown::highlight::LANGUAGES;
use crate::markdown::outline::{MAX_COLUMNS, MAX_DEPTH};
use crate::markdown::unsupported::UnsupportedSyntax;
use crate::unicode_safety::{HostSpoofing, InvisibleChar};

/// An error in Markdown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkdownError {
    /// Byte range in the parsed text.
    pub range: Range<usize>,
    /// Kind of error, with the quoted text.
    pub kind: MarkdownErrorKind,
}

/// The kind of a [`MarkdownError`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MarkdownErrorKind {
    /// A tag or a block of HTML, with its first word: `<model>`.
    RawHtml(String),
    /// `<!-- … -->`.
    HtmlComment,
    /// A destination with a scheme other than http, https or mailto; `//` for a host without a scheme.
    LinkScheme(String),
    /// `https://…` in prose, which does not become a link.
    BareAddress,
    /// Braces after a heading with anything but one `#id`.
    HeadingAttribute(String),
    /// An explicit id with characters other than letters, digits, `-` and `_`, or without a letter at its start.
    HeadingIdSpelling(String),
    /// `# …` in a body.
    HeadingLevelOne,
    /// A heading more than one level below the previous one.
    HeadingSkipsLevel {
        /// Level of the previous heading (1 for the page's title).
        before: u8,
        /// Level of this heading.
        level: u8,
    },
    /// A heading in a list, a quotation or a footnote.
    HeadingNested,
    /// An explicit id of an earlier heading.
    DuplicateId(String),
    /// An explicit id that the templates or scripts use.
    ReservedId(String),
    /// A language without a highlighter.
    UnknownLanguage(String),
    /// A word after the language that is not a known `key=value`.
    UnknownFenceAttribute(String),
    /// `os=` with an unknown system.
    UnknownSystem(String),
    /// A fence without its closing line.
    UnclosedFence {
        /// Whether a line of the block would be a heading outside of it.
        hides_heading: bool,
    },
    /// `{{` without `}}` on its line.
    UnclosedCall,
    /// Quotations, lists and emphasis nested more than 16 levels deep.
    TooDeep,
    /// A bidirectional control character.
    DirectionOverride(char),
    /// An invisible character, or a control character.
    HiddenCharacter(char),
    /// A host in an address that can be mistaken for another one.
    LinkHost(HostSpoofing),
    /// A table with too many columns, and their number.
    TooWide(usize),
    /// Too many items of a kind: the kind, their number, and the limit.
    TooMany(&'static str, usize, usize),
    /// A link destination with its title that is too long, and its length in bytes.
    LongAddress(usize),
    /// Syntax of another dialect.
    UnsupportedSyntax(UnsupportedSyntax),
    /// `[text][label]` without `[label]: …`.
    UndefinedReference(String),
    /// `[^label]` without `[^label]: …`.
    UndefinedFootnote(String),
    /// `[^label]: …` without a reference.
    UnusedFootnote(String),
    /// A second `[^label]: …`.
    DuplicateFootnote(String),
}

impl MarkdownErrorKind {
    /// Returns the error for an invisible character.
    pub fn of_invisible(character: char, kind: InvisibleChar) -> Self {
        match kind {
            InvisibleChar::Bidi => Self::DirectionOverride(character),
            InvisibleChar::Hidden | InvisibleChar::Control => Self::HiddenCharacter(character),
        }
    }

    /// Returns the code of the rule that reports the error, such as `raw-html`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::RawHtml(_) | Self::HtmlComment => "raw-html",
            Self::LinkScheme(_) => "link-scheme",
            Self::BareAddress => "bare-address",
            Self::HeadingAttribute(_) => "heading-attribute",
            Self::HeadingIdSpelling(_) => "heading-id",
            Self::HeadingLevelOne | Self::HeadingSkipsLevel { .. } => "heading-level",
            Self::HeadingNested => "heading-nested",
            Self::DuplicateId(_) => "duplicate-id",
            Self::ReservedId(_) => "reserved-id",
            Self::UnknownLanguage(_) => "code-language",
            Self::UnknownFenceAttribute(_) | Self::UnknownSystem(_) => "code-label",
            Self::UnclosedFence { .. } => "unclosed-fence",
            Self::UnclosedCall => "unclosed-call",
            Self::TooDeep => "markdown-depth",
            Self::DirectionOverride(_) => "direction-override",
            Self::HiddenCharacter(_) => "hidden-character",
            Self::LinkHost(_) => "link-host",
            Self::TooWide(_) | Self::TooMany(..) | Self::LongAddress(..) => "markdown-size",
            Self::UnsupportedSyntax(_) => "foreign-syntax",
            Self::UndefinedReference(_) => "undefined-reference",
            Self::UndefinedFootnote(_) | Self::UnusedFootnote(_) | Self::DuplicateFootnote(_) => "footnote",
        }
    }

    /// Returns a lowercase phrase, with quoted text in backticks.
    pub fn message(&self) -> String {
        match self {
            Self::RawHtml(tag) => format!("raw HTML `{tag}` is not allowed"),
            Self::HtmlComment => "HTML comments are not allowed".to_string(),
            Self::LinkScheme(scheme) if scheme == "//" => "link without a scheme".to_string(),
            Self::LinkScheme(scheme) => format!("link with the scheme `{}`", shortened(scheme)),
            Self::BareAddress => "bare URL".to_string(),
            Self::HeadingAttribute(braces) => format!("heading attributes `{}`", shortened(braces)),
            Self::HeadingIdSpelling(id) => {
                format!("invalid heading id `{}`", shortened(id))
            }
            Self::HeadingLevelOne => "level-1 heading in a body".to_string(),
            Self::HeadingSkipsLevel { before, level } => {
                format!("heading of level {level} below a heading of level {before}")
            }
            Self::HeadingNested => "heading inside a list, a quotation or a footnote".to_string(),
            Self::DuplicateId(id) => format!("duplicate heading id `{}`", shortened(id)),
            Self::ReservedId(id) => format!("reserved heading id `{}`", shortened(id)),
            Self::UnknownLanguage(name) => format!("unknown code language `{}`", shortened(name)),
            Self::UnknownFenceAttribute(word) => {
                format!("unknown code-block attribute `{}`", shortened(word))
            }
            Self::UnknownSystem(name) => format!("unknown system `{}`", shortened(name)),
            Self::UnclosedFence { .. } => "unclosed code block".to_string(),
            Self::UnclosedCall => "unclosed estimator call".to_string(),
            Self::TooDeep => format!("text nested more than {MAX_DEPTH} levels deep"),
            Self::DirectionOverride(character) => {
                format!("bidirectional control character U+{:04X}", u32::from(*character))
            }
            Self::HiddenCharacter(character) if character.is_control() => {
                format!("control character U+{:04X}", u32::from(*character))
            }
            Self::HiddenCharacter(character) => {
                format!("invisible character U+{:04X}", u32::from(*character))
            }
            Self::LinkHost(HostSpoofing::NonAscii) => "non-ASCII host".to_string(),
            Self::LinkHost(HostSpoofing::UserName) => "user name before the host".to_string(),
            Self::TooWide(columns) => format!("table with {columns} columns"),
            Self::TooMany(what, count, _) => format!("{count} {what} in one text"),
            Self::UnsupportedSyntax(syntax) => syntax.message(),
            Self::LongAddress(length) => format!("URL of {length} bytes"),
            Self::UndefinedReference(label) => format!("no link definition `[{}]`", shortened(label)),
            Self::UndefinedFootnote(label) => format!("no footnote `[^{}]`", shortened(label)),
            Self::UnusedFootnote(label) => format!("footnote `[^{}]` is never used", shortened(label)),
            Self::DuplicateFootnote(label) => format!("footnote `[^{}]` is defined twice", shortened(label)),
        }
    }

    /// Returns one action that fixes the error.
    pub fn help(&self) -> String {
        match self {
            Self::RawHtml(_) => {
                "write Markdown instead, or put literal text in backticks: `<model>`".to_string()
            }
            Self::HtmlComment => "remove the comment".to_string(),
            Self::LinkScheme(scheme) if scheme == "//" => "write `https://` in full".to_string(),
            Self::LinkScheme(_) => {
                "link to an https, http or mailto address, or to a page by its path".to_string()
            }
            Self::BareAddress => "write `<https://…>`, or put it in backticks".to_string(),
            Self::HeadingAttribute(braces) if is_word(braces) => {
                format!("write `{{#{}}}`; the id follows `#`", braces.trim_matches(['{', '}']))
            }
            Self::HeadingAttribute(_) => {
                "only one id may follow a heading: `{#id}`; write a literal brace as `\\{`".to_string()
            }
            Self::HeadingIdSpelling(_) => "start with a letter and use letters, digits and `-`".to_string(),
            Self::HeadingLevelOne => "start with `##`; the page title is the level-1 heading".to_string(),
            Self::HeadingSkipsLevel { before, .. } => {
                format!("use `{}`", "#".repeat(usize::from(*before) + 1))
            }
            Self::HeadingNested => "move the heading out, or write it in bold: `**…**`".to_string(),
            Self::DuplicateId(_) | Self::ReservedId(_) => "choose another id".to_string(),
            Self::UnknownLanguage(name) => suggestion(name, LANGUAGES.iter().copied())
                .unwrap_or_else(|| "write `text` for plain text".to_string()),
            Self::UnknownFenceAttribute(word) => {
                let key = word.split('=').next().unwrap_or(word);
                suggestion(key, KEYS.iter().copied().filter(|known| *known != key)).unwrap_or_else(|| {
                    "use `tool=slug`, `os=name` or `title=\"text\"` after the language".to_string()
                })
            }
            Self::UnknownSystem(name) => suggestion(name, SYSTEMS.iter().map(|(known, _)| *known))
                .unwrap_or_else(|| {
                    let known: Vec<_> = SYSTEMS.iter().map(|(known, _)| format!("`{known}`")).collect();
                    format!("use one of {}", known.join(", "))
                }),
            Self::UnclosedFence { .. } => {
                "close it with a line of as many backticks as in the opening line".to_string()
            }
            Self::UnclosedCall => {
                "close the call with `}}` on the same line, or write literal braces as `\\{{`".to_string()
            }
            Self::TooDeep => "reduce the nesting of lists and quotations".to_string(),
            Self::DirectionOverride(_) => "delete the invisible character".to_string(),
            Self::HiddenCharacter('\r') => "end lines with LF or CRLF".to_string(),
            Self::HiddenCharacter(character) => {
                format!("delete it, or write its name: `U+{:04X}`", u32::from(*character))
            }
            Self::LinkHost(HostSpoofing::NonAscii) => "write the host in ASCII: `xn--…`".to_string(),
            Self::LinkHost(HostSpoofing::UserName) => "remove the user name and `@`".to_string(),
            Self::TooWide(_) => format!("at most {MAX_COLUMNS} columns are allowed; split the table"),
            Self::TooMany(_, _, most) => format!("at most {most} are allowed; split the text"),
            Self::UnsupportedSyntax(syntax) => syntax.help().to_string(),
            Self::LongAddress(_) => {
                format!("at most {MAX_ADDRESS} bytes are allowed; use a shorter URL")
            }
            Self::UndefinedReference(label) => {
                format!("define it, `[{}]: address`, or escape the bracket, `\\[`", shortened(label))
            }
            Self::UndefinedFootnote(label) => {
                format!("define it, `[^{}]: text`, or put literal text in backticks", shortened(label))
            }
            Self::UnusedFootnote(label) => format!("refer to it, `[^{}]`, or delete it", shortened(label)),
            Self::DuplicateFootnote(_) => "use a unique label for each footnote".to_string(),
        }
    }
}

/// Returns whether braces contain one word: `{update}`.
fn is_word(braces: &str) -> bool {
    let word = braces.trim_matches(['{', '}']);
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns at most 60 characters of a text, on one line.
fn shortened(text: &str) -> String {
    let mut short: String =
        text.chars().take(60).map(|character| if character.is_control() { ' ' } else { character }).collect();
    if text.chars().nth(60).is_some() {
        short.push('…');
    }
    short
}

/// Suggests the known name with an edit distance of at most 2.
fn suggestion<'k>(name: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    let name: String = name.chars().take(32).collect::<String>().to_lowercase();
    let known: Vec<&str> = known.collect();
    let mut longer = known.iter().filter(|known| name.len() > 2 && known.starts_with(&name));
    if let (Some(only), None) = (longer.next(), longer.next()) {
        return Some(format!("did you mean `{only}`?"));
    }
    let nearest = known.into_iter().map(|known| (strsim::damerau_levenshtein(&name, known), known)).min()?;
    (nearest.0 <= 2 && nearest.0 < nearest.1.len()).then(|| format!("did you mean `{}`?", nearest.1))
}
