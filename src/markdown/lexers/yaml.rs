//! Lexes YAML: keys, quoted strings, numbers, block scalars.

use crate::markdown::lexers::{
    COMMENT, KEYWORD, Lexer, NUMBER, OPERATOR, STRING, TYPE, is_number, quoted_length, run,
};

pub(super) fn lex(lexer: &mut Lexer<'_>) {
    // Whether a value can start here.
    let mut starts = true;
    // Open brackets and braces.
    let mut flow = 0_usize;
    let mut indent = lexer.run(|next| next == ' ');
    while let Some(next) = lexer.next() {
        match next {
            '\n' | '[' | ']' | '{' | '}' | ',' => {
                match next {
                    '[' | '{' if starts => flow += 1,
                    ']' | '}' => flow = flow.saturating_sub(1),
                    _ => {}
                }
                lexer.take(if next == ',' { OPERATOR } else { None }, 1);
                starts = true;
                if next == '\n' {
                    indent = lexer.run(|next| next == ' ');
                }
            }
            '-' if starts && indent == 0 && lexer.starts("---") => {
                lexer.take(TYPE, 3);
            }
            _ if next.is_whitespace() => {
                lexer.take(None, 1);
                if lexer.starts("#") {
                    lexer.line(COMMENT);
                }
            }
            '#' if starts => lexer.line(COMMENT),
            '-' if starts && lexer.starts("- ") => {
                lexer.take(None, 1);
            }
            '|' | '>' if starts && flow == 0 => {
                lexer.take(KEYWORD, lexer.run(|next| matches!(next, '|' | '>' | '+' | '-' | '0'..='9')));
                lexer.take(None, block_length(lexer.rest, indent));
                starts = true;
            }
            '"' | '\'' if starts => {
                let escape = (next == '"').then_some('\\');
                let length = quoted_length(lexer.rest, if next == '"' { "\"" } else { "'" }, escape);
                let is_key = lexer.rest[length..].starts_with(':');
                lexer.take(if is_key { TYPE } else { STRING }, length);
                starts = false;
            }
            ':' => {
                let ends =
                    lexer.rest[1..].starts_with(|next: char| next.is_whitespace()) || lexer.rest == ":";
                lexer.take(if ends { OPERATOR } else { None }, 1);
                starts = ends;
            }
            _ => {
                let length = lexer.run(|next| next != '\n' && (flow == 0 || !",[]{}".contains(next)));
                let text = &lexer.rest[..length];
                let text = &text[..text.find(" #").unwrap_or(length)];
                let key = text.find(": ").or_else(|| text.ends_with(':').then(|| text.len() - 1));
                match key.filter(|_| starts) {
                    Some(key) => {
                        lexer.take(TYPE, key);
                    }
                    None => {
                        let word = text.trim_end();
                        let is_constant =
                            matches!(word, "true" | "false" | "null" | "yes" | "no" | "~") || is_number(word);
                        lexer.take(if starts && is_constant { NUMBER } else { None }, text.len());
                    }
                }
                starts = false;
            }
        }
    }
}

/// Length of the rest of a line and of the lines after it that are indented further.
fn block_length(text: &str, indent: usize) -> usize {
    let mut lines = text.split_inclusive('\n');
    let mut length = lines.next().map_or(0, str::len);
    for line in lines {
        if !line.trim().is_empty() && run(line, |next| next == ' ') <= indent {
            break;
        }
        length += line.len();
    }
    // The next line starts with its line break.
    length - usize::from(text[..length].ends_with('\n'))
}
