//! Lexes JSON, with comments.

use crate::markdown::lexers::{COMMENT, Lexer, NUMBER, OPERATOR, STRING, TYPE, is_word, quoted_length};

pub(super) fn lex(lexer: &mut Lexer<'_>) {
    while let Some(next) = lexer.next() {
        match next {
            '"' => {
                let length = quoted_length(lexer.rest, "\"", Some('\\'));
                let is_key = lexer.rest[length..].trim_start().starts_with(':');
                lexer.take(if is_key { TYPE } else { STRING }, length);
            }
            '{' | '}' | '[' | ']' | ':' | ',' => {
                lexer.take(OPERATOR, 1);
            }
            '/' if lexer.starts("//") => lexer.line(COMMENT),
            '-' | '0'..='9' => {
                lexer.take(NUMBER, lexer.run(|next| is_word(next) || matches!(next, '.' | '-' | '+')));
            }
            _ => {
                let length = lexer.run(is_word);
                let is_constant = matches!(&lexer.rest[..length], "true" | "false" | "null");
                lexer.take(if is_constant { NUMBER } else { None }, length);
            }
        }
    }
}
