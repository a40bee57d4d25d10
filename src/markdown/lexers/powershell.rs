//! Lexes PowerShell: cmdlets, variables, strings, operators.

use crate::markdown::lexers::{
    COMMENT, FUNCTION, KEYWORD, Lexer, NUMBER, OPERATOR, STRING, VARIABLE, is_number, is_word, run,
};

/// Verbs of cmdlets.
#[rustfmt::skip]
const VERBS: &[&str] = &[
    "add", "clear", "compare", "convert", "convertfrom", "convertto", "copy", "disable", "enable", "enter", "exit",
    "expand", "export", "find", "foreach", "format", "get", "import", "install", "invoke", "join", "measure", "move",
    "new", "open", "out", "pop", "push", "read", "remove", "rename", "resolve", "restart", "resume", "save", "select",
    "set", "sort", "split", "start", "stop", "suspend", "tee", "test", "uninstall", "unblock", "update", "wait",
    "where", "write",
];

#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "begin", "break", "catch", "continue", "do", "else", "elseif", "end", "finally", "for", "foreach", "function", "if",
    "in", "param", "process", "return", "switch", "throw", "try", "until", "while",
];

#[rustfmt::skip]
const OPERATORS: &[&str] = &[
    "-and", "-as", "-contains", "-eq", "-f", "-ge", "-gt", "-in", "-is", "-join", "-le", "-like", "-lt", "-match", "-ne",
    "-not", "-notcontains", "-notin", "-notlike", "-notmatch", "-or", "-replace", "-split",
];

pub(super) fn lex(lexer: &mut Lexer<'_>) {
    while let Some(next) = lexer.next() {
        match next {
            '#' => lexer.line(COMMENT),
            '\'' => lexer.quoted(STRING, "'", None),
            '"' => string(lexer),
            '$' => variable(lexer),
            '-' | '0'..='9' => {
                let length = 1 + run(&lexer.rest[1..], |next| is_word(next) || next == '.');
                let word = &lexer.rest[..length];
                let is_number = is_number(word);
                if is_number || OPERATORS.contains(&word) {
                    lexer.take(if is_number { NUMBER } else { OPERATOR }, length);
                } else {
                    lexer.take(
                        if next == '-' { OPERATOR } else { None },
                        if next == '-' { 1 } else { length },
                    );
                }
            }
            '[' if lexer.rest[1..].starts_with(|next: char| next.is_ascii_alphabetic()) => {
                lexer.take(OPERATOR, 1);
                lexer.take(KEYWORD, lexer.run(|next| is_word(next) || next == '.'));
            }
            '|' | '&' | ';' | ',' | '=' | '+' | '*' | '/' | '<' | '>' | '!' | '?' | '(' | ')' | '[' | ']'
            | '{' | '}' | '%' => {
                lexer.take(OPERATOR, 1);
            }
            _ if is_word(next) => word(lexer),
            _ => {
                lexer.take(None, next.len_utf8());
            }
        }
    }
}

/// Takes a string with its variables.
fn string(lexer: &mut Lexer<'_>) {
    lexer.take(STRING, 1);
    while let Some(next) = lexer.next() {
        match next {
            '"' => {
                lexer.take(STRING, 1);
                return;
            }
            '`' => {
                lexer.take(STRING, 1 + lexer.rest[1..].chars().next().map_or(0, char::len_utf8));
            }
            '$' => variable(lexer),
            _ => {
                lexer.take(STRING, lexer.run(|next| !matches!(next, '"' | '`' | '$')));
            }
        }
    }
}

fn variable(lexer: &mut Lexer<'_>) {
    let length = run(&lexer.rest[1..], |next| is_word(next) || next == ':');
    let name = &lexer.rest[1..1 + length];
    lexer.take(VARIABLE, 1);
    let is_constant = ["null", "true", "false", "home"].contains(&name.to_ascii_lowercase().as_str());
    if length > 0 {
        lexer.take(if is_constant { NUMBER } else { VARIABLE }, length);
    }
    while lexer.starts(".") && lexer.rest[1..].starts_with(is_word) {
        lexer.take(VARIABLE, 1 + run(&lexer.rest[1..], is_word));
    }
}

/// Takes a cmdlet, a program, a keyword or text without a class.
fn word(lexer: &mut Lexer<'_>) {
    let word = &lexer.rest[..lexer.run(is_word)];
    let after = &lexer.rest[word.len()..];
    let lower = word.to_ascii_lowercase();
    let program = lexer.run(|next| is_word(next) || next == '-');
    let noun = after.strip_prefix('-').map_or(0, |noun| run(noun, is_word));
    if noun > 0 && VERBS.contains(&lower.as_str()) {
        lexer.take(FUNCTION, word.len() + 1 + noun);
    } else if [".exe", ".bat", ".cmd", ".ps1"].iter().any(|end| lexer.rest[program..].starts_with(end)) {
        lexer.take(FUNCTION, program + 4);
    } else if KEYWORDS.contains(&lower.as_str()) {
        lexer.take(KEYWORD, word.len());
    } else {
        lexer.take(None, word.len());
    }
}
