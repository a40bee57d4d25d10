//! Highlights code as HTML with a dozen token classes.
//!
//! The scopes of a grammar would make a block many times larger. Each scope maps to a [`TokenClass`], adjacent tokens of one class
//! share a span, and white space has none.

use std::collections::HashMap;
use std::sync::LazyLock;

use syntect::parsing::{Scope, ScopeStack, SyntaxReference, SyntaxSet};

use crate::markdown::lexers;
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
        "http" => "HTTP Request and Response",
        other => other,
    }
}

/// Highlights code. Only escapes code in unknown languages, and code that exceeds the limits of this file.
pub fn highlight(language: &str, code: &str) -> String {
    let is_long = code.len() > MAX_BLOCK_BYTES;
    match language {
        "console" if !is_long => scanners::console(code),
        "log" if !is_long => scanners::log(code),
        _ if is_long || language == "text" || !code.lines().all(is_within_limits) => SpanWriter::plain(code),
        _ => match lexers::of(language) {
            Some(lex) => lexers::highlight(lex, code),
            None => highlight_by_grammar(language, code).unwrap_or_else(|| SpanWriter::plain(code)),
        },
    }
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
    use std::path::Path;

    use super::*;

    #[test]
    fn every_language_has_a_lexer_or_a_grammar() {
        for language in LANGUAGES {
            let has_lexer = matches!(language, "console" | "log" | "text") || lexers::of(language).is_some();
            assert!(has_lexer || grammar(language).is_some(), "{language}");
        }
        assert!(LANGUAGES.is_sorted(), "sorted");
    }

    /// Adds the class of each visible character of HTML.
    fn classes(html: &str) -> String {
        let mut classes = String::new();
        for piece in html.split("<span class=\"") {
            let (inside, after) = piece.split_once("</span>").unwrap_or(("", piece));
            let (class, inside) = inside.split_once("\">").unwrap_or(("", inside));
            for (class, text) in [(class, inside), ("-", after)] {
                classes
                    .extend(text.split_whitespace().flat_map(|word| class.chars().cycle().take(word.len())));
            }
        }
        classes
    }

    fn code_blocks(folder: &Path, blocks: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                code_blocks(&path, blocks);
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap();
            for block in text.split("\n```").skip(1).step_by(2) {
                let (language, code) = block.split_once('\n').unwrap();
                let language = language.split(' ').next().unwrap_or_default();
                blocks.push((language.to_string(), format!("{code}\n")));
            }
        }
    }

    #[test]
    fn lexers_agree_with_grammars() {
        let mut blocks = Vec::new();
        code_blocks(Path::new("content/guides"), &mut blocks);
        code_blocks(Path::new("content/errors"), &mut blocks);
        blocks.sort();
        blocks.dedup();
        // The grammar of PowerShell needs Oniguruma.
        for language in ["bash", "json", "python", "yaml"] {
            let lex = lexers::of(language).unwrap();
            let own: Vec<_> = blocks.iter().filter(|(own, _)| own == language).collect();
            let (mut characters, mut different, mut blocks) = (0, 0, String::new());
            for (_, code) in own.iter().step_by(1 + own.len() / 400) {
                let ours = classes(&lexers::highlight(lex, code));
                let theirs = classes(&highlight_by_grammar(language, code).unwrap());
                assert_eq!(ours.len(), theirs.len(), "{code}");
                characters += ours.len();
                different += ours.bytes().zip(theirs.bytes()).filter(|(one, other)| one != other).count();
                if ours != theirs {
                    blocks.push_str(&format!("{code}{ours}\n{theirs}\n"));
                }
            }
            assert!(
                different * 100 < characters,
                "{language}: {different} of {characters} differ:\n{blocks}"
            );
        }
    }
}
