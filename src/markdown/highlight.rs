//! Code as HTML with a dozen token classes.
//!
//! A grammar's scopes would blow a block up many times over, so each scope is one of the letters of
//! [`Class`], neighbors of one class share a span, and white space has none.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use syntect::parsing::{Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::markdown::lines::{Between, Place, Token};
use crate::markdown::scanners;
use crate::markdown::spans::{Class, Spans};

/// Longer blocks stay plain: grammars take milliseconds a kilobyte.
const MAX_BLOCK_BYTES: usize = 32 * 1024;

/// Blocks with a longer line stay plain: a grammar's cost grows faster than the length of a line.
const MAX_LINE_BYTES: usize = 2_000;

/// Blocks with more opening brackets on a line stay plain, since those may all lie in each other.
const MAX_LINE_BRACKETS: usize = 100;

/// Blocks that nest deeper than this stay plain: every token costs what lies around it.
const MAX_SCOPES: usize = 200;

/// What the cache may hold before it starts anew.
const MAX_CACHED_BYTES: usize = 64 * 1024 * 1024;

/// Languages that a code block may name.
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

type Cache = HashMap<(String, String), Arc<str>>;

/// Results by language and code. A pure cache: the same question has the same answer with or without it.
static CACHE: LazyLock<Mutex<(usize, Cache)>> = LazyLock::new(Mutex::default);

/// Highlights `code`; the text of the result is `code`, whatever the language. Unknown languages and
/// what would take a grammar long are escaped and nothing else.
pub fn highlight(language: &str, code: &str) -> Arc<str> {
    if code.len() > MAX_BLOCK_BYTES || !is_known(language) {
        return Spans::plain(code).into();
    }
    match language {
        "console" => return scanners::console(code).into(),
        "log" => return scanners::log(code).into(),
        "text" => return Spans::plain(code).into(),
        _ if !code.lines().all(is_light) => return Spans::plain(code).into(),
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

fn is_light(line: &str) -> bool {
    line.len() <= MAX_LINE_BYTES
        && line.bytes().filter(|byte| matches!(byte, b'(' | b'[' | b'{')).count() <= MAX_LINE_BRACKETS
}

fn by_grammar(language: &str, code: &str) -> Option<String> {
    let syntax = grammar(language)?;
    let mut place = Place::start(syntax);
    let mut spans = Spans::default();
    for line in code.split_inclusive('\n') {
        let read = |between: &mut Between| read_line(line, between);
        let (tokens, next) = place.read(&syntax.name, line, read)?;
        let mut at = 0;
        for (class, length) in &*tokens {
            let end = at + *length as usize;
            spans.push(*class, line.get(at..end)?);
            at = end;
        }
        place = next;
    }
    Some(spans.finish())
}

/// The parts of a line with their classes, as its grammar has them; none for what would take it long.
fn read_line(line: &str, between: &mut Between) -> Option<Vec<Token>> {
    let length = |bytes: usize| u32::try_from(bytes).ok();
    let Between { state, scopes } = between;
    let mut classes = HashMap::new();
    let mut tokens = Vec::new();
    let mut at = 0;
    for (end, change) in state.parse_line(line, &GRAMMARS).ok()? {
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

/// What a scope's beginning says; the first line that fits counts. `None` hands on to the scope around.
const RULES: &[(&str, Option<Class>)] = &[
    ("comment", Some(Class::Comment)),
    ("punctuation.definition.comment", Some(Class::Comment)),
    ("punctuation.definition.variable", Some(Class::Variable)),
    ("punctuation.definition", None),
    ("punctuation.section.expansion", Some(Class::Variable)),
    ("punctuation", Some(Class::Operator)),
    ("string.unquoted", None),
    ("string", Some(Class::String)),
    ("constant.character", Some(Class::String)),
    ("constant", Some(Class::Number)),
    ("keyword.operator", Some(Class::Operator)),
    ("keyword.name.ini", Some(Class::Type)),
    ("keyword", Some(Class::Keyword)),
    ("storage.type.numeric", Some(Class::Number)),
    ("storage.type.string", Some(Class::String)),
    ("storage", Some(Class::Keyword)),
    ("entity.name.function", Some(Class::Function)),
    ("entity.other.attribute-name", Some(Class::Variable)),
    ("entity", Some(Class::Type)),
    ("support.function", Some(Class::Function)),
    ("support.variable", Some(Class::Variable)),
    ("support.constant", Some(Class::Number)),
    ("support", Some(Class::Type)),
    ("variable.function", Some(Class::Function)),
    ("variable.language", Some(Class::Keyword)),
    ("variable", Some(Class::Variable)),
    ("markup.inserted", Some(Class::String)),
    ("markup.deleted", Some(Class::Keyword)),
    ("markup.heading", Some(Class::Type)),
    ("meta.diff", Some(Class::Comment)),
];

static SCOPES: LazyLock<Vec<(Scope, Option<Class>)>> = LazyLock::new(|| {
    RULES.iter().map(|(name, class)| (Scope::new(name).expect("a rule names a scope"), *class)).collect()
});

/// The keys of a mapping are strings to JSON's grammar; a reader tells them from the values.
static MAPPING_KEY: LazyLock<Scope> =
    LazyLock::new(|| Scope::new("meta.mapping.key").expect("a rule names a scope"));

/// The class of the innermost scope that has one.
fn class_of(stack: &ScopeStack, text: &str, classes: &mut HashMap<Scope, Option<Class>>) -> Option<Class> {
    let scopes = stack.as_slice();
    let class = scopes.iter().rev().find_map(|scope| {
        *classes.entry(*scope).or_insert_with(|| {
            SCOPES.iter().find(|(rule, _)| rule.is_prefix_of(*scope)).and_then(|(_, class)| *class)
        })
    });
    match class {
        Some(Class::String) if scopes.iter().any(|scope| MAPPING_KEY.is_prefix_of(*scope)) => {
            Some(Class::Type)
        }
        // `not`, `in`, `is`: operators to a grammar, words to a reader.
        Some(Class::Operator) if text.starts_with(|first: char| first.is_alphabetic()) => {
            Some(Class::Keyword)
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
        assert!(LANGUAGES.is_sorted(), "in the order of the alphabet");
    }
}
