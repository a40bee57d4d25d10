//! Code as HTML with a dozen token classes.
//!
//! A grammar's scopes would blow a block up many times over, so each scope is one of the letters of
//! [`Class`], neighbours of one class share a span, and white space has none.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::markdown::html::escape_into;
use crate::markdown::scanners;

/// Longer blocks stay plain: grammars take milliseconds a kilobyte.
const MAX_BLOCK_BYTES: usize = 32 * 1024;

/// Blocks with a longer line stay plain: a grammar's cost grows faster than the length of a line.
const MAX_LINE_BYTES: usize = 2_000;

/// What the cache may hold before it starts anew.
const MAX_CACHED_BYTES: usize = 64 * 1024 * 1024;

/// Languages that a code block may name.
pub const LANGUAGES: [&str; 35] = [
    "bash",
    "batch",
    "c",
    "cmake",
    "cmd",
    "console",
    "cpp",
    "css",
    "diff",
    "dockerfile",
    "go",
    "html",
    "http",
    "ini",
    "java",
    "javascript",
    "jinja2",
    "js",
    "json",
    "log",
    "make",
    "markdown",
    "powershell",
    "ps1",
    "py",
    "python",
    "rust",
    "sh",
    "shell",
    "sql",
    "text",
    "toml",
    "xml",
    "yaml",
    "yml",
];

/// Whether a code block may name this language.
pub(crate) fn is_known(language: &str) -> bool {
    LANGUAGES.contains(&language)
}

/// The name of the grammar, where it is not the language itself.
fn grammar_token(language: &str) -> &str {
    match language {
        "batch" | "cmd" => "bat",
        "jinja2" => "j2",
        "make" => "Makefile",
        "shell" => "sh",
        "http" => "HTTP Request and Response",
        other => other,
    }
}

/// What a token is; the letter is its class in HTML.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    Keyword,
    String,
    Comment,
    Number,
    Function,
    Variable,
    Operator,
    Type,
    Prompt,
    Error,
    Warning,
    Muted,
}

impl Class {
    fn letter(self) -> char {
        match self {
            Self::Keyword => 'k',
            Self::String => 's',
            Self::Comment => 'c',
            Self::Number => 'n',
            Self::Function => 'f',
            Self::Variable => 'v',
            Self::Operator => 'o',
            Self::Type => 't',
            Self::Prompt => 'p',
            Self::Error => 'e',
            Self::Warning => 'w',
            Self::Muted => 'm',
        }
    }
}

type Cache = HashMap<(String, String), Arc<str>>;

/// Results by language and code. A pure cache: the same question has the same answer with or without it.
static CACHE: LazyLock<Mutex<(usize, Cache)>> = LazyLock::new(Mutex::default);

/// Highlights `code`; the text of the result is `code`, whatever the language. Unknown languages, long
/// blocks and blocks with a long line are escaped and nothing else.
pub fn highlight(language: &str, code: &str) -> Arc<str> {
    let is_plain = matches!(language, "" | "text") || !is_known(language);
    if is_plain || code.len() > MAX_BLOCK_BYTES || code.lines().any(|line| line.len() > MAX_LINE_BYTES) {
        return Spans::plain(code).into();
    }
    match language {
        "console" => return scanners::console(code).into(),
        "log" => return scanners::log(code).into(),
        _ => {}
    }
    let key = (language.to_string(), code.to_string());
    if let Some(html) = CACHE.lock().unwrap_or_else(PoisonError::into_inner).1.get(&key) {
        return html.clone();
    }
    let html: Arc<str> = by_grammar(language, code).unwrap_or_else(|| Spans::plain(code)).into();
    let mut guard = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
    let (bytes, cache) = &mut *guard;
    if *bytes > MAX_CACHED_BYTES {
        cache.clear();
        *bytes = 0;
    }
    *bytes += code.len() + html.len();
    cache.insert(key, html.clone());
    html
}

fn by_grammar(language: &str, code: &str) -> Option<String> {
    let grammars = &*GRAMMARS;
    let mut state = ParseState::new(grammar(language)?);
    let mut stack = ScopeStack::new();
    let mut classes = HashMap::new();
    let mut spans = Spans::default();
    for line in code.split_inclusive('\n') {
        let mut at = 0;
        for (end, change) in state.parse_line(line, grammars).ok()? {
            if end > at {
                spans.push(class_of(&stack, &mut classes), line.get(at..end)?);
                at = end;
            }
            stack.apply(&change).ok()?;
        }
        spans.push(class_of(&stack, &mut classes), line.get(at..)?);
    }
    Some(spans.finish())
}

static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

