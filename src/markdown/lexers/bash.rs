//! Lexes bash: programs, options, variables, strings, redirections.

use crate::markdown::lexers::{
    COMMENT, FUNCTION, KEYWORD, Lexer, NUMBER, OPERATOR, STRING, VARIABLE, is_word, run,
};

#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "break", "case", "continue", "declare", "do", "done", "elif", "else", "esac", "exit", "export", "fi", "for",
    "function", "if", "local", "readonly", "return", "select", "then", "time", "typeset", "until", "while",
];

/// An open construct in bash that ends with its character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Open {
    Quote,
    Parens,
    Backtick,
}

/// The part of a command that a word of bash can be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The program, or an assignment before it.
    Command,
    /// An assignment after `export`.
    Assignment,
    /// An argument.
    Argument,
    /// An argument after `--`.
    Operand,
    /// The rest of a word.
    Word,
    /// The variable or the list of a loop.
    Loop,
}

pub(super) fn lex(lexer: &mut Lexer<'_>) {
    use Place::{Argument, Assignment, Command, Loop, Operand, Word};
    let mut open: Vec<(Open, Place)> = Vec::new();
    // The place of the next word, and of the current word if it goes on.
    let (mut place, mut current) = (Command, Command);
    // End of the text that starts on the next line.
    let mut heredoc = "";
    while let Some(next) = lexer.next() {
        let inner = open.last().map(|(kind, _)| *kind);
        match next {
            '"' if inner == Some(Open::Quote) => {
                lexer.take(STRING, 1);
                open.pop();
                current = Word;
            }
            '\\' if inner == Some(Open::Quote) => {
                lexer.take(STRING, 1 + lexer.rest[1..].chars().next().map_or(0, char::len_utf8));
            }
            '$' if lexer.starts("$(") => {
                settle(&mut place, current);
                lexer.take(VARIABLE, 1);
                lexer.take(OPERATOR, 1);
                open.push((Open::Parens, place));
                (place, current) = (Command, Command);
            }
            '$' => {
                settle(&mut place, current);
                variable(lexer);
                current = Word;
            }
            '`' if inner == Some(Open::Backtick) => {
                lexer.take(OPERATOR, 1);
                place = open.pop().map_or(Argument, |(_, place)| place);
                current = Word;
            }
            '`' => {
                settle(&mut place, current);
                lexer.take(OPERATOR, 1);
                open.push((Open::Backtick, place));
                (place, current) = (Command, Command);
            }
            _ if inner == Some(Open::Quote) => {
                lexer.take(STRING, lexer.run(|next| !matches!(next, '"' | '\\' | '$' | '`')));
            }
            ')' if inner == Some(Open::Parens) => {
                lexer.take(OPERATOR, 1);
                place = open.pop().map_or(Argument, |(_, place)| place);
                current = Word;
            }
            '\n' => {
                lexer.take(None, 1);
                let end = std::mem::take(&mut heredoc);
                while !end.is_empty() && !lexer.rest.is_empty() {
                    let length = lexer.run(|next| next != '\n');
                    if lexer.rest[..length].trim_start_matches('\t') == end {
                        lexer.take(KEYWORD, length);
                        break;
                    }
                    lexer.take(None, length + 1);
                }
                (place, current) = (Command, Command);
            }
            '\\' if lexer.starts("\\\n") => {
                lexer.take(OPERATOR, 1);
                lexer.take(None, 1);
                current = place;
            }
            '\\' => {
                settle(&mut place, current);
                lexer.take(STRING, 1 + lexer.rest[1..].chars().next().map_or(0, char::len_utf8));
                current = Word;
            }
            _ if next.is_whitespace() => {
                lexer.take(None, lexer.run(|next| next.is_whitespace() && next != '\n'));
                current = place;
            }
            '#' if current != Word => lexer.line(COMMENT),
            '\'' => {
                settle(&mut place, current);
                lexer.quoted(STRING, "'", None);
                current = Word;
            }
            '"' => {
                settle(&mut place, current);
                lexer.take(STRING, 1);
                open.push((Open::Quote, place));
            }
            '|' | '&' | ';' => {
                lexer.take(OPERATOR, 1);
                (place, current) = (Command, Command);
            }
            '<' | '>' => {
                let operator = lexer.run(|next| matches!(next, '<' | '>' | '&'));
                let operator = lexer.take(OPERATOR, operator);
                if operator.ends_with('&') {
                    let target = lexer.run(|next| next.is_ascii_digit());
                    if target > 0 {
                        lexer.take(NUMBER, target);
                    }
                }
                if operator == "<<" {
                    heredoc = heredoc_end(lexer);
                }
                current = if place == Command { Argument } else { Word };
            }
            '*' | '?' => {
                lexer.take(OPERATOR, 1);
                current = Word;
            }
            '{' | '}' if current != Command => {
                lexer.take(VARIABLE, 1);
                current = Word;
            }
            '{' | '}' | '!' if current == Command => {
                lexer.take(OPERATOR, 1);
            }
            '(' => {
                lexer.take(OPERATOR, 1);
                open.push((Open::Parens, place));
                place = if current == Command { Command } else { Operand };
                current = place;
            }
            '~' if current != Word => {
                lexer.take(KEYWORD, 1);
            }
            '-' if current == Argument
                && lexer.rest[1..].starts_with(|next| is_word(next) || next == '-') =>
            {
                let name = lexer.run(|next| is_word(next) || next == '-');
                let ends_options = lexer.rest[..name].bytes().all(|byte| byte == b'-');
                let name = lexer.take(if ends_options { OPERATOR } else { VARIABLE }, name);
                if name == "--" {
                    place = Operand;
                }
                if !ends_options && lexer.starts("=") {
                    lexer.take(OPERATOR, 1);
                }
                current = Word;
            }
            ']' if current == Argument => {
                lexer.take(FUNCTION, lexer.run(|next| next == ']'));
                current = Word;
            }
            _ => {
                let length = lexer.run(|next| !next.is_whitespace() && !"\"'`$\\|&;<>(){}*?".contains(next));
                let word = &lexer.rest[..length];
                let name = run(word, is_word);
                let assigns = name > 0 && word[name..].starts_with('=') && !next.is_ascii_digit();
                let after = &lexer.rest[length..];
                match current {
                    Command | Assignment if assigns => {
                        lexer.take(VARIABLE, name);
                        lexer.take(OPERATOR, 1);
                        if lexer.starts("~") {
                            lexer.take(KEYWORD, 1);
                        }
                    }
                    Assignment => {
                        lexer.take(VARIABLE, name);
                    }
                    Command if KEYWORDS.contains(&word) => {
                        lexer.take(KEYWORD, length);
                        place = match word {
                            "export" | "local" | "declare" | "readonly" | "typeset" => Assignment,
                            "for" | "case" | "select" => Loop,
                            "break" | "continue" | "exit" | "return" => Argument,
                            _ => Command,
                        };
                    }
                    Command => {
                        lexer.take(FUNCTION, length);
                        place = if after.starts_with("()") { Command } else { Argument };
                    }
                    Loop if word == "in" => {
                        lexer.take(KEYWORD, length);
                        place = Operand;
                    }
                    Argument | Operand | Loop
                        if after.starts_with(['<', '>'])
                            && word.bytes().all(|byte| byte.is_ascii_digit()) =>
                    {
                        lexer.take(NUMBER, length);
                    }
                    _ => {
                        lexer.take(None, length);
                    }
                }
                current = Word;
            }
        }
    }
}

