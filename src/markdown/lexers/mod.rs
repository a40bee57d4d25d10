//! Lexers of the most common languages of code blocks: bash, JSON, PowerShell, Python and YAML.
//!
//! They yield the classes of the grammars that color all other languages, and take linear time for any text. A character that no
//! rule knows has no class.

mod bash;
mod json;
mod powershell;
mod python;
mod yaml;

use crate::markdown::span_writer::{SpanWriter, TokenClass};

/// Splits code into tokens.
pub(crate) type Lex = fn(&mut Lexer<'_>);

/// Returns the lexer of a language.
pub(crate) fn of(language: &str) -> Option<Lex> {
    match language {
        "bash" | "sh" | "shell" => Some(bash::lex),
        "json" => Some(json::lex),
        "powershell" | "ps1" => Some(powershell::lex),
        "py" | "python" => Some(python::lex),
        "yaml" | "yml" => Some(yaml::lex),
        _ => None,
    }
}

/// Highlights code with a lexer.
pub(crate) fn highlight(lex: Lex, code: &str) -> String {
    let mut lexer = Lexer { rest: code, spans: SpanWriter::default() };
    lex(&mut lexer);
    lexer.spans.finish()
}

type Class = Option<TokenClass>;
const KEYWORD: Class = Some(TokenClass::Keyword);
const STRING: Class = Some(TokenClass::String);
const COMMENT: Class = Some(TokenClass::Comment);
const NUMBER: Class = Some(TokenClass::Number);
const FUNCTION: Class = Some(TokenClass::Function);
const VARIABLE: Class = Some(TokenClass::Variable);
const OPERATOR: Class = Some(TokenClass::Operator);
const TYPE: Class = Some(TokenClass::Type);

/// Code that remains, and the tokens before it.
pub(crate) struct Lexer<'c> {
    rest: &'c str,
    spans: SpanWriter,
}

impl<'c> Lexer<'c> {
    fn next(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn starts(&self, text: &str) -> bool {
        self.rest.starts_with(text)
    }

    /// Takes at least one character, so that each step advances.
    fn take(&mut self, class: Class, length: usize) -> &'c str {
        let least = self.next().map_or(0, char::len_utf8);
        let (token, rest) = self.rest.split_at(length.clamp(least, self.rest.len()));
        self.spans.push(class, token);
        self.rest = rest;
        token
    }

    /// Length of the characters at the start for which `within` is true.
    fn run(&self, within: impl Fn(char) -> bool) -> usize {
        run(self.rest, within)
    }

    /// Takes the rest of the line.
    fn line(&mut self, class: Class) {
        self.take(class, self.run(|next| next != '\n'));
    }

    /// Takes text up to and including the closing quote, or to the end of the code.
    fn quoted(&mut self, class: Class, quote: &str, escape: Option<char>) {
        self.take(class, quoted_length(self.rest, quote, escape));
    }
}

fn run(text: &str, within: impl Fn(char) -> bool) -> usize {
    text.find(|next| !within(next)).unwrap_or(text.len())
}

/// Length of quoted text with its quotes.
fn quoted_length(text: &str, quote: &str, escape: Option<char>) -> usize {
    let mut at = quote.len();
    while let Some(next) = text[at..].chars().next() {
        if text[at..].starts_with(quote) {
            return at + quote.len();
        }
        at += next.len_utf8();
        if Some(next) == escape {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    at
}

fn is_word(next: char) -> bool {
    next.is_alphanumeric() || next == '_'
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['-', '+']);
    digits.starts_with(|first: char| first.is_ascii_digit()) && digits.parse::<f64>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Marks each token with its class.
    fn marked(language: &str, code: &str) -> String {
        let html = highlight(of(language).unwrap(), code);
        html.replace("<span class=\"", "[").replace("\">", " ").replace("</span>", "]")
    }

    #[test]
    fn highlights_each_language() {
        for (language, code, tokens) in [
            ("bash", "A=1 run -v --x=$Y # z", "[v A][o =]1 [f run] [v -v --x][o =][v $Y] [c # z]"),
            (
                "bash",
                "x <<E | y\nit's\nE\n(z)",
                "[f x] [o &lt;&lt;][k E] [o |] [f y]\nit&#39;s\n[k E]\n[o (][f z][o )]",
            ),
            (
                "json",
                "{\"a\": [1.5, \"b\"]}",
                "[o {][t &quot;a&quot;][o : [][n 1.5][o ,] [s &quot;b&quot;][o ]}]",
            ),
            (
                "powershell",
                "$env:A = \"$b c\"; Get-Item x",
                "[v $env:A] [o =] [s &quot;][v $b] [s c&quot;][o ;] [f Get-Item] x",
            ),
            (
                "python",
                "def f(a): return g(b=1e-5)",
                "[k def] [f f][o (][v a][o ):] [k return] [f g][o (][v b][o =][n 1e-5][o )]",
            ),
            (
                "yaml",
                "a: true # b\nc: |\n  d: 1\ne: \"f\"",
                "[t a][o :] [n true] [c # b]\n[t c][o :] [k |]\n  d: 1\n[t e][o :] [s &quot;f&quot;]",
            ),
        ] {
            assert_eq!(marked(language, code), tokens, "{language}");
        }
    }

    #[test]
    fn keeps_all_text() {
        for language in ["bash", "json", "powershell", "python", "yaml"] {
            for first in "\"'`$(){}[]<>\\#-:|&;@~*=é\n ".chars() {
                for last in "\"'`$({<\\-|é\n".chars() {
                    let code = format!("a{first}{last}");
                    let html = highlight(of(language).unwrap(), &code);
                    let text =
                        html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text));
                    let mut escaped = String::new();
                    crate::markdown::html::escape_into(&mut escaped, &code);
                    assert_eq!(text.collect::<String>(), escaped, "{language}");
                }
            }
        }
    }
}
