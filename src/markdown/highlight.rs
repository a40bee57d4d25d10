//! Highlights code as HTML with a dozen token classes.
//!
//! The scopes of a grammar would make a block many times larger. Each scope maps to a [`TokenClass`], adjacent tokens of one class
//! share a span, and white space has none.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use syntect::parsing::{Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::markdown::line_cache::{LineState, LineToken, ParserState};
use crate::markdown::scanners;
use crate::markdown::span_writer::{SpanWriter, TokenClass};

/// Longer blocks are not highlighted: a grammar takes milliseconds per kilobyte.
const MAX_BLOCK_BYTES: usize = 32 * 1024;

/// Blocks with a longer line are not highlighted: the cost grows faster than the length of the line.
const MAX_LINE_BYTES: usize = 2_000;

/// Blocks with more opening brackets on a line are not highlighted, because the brackets may be nested.
const MAX_LINE_BRACKETS: usize = 100;

/// Blocks with more nested scopes are not highlighted: the cost of a token is proportional to them.
const MAX_SCOPES: usize = 200;

/// Size of the cache at which it is cleared.
const MAX_CACHED_BYTES: usize = 64 * 1024 * 1024;

/// Common languages of code blocks, for suggestions; further ones are known by the name or the file extension of their grammar.
pub const LANGUAGES: [&str; 34] = [
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

/// Returns whether code in a language is highlighted. Loads the grammars only for languages that are not common.
pub(crate) fn is_known(language: &str) -> bool {
    LANGUAGES.contains(&language) || grammar(language).is_some()
}

/// Returns the name of the grammar of a language.
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

type Cache = HashMap<(String, String), Arc<str>>;

/// HTML by language and code.
static CACHE: LazyLock<Mutex<(usize, Cache)>> = LazyLock::new(Mutex::default);

/// Highlights code. Only escapes code in unknown languages, and code that exceeds the limits of this file.
pub fn highlight(language: &str, code: &str) -> Arc<str> {
    if code.len() > MAX_BLOCK_BYTES || !is_known(language) {
        return SpanWriter::plain(code).into();
    }
    match language {
        "console" => return scanners::console(code).into(),
        "log" => return scanners::log(code).into(),
        "text" => return SpanWriter::plain(code).into(),
        _ if !code.lines().all(is_within_limits) => return SpanWriter::plain(code).into(),
        _ => {}
    }
    let key = (language.to_string(), code.to_string());
    if let Some(html) = CACHE.lock().unwrap_or_else(PoisonError::into_inner).1.get(&key) {
        return html.clone();
    }
    let html: Arc<str> =
        highlight_by_grammar(language, code).unwrap_or_else(|| SpanWriter::plain(code)).into();
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

fn is_within_limits(line: &str) -> bool {
    line.len() <= MAX_LINE_BYTES
        && line.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count() <= MAX_LINE_BRACKETS
}

fn highlight_by_grammar(language: &str, code: &str) -> Option<String> {
    let syntax = grammar(language)?;
    let mut state = LineState::start(syntax);
    let mut spans = SpanWriter::default();
    for line in code.split_inclusive('\n') {
        let parse = |parser: &mut ParserState| parse_line(line, parser);
        let (tokens, next) = state.parse(&syntax.name, line, parse)?;
        let mut at = 0;
        for (class, length) in &*tokens {
            let end = at + *length as usize;
            spans.push(*class, line.get(at..end)?);
            at = end;
        }
        state = next;
    }
    Some(spans.finish())
}

/// Splits a line into tokens; `None` if the scopes are nested too deeply or the grammar fails.
fn parse_line(line: &str, state: &mut ParserState) -> Option<Vec<LineToken>> {
    let length = |bytes: usize| u32::try_from(bytes).ok();
    let ParserState { grammar, scopes } = state;
    let mut classes = HashMap::new();
    let mut tokens = Vec::new();
    let mut at = 0;
    for (end, change) in grammar.parse_line(line, &GRAMMARS).ok()? {
        if end > at {
            tokens.push((class_of(scopes, line.get(at..end)?, &mut classes), length(end - at)?));
            at = end;
        }
        scopes.apply(&change).ok()?;
    }
    tokens.push((class_of(scopes, line.get(at..)?, &mut classes), length(line.len() - at)?));
    (scopes.len() <= MAX_SCOPES).then_some(tokens)
}

static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

fn grammar(language: &str) -> Option<&'static SyntaxReference> {
    let token = grammar_token(language);
    GRAMMARS.find_syntax_by_token(token)
}

/// Class of each scope prefix; the first match counts. `None` continues with the enclosing scope.
const RULES: &[(&str, Option<TokenClass>)] = &[
    ("comment", Some(TokenClass::Comment)),
    ("punctuation.definition.comment", Some(TokenClass::Comment)),
    ("punctuation.definition.variable", Some(TokenClass::Variable)),
    ("punctuation.definition", None),
    ("punctuation.section.expansion", Some(TokenClass::Variable)),
    ("punctuation", Some(TokenClass::Operator)),
    ("string.unquoted", None),
    ("string", Some(TokenClass::String)),
    ("constant.character", Some(TokenClass::String)),
    ("constant", Some(TokenClass::Number)),
    ("keyword.operator", Some(TokenClass::Operator)),
    ("keyword.name.ini", Some(TokenClass::Type)),
    ("keyword", Some(TokenClass::Keyword)),
    ("storage.type.numeric", Some(TokenClass::Number)),
    ("storage.type.string", Some(TokenClass::String)),
    ("storage", Some(TokenClass::Keyword)),
    ("entity.name.function", Some(TokenClass::Function)),
    ("entity.other.attribute-name", Some(TokenClass::Variable)),
    ("entity", Some(TokenClass::Type)),
    ("support.function", Some(TokenClass::Function)),
    ("support.variable", Some(TokenClass::Variable)),
    ("support.constant", Some(TokenClass::Number)),
    ("support", Some(TokenClass::Type)),
    ("variable.function", Some(TokenClass::Function)),
    ("variable.language", Some(TokenClass::Keyword)),
    ("variable", Some(TokenClass::Variable)),
    ("markup.inserted", Some(TokenClass::String)),
    ("markup.deleted", Some(TokenClass::Keyword)),
    ("markup.heading", Some(TokenClass::Type)),
    ("meta.diff", Some(TokenClass::Comment)),
];

static SCOPES: LazyLock<Vec<(Scope, Option<TokenClass>)>> = LazyLock::new(|| {
    RULES.iter().map(|(name, class)| (Scope::new(name).expect("the scope is valid"), *class)).collect()
});

/// Scope of the keys of a mapping, which are strings in the grammar of JSON.
static MAPPING_KEY: LazyLock<Scope> =
    LazyLock::new(|| Scope::new("meta.mapping.key").expect("the scope is valid"));

/// Returns the class of the innermost scope that has one.
fn class_of(
    stack: &ScopeStack,
    text: &str,
    classes: &mut HashMap<Scope, Option<TokenClass>>,
) -> Option<TokenClass> {
    let scopes = stack.as_slice();
    let class = scopes.iter().rev().find_map(|scope| {
        *classes.entry(*scope).or_insert_with(|| {
            SCOPES.iter().find(|(rule, _)| rule.is_prefix_of(*scope)).and_then(|(_, class)| *class)
        })
    });
    match class {
        Some(TokenClass::String) if scopes.iter().any(|scope| MAPPING_KEY.is_prefix_of(*scope)) => {
            Some(TokenClass::Type)
        }
        // `not`, `in` and `is` are operators in grammars.
        Some(TokenClass::Operator) if text.starts_with(|first: char| first.is_alphabetic()) => {
            Some(TokenClass::Keyword)
        }
        other => other,
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
        assert!(LANGUAGES.is_sorted(), "sorted");
    }
}