/// Continues with arguments after a program whose name is quoted or a variable.
fn settle(place: &mut Place, current: Place) {
    if current == Place::Command {
        *place = Place::Argument;
    }
}

/// Takes the word after `<<`, quoted or not, and returns the line that ends the text.
fn heredoc_end<'c>(lexer: &mut Lexer<'c>) -> &'c str {
    let marks = lexer.run(|next| matches!(next, '-' | ' ' | '\'' | '"' | '\\'));
    let end = &lexer.rest[marks..];
    let end = &end[..run(end, is_word)];
    let quotes = run(&lexer.rest[marks + end.len()..], |next| matches!(next, '\'' | '"'));
    if !end.is_empty() {
        lexer.take(KEYWORD, marks + end.len() + quotes);
    }
    end
}

/// Takes `$NAME`, `${…}` or `$?`.
fn variable(lexer: &mut Lexer<'_>) {
    if lexer.starts("${") {
        return lexer.quoted(VARIABLE, "}", Some('\\'));
    }
    match lexer.rest[1..].chars().next() {
        Some(next) if is_word(next) => {
            lexer.take(VARIABLE, 1 + run(&lexer.rest[1..], is_word));
        }
        Some('?' | '@' | '#' | '*' | '!' | '$') => {
            lexer.take(VARIABLE, 1);
            lexer.take(KEYWORD, 1);
        }
        _ => {
            lexer.take(None, 1);
        }
    }
}
