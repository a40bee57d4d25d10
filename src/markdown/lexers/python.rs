//! Lexes Python: keywords, calls, keyword arguments, strings.

use crate::markdown::lexers::{
    COMMENT, Class, FUNCTION, KEYWORD, Lexer, NUMBER, OPERATOR, STRING, TYPE, VARIABLE, is_word,
    quoted_length, run,
};

#[rustfmt::skip]
const WORDS: &[(Class, &[&str])] = &[
    (
        KEYWORD,
        &[
            "and", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "else",
            "except", "finally", "for", "from", "global", "if", "import", "in", "is", "lambda", "nonlocal", "not",
            "or", "pass", "raise", "return", "self", "try", "while", "with", "yield",
        ],
    ),
    (NUMBER, &["False", "None", "True"]),
    (
        TYPE,
        &[
            "BaseException", "Exception", "ImportError", "KeyError", "OSError", "RuntimeError", "TypeError",
            "ValueError", "bool", "bytes", "dict", "float", "int", "list", "object", "set", "str", "tuple",
        ],
    ),
];

pub(super) fn lex(lexer: &mut Lexer<'_>) {
    // Open brackets: `(` of a call is `c`, of a definition `d`.
    let mut open = Vec::new();
    // The word or the character before, without white space.
    let mut before = "";
    let mut defines = false;
    while let Some(next) = lexer.next() {
        if next.is_whitespace() {
            if lexer.take(None, lexer.run(char::is_whitespace)).contains('\n') && open.is_empty() {
                before = "";
            }
            continue;
        }
        before = match next {
            '#' => {
                lexer.line(COMMENT);
                before
            }
            '"' | '\'' => string(lexer, before, open.last().copied()),
            '0'..='9' => lexer.take(NUMBER, number_length(lexer.rest)),
            '.' if lexer.starts("...") => lexer.take(NUMBER, 3),
            '@' => {
                let decorates = before.is_empty();
                lexer.take(if decorates { None } else { OPERATOR }, 1);
                if decorates { "@" } else { "=" }
            }
            _ if is_word(next) => {
                defines = before == "def";
                word(lexer, before, open.last().copied())
            }
            _ => {
                let is_call = before.ends_with(is_word) && class_of(WORDS, before) != KEYWORD;
                match next {
                    '(' if defines => open.push('d'),
                    '(' if is_call => open.push('c'),
                    '(' => open.push('('),
                    '[' | '{' => open.push(next),
                    ')' | ']' | '}' => {
                        open.pop();
                    }
                    _ => {}
                }
                lexer.take(OPERATOR, next.len_utf8())
            }
        };
    }
}

/// Length of a number, with the sign of its exponent.
fn number_length(text: &str) -> usize {
    let length = run(text, |next| is_word(next) || next == '.');
    let has_exponent = text[..length].ends_with(['e', 'E']) && !text.starts_with("0x");
    match text[length..].strip_prefix(['-', '+']) {
        Some(exponent) if has_exponent => length + 1 + run(exponent, |next| next.is_ascii_digit()),
        _ => length,
    }
}

/// Takes a string with its prefix. The key of a dictionary has the class of a type, a string that is a statement that of a comment.
fn string<'c>(lexer: &mut Lexer<'c>, before: &str, inside: Option<char>) -> &'c str {
    let prefix = lexer.run(is_word);
    let text = &lexer.rest[prefix..];
    let quote =
        ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| text.starts_with(quote)).unwrap_or("\"");
    let length = prefix + quoted_length(text, quote, Some('\\'));
    let class = match inside {
        Some('{') if lexer.rest[length..].trim_start().starts_with(':') => TYPE,
        None if before.is_empty() && quote.len() == 3 => COMMENT,
        _ => STRING,
    };
    lexer.take(class, length);
    "\""
}

fn word<'c>(lexer: &mut Lexer<'c>, before: &str, inside: Option<char>) -> &'c str {
    let length = lexer.run(is_word);
    let (word, after) = lexer.rest.split_at(length);
    let after = after.trim_start_matches(' ');
    if length <= 2
        && lexer.rest[length..].starts_with(['"', '\''])
        && word.bytes().all(|byte| b"bfruBFRU".contains(&byte))
    {
        return string(lexer, before, inside);
    }
    let is_constant = word.len() > 1
        && word.starts_with(|first: char| first.is_ascii_uppercase())
        && !word.contains(char::is_lowercase);
    let class = match class_of(WORDS, word) {
        _ if inside == Some('d') && matches!(before, "(" | "," | "*") => VARIABLE,
        _ if before == "." && after.starts_with('(') => FUNCTION,
        Some(class) if before != "." => Some(class),
        _ if before == "class" => TYPE,
        _ if before == "def" || after.starts_with('(') => FUNCTION,
        _ if inside == Some('c') && after.starts_with('=') && !after.starts_with("==") => VARIABLE,
        _ if (before == "@" && !after.starts_with('.'))
            || is_constant
            || (word.starts_with("__") && word.ends_with("__")) =>
        {
            VARIABLE
        }
        _ => None,
    };
    lexer.take(class, length)
}

fn class_of(table: &[(Class, &[&str])], word: &str) -> Class {
    table.iter().find(|(_, words)| words.contains(&word)).and_then(|(class, _)| *class)
}