fn grammar(language: &str) -> Option<&'static SyntaxReference> {
    let token = grammar_token(language);
    GRAMMARS.find_syntax_by_token(token)
}

/// What a scope's beginning says; the first line that fits counts. `None` hands on to the scope around.
const RULES: [(&str, Option<Class>); 32] = [
    ("meta.mapping.key", Some(Class::Type)),
    ("comment", Some(Class::Comment)),
    ("punctuation.definition.comment", Some(Class::Comment)),
    ("punctuation.definition.variable", Some(Class::Variable)),
    ("punctuation.definition", None),
    ("punctuation", Some(Class::Operator)),
    ("string.unquoted", None),
    ("string", Some(Class::String)),
    ("constant.character", Some(Class::String)),
    ("constant", Some(Class::Number)),
    ("keyword.operator", Some(Class::Operator)),
    ("keyword.other.definition.ini", Some(Class::Type)),
    ("keyword", Some(Class::Keyword)),
    ("storage.type.numeric", Some(Class::Number)),
    ("storage", Some(Class::Keyword)),
    ("entity.name.function", Some(Class::Function)),
    ("entity.name.section", Some(Class::Type)),
    ("entity.name", Some(Class::Type)),
    ("entity.other.attribute-name", Some(Class::Variable)),
    ("entity.other", Some(Class::Type)),
    ("support.function", Some(Class::Function)),
    ("support.type.property-name", Some(Class::Type)),
    ("support.constant", Some(Class::Number)),
    ("support", Some(Class::Type)),
    ("variable.function", Some(Class::Function)),
    ("variable.language", Some(Class::Keyword)),
    ("variable", Some(Class::Variable)),
    ("markup.inserted", Some(Class::String)),
    ("markup.deleted", Some(Class::Keyword)),
    ("markup.heading", Some(Class::Type)),
    ("meta.diff", Some(Class::Comment)),
    ("meta.function-call.arguments.path", None),
];

static SCOPES: LazyLock<Vec<(Scope, Option<Class>)>> = LazyLock::new(|| {
    RULES.iter().map(|(name, class)| (Scope::new(name).expect("a rule names a scope"), *class)).collect()
});

/// The class of the innermost scope that has one.
fn class_of(stack: &ScopeStack, classes: &mut HashMap<Scope, Option<Class>>) -> Option<Class> {
    let scopes = stack.as_slice();
    let class = scopes.iter().rev().find_map(|scope| {
        *classes.entry(*scope).or_insert_with(|| {
            SCOPES.iter().find(|(rule, _)| rule.is_prefix_of(*scope)).and_then(|(_, class)| *class)
        })
    });
    class
}

/// HTML that grows token by token.
#[derive(Debug, Default)]
pub(crate) struct Spans {
    out: String,
    open: Option<Class>,
    /// White space whose class shows when the next token comes.
    gap: String,
}

impl Spans {
    fn plain(code: &str) -> String {
        let mut out = String::new();
        escape_into(&mut out, code);
        out
    }

    /// Adds a token.
    pub fn push(&mut self, class: Option<Class>, text: &str) {
        let body = text.trim_end();
        if body.is_empty() {
            return self.gap.push_str(text);
        }
        let start = body.trim_start();
        self.gap.push_str(&body[..body.len() - start.len()]);
        if class != self.open || self.gap.contains('\n') {
            self.close();
            self.out.push_str(&self.gap);
            if let Some(class) = class {
                self.out.push_str("<span class=\"");
                self.out.push(class.letter());
                self.out.push_str("\">");
            }
            self.open = class;
        } else {
            self.out.push_str(&self.gap);
        }
        self.gap.clear();
        escape_into(&mut self.out, start);
        self.gap.push_str(&text[body.len()..]);
    }

    /// The HTML.
    pub fn finish(mut self) -> String {
        self.close();
        self.out + &self.gap
    }

    fn close(&mut self) {
        if self.open.take().is_some() {
            self.out.push_str("</span>");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_grammar_or_a_scanner() {
        for language in LANGUAGES {
            assert!(
                matches!(language, "console" | "log" | "text") || grammar(language).is_some(),
                "{language}"
            );
        }
        assert!(LANGUAGES.is_sorted(), "in the order of the alphabet");
    }

    #[test]
    fn neighbours_share_a_span_and_white_space_has_none() {
        let mut spans = Spans::default();
        spans.push(Some(Class::String), "a");
        spans.push(None, " ");
        spans.push(Some(Class::String), "<b ");
        spans.push(Some(Class::Number), "1\n");
        spans.push(None, "  ");
        assert_eq!(spans.finish(), "<span class=\"s\">a &lt;b</span> <span class=\"n\">1</span>\n  ");
    }
}
