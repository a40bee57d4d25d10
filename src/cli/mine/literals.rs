//! Finds the string literals of a source file, and the calls and statements that they are part of.

use std::path::Path;

use crate::cli::mine::site::Site;

/// Character that replaces a value in the text of a literal: an expression of an f-string, or of a concatenation.
pub(super) const VALUE: char = '\u{0}';
/// Maximum words of a statement that are compared with the names of error statements.
const STATEMENT_WORDS: usize = 8;
/// Maximum enclosing calls of a literal that are compared with the names of error functions.
const ENCLOSING_CALLS: usize = 3;
/// Maximum bytes between the parts of a concatenation.
const CONCATENATION: usize = 80;

/// Languages that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Language {
    /// C, C++, CUDA, Objective-C and Metal.
    C,
    Go,
    Python,
    Rust,
}

/// A string literal. Adjacent and concatenated literals are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Literal {
    /// 1-based line of its start.
    pub line: usize,
    /// Text without escapes; see [`VALUE`].
    pub text: String,
    /// How the text is reported; `None` if it is no message.
    pub site: Option<Site>,
}

impl Language {
    /// Returns the language of a file by its extension.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Some(match path.extension()?.to_str()? {
            "c" | "cc" | "cpp" | "cxx" | "h" | "hpp" | "cu" | "cuh" | "m" | "mm" | "metal" => Self::C,
            "go" => Self::Go,
            "py" => Self::Python,
            "rs" => Self::Rust,
            _ => return None,
        })
    }

    /// Whether a line end outside of parentheses ends a statement.
    fn ends_statements_at_lines(self) -> bool {
        matches!(self, Self::Go | Self::Python)
    }
}

/// Returns the literals of a file.
pub(super) fn literals(text: &str, language: Language) -> Vec<Literal> {
    let mut lexer = Lexer {
        text,
        language,
        at: 0,
        line: 1,
        path: String::new(),
        calls: Vec::new(),
        statement: Vec::new(),
        is_error_value: false,
        found: Vec::new(),
    };
    while lexer.at < text.len() {
        lexer.step();
    }
    lexer.found
}

/// The beginning of a literal.
struct Opening {
    length: usize,
    end: String,
    /// Whether backslashes are text.
    is_raw: bool,
    /// Whether braces contain expressions.
    has_values: bool,
}

impl Opening {
    fn plain(length: usize, end: &str) -> Self {
        Self { length, end: end.to_string(), is_raw: false, has_values: false }
    }
}

/// Returns the length of an expression in braces.
fn expression_length(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += match c {
            '{' => 1,
            '}' => -1,
            '\n' => return at,
            _ => 0,
        };
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

struct Lexer<'t> {
    text: &'t str,
    language: Language,
    at: usize,
    line: usize,
    /// The name that ends here, with its qualifiers.
    path: String,
    /// Sites of the functions whose parentheses are open.
    calls: Vec<Option<Site>>,
    /// Sites of the first words of the statement.
    statement: Vec<Option<Site>>,
    /// Whether the next literal is the value of a key such as `"error"`.
    is_error_value: bool,
    found: Vec<Literal>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Moves behind `length` bytes.
    fn skip(&mut self, length: usize) {
        self.line += self.rest().as_bytes()[..length].iter().filter(|byte| **byte == b'\n').count();
        self.at += length;
    }

    fn step(&mut self) {
        if let Some(length) = self.comment() {
            return self.skip(length);
        }
        if let Some(start) = self.opening() {
            return self.literal(start);
        }
        let Some(next) = self.rest().chars().next() else { return };
        match next {
            _ if next.is_alphabetic() || next == '_' => return self.word(),
            '(' => {
                let site = Site::of_name(&self.path);
                self.calls.push(site);
            }
            ')' => drop(self.calls.pop()),
            ';' | '{' | '}' if self.language != Language::Python => {
                // Unbalanced parentheses, such as those of macros, end with their function.
                if next == '}' && (self.at == 0 || self.text.as_bytes()[self.at - 1] == b'\n') {
                    self.calls.clear();
                }
                self.statement.clear();
            }
            '\n' if self.language.ends_statements_at_lines() && self.calls.is_empty() => {
                self.statement.clear()
            }
            _ => {}
        }
        if !matches!(next, '.' | ':' | '!' | '>' | '-') {
            self.path.clear();
        }
        self.skip(next.len_utf8());
    }

    /// Returns the length of the comment here, or of a character in quotes.
    fn comment(&self) -> Option<usize> {
        let rest = self.rest();
        let line = || rest.find('\n').unwrap_or(rest.len());
        if self.language == Language::Python {
            return rest.starts_with('#').then(line);
        }
        if rest.starts_with("//") {
            return Some(line());
        }
        if let Some(text) = rest.strip_prefix("/*") {
            return Some(text.find("*/").map_or(rest.len(), |end| end + 4));
        }
        let inner = rest.strip_prefix('\'')?;
        // A lifetime has no closing quote, a digit separator follows a digit.
        let first = inner.chars().next()?;
        let rest = &inner[first.len_utf8()..];
        let length = match (first, rest.chars().next()) {
            ('\\', Some(escaped)) => 1 + escaped.len_utf8() + rest[escaped.len_utf8()..].find('\'')?,
            _ => first.len_utf8(),
        };
        (length <= 12 && inner[length..].starts_with('\'')).then_some(length + 2)
    }

    fn word(&mut self) {
        let rest = self.rest();
        let length = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let word = rest[..length].to_string();
        if self.statement.len() < STATEMENT_WORDS {
            self.statement.push(Site::of_name(&word));
        }
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(&word);
        // A qualifier is followed by `.`, `::` or `->`; a space ends the name.
        self.skip(length);
        let is_qualifier = [".", "::", "->", "!", "("].iter().any(|mark| self.rest().starts_with(mark));
        if !is_qualifier {
            self.path.clear();
        }
    }

    /// Returns the opening of a literal, if one starts here.
    fn opening(&self) -> Option<Opening> {
        let rest = self.rest();
        let is_inside_word =
            self.text[..self.at].chars().next_back().is_some_and(|c| c.is_alphanumeric() || c == '_');
        let prefix = match is_inside_word {
            true => 0,
            false => {
                rest.find(|c: char| !c.is_ascii_alphanumeric()).filter(|length| *length <= 3).unwrap_or(0)
            }
        };
        let (letters, quoted) = rest.split_at(prefix);
        let lower = letters.to_lowercase();
        let is_raw = lower.contains('r');
        match self.language {
            Language::C
                if letters == "R"
                    || lower.ends_with('r') && quoted.starts_with('"') && !letters.is_empty() =>
            {
                let rest = quoted.strip_prefix('"')?;
                // The delimiter has at most 16 characters.
                let length = rest.bytes().take(17).position(|byte| byte == b'(')?;
                Some(Opening {
                    length: prefix + length + 2,
                    end: format!("){}\"", &rest[..length]),
                    is_raw: true,
                    has_values: false,
                })
            }
            Language::C => (quoted.starts_with('"') && matches!(letters, "" | "L" | "u8" | "u" | "U"))
                .then(|| Opening::plain(prefix + 1, "\"")),
            Language::Go if rest.starts_with('`') => Some(Opening { is_raw: true, ..Opening::plain(1, "`") }),
            Language::Go => rest.starts_with('"').then(|| Opening::plain(1, "\"")),
            Language::Rust if is_raw && matches!(lower.as_str(), "r" | "br" | "cr") => {
                let marks = quoted.len() - quoted.trim_start_matches('#').len();
                quoted[marks..].starts_with('"').then(|| Opening {
                    length: prefix + marks + 1,
                    end: format!("\"{}", "#".repeat(marks)),
                    is_raw: true,
                    has_values: false,
                })
            }
            Language::Rust => (quoted.starts_with('"') && matches!(lower.as_str(), "" | "b" | "c"))
                .then(|| Opening::plain(prefix + 1, "\"")),
            Language::Python => {
                let is_prefix = lower.chars().all(|c| "rbfut".contains(c));
                let end = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| quoted.starts_with(quote))?;
                let opening = Opening::plain(prefix + end.len(), end);
                is_prefix.then(|| Opening { is_raw, has_values: lower.contains('f'), ..opening })
            }
        }
    }

    fn literal(&mut self, opening: Opening) {
        let line = self.line;
        let is_docstring = opening.end.len() == 3 && self.calls.is_empty() && self.statement.is_empty();
        let mut text = self.content(opening);
        while let Some((between, length)) = self.continuation() {
            text.push_str(between);
            self.skip(length);
            let Some(opening) = self.opening() else { break };
            text.push_str(&self.content(opening));
        }
        let calls = self.calls.iter().rev().take(ENCLOSING_CALLS);
        let value = std::mem::take(&mut self.is_error_value).then_some(Site::Error);
        let site = calls.chain(&self.statement).copied().flatten().max().max(value);
        self.is_error_value = matches!(text.as_str(), "error" | "message" | "detail")
            && self.rest().trim_start().starts_with(':');
        if !is_docstring {
            self.found.push(Literal { line, text, site });
        }
    }

    /// Reads a literal from its opening to its end.
    fn content(&mut self, opening: Opening) -> String {
        self.skip(opening.length);
        let mut text = String::new();
        let is_line = !opening.is_raw && opening.end.len() == 1;
        loop {
            let rest = self.rest();
            if rest.starts_with(&opening.end) {
                self.skip(opening.end.len());
                return text;
            }
            let Some(next) = rest.chars().next().filter(|c| !(is_line && *c == '\n')) else { return text };
            let length = match next {
                '\\' if !opening.is_raw => self.escape(&mut text),
                '{' if opening.has_values && !rest.starts_with("{{") => {
                    text.push(VALUE);
                    expression_length(rest)
                }
                _ => {
                    text.push(next);
                    next.len_utf8()
                }
            };
            self.skip(length);
        }
    }

    /// Decodes an escape sequence; returns its length.
    fn escape(&self, text: &mut String) -> usize {
        let Some(next) = self.rest()[1..].chars().next() else { return 1 };
        match next {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => {}
            // Colors of a terminal.
            'x' | 'u' | 'U' | '0'..='9' | 'e' => text.push(' '),
            '\n' => {}
            _ => text.push(next),
        }
        1 + next.len_utf8()
    }

    /// Returns the text between this literal and one that continues it, and its length in the source.
    fn continuation(&self) -> Option<(&'static str, usize)> {
        let rest = self.rest();
        let space = rest.len() - rest.trim_start().len();
        let next = &rest[space..];
        if matches!(self.language, Language::C | Language::Python) {
            let is_adjacent = |at: usize| Lexer { at: self.at + at, ..self.view() }.opening().is_some();
            if is_adjacent(space) && (self.language == Language::C || !self.calls.is_empty()) {
                return Some(("", space));
            }
            // `"%" PRIu64 " bytes"`
            let name = next.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(0);
            if self.language == Language::C && next.starts_with("PRI") {
                let behind = space + name + (next[name..].len() - next[name..].trim_start().len());
                return Some(("lu", if is_adjacent(behind) { behind } else { space + name }));
            }
        }
        let operator = ["+", "<<"].into_iter().find(|operator| next.starts_with(operator))?;
        let operand = next[operator.len()..].find(['"', '\'', ';', '{', '}', ',']).unwrap_or(next.len());
        let between = next.get(operator.len()..operator.len() + operand)?;
        let length = space + operator.len() + operand;
        let continues = next[operator.len() + operand..].starts_with('"') && length <= CONCATENATION;
        match between.trim() {
            "" if continues => Some(("", length)),
            operand if continues && operand.ends_with(operator) => Some(("\u{0}", length)),
            _ => None,
        }
    }

    /// Returns a lexer for looking ahead.
    fn view(&self) -> Self {
        Self {
            text: self.text,
            language: self.language,
            at: self.at,
            line: self.line,
            path: String::new(),
            calls: Vec::new(),
            statement: Vec::new(),
            is_error_value: false,
            found: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, language: Language) -> Vec<(String, Option<Site>)> {
        literals(text, language).into_iter().map(|one| (one.text.replace(VALUE, "{}"), one.site)).collect()
    }

    #[track_caller]
    fn assert_found(language: Language, text: &str, expected: &[(&str, Option<Site>)]) {
        let expected: Vec<_> = expected.iter().map(|(text, site)| ((*text).to_string(), *site)).collect();
        assert_eq!(found(text, language), expected, "{text}");
    }

    const EXCEPTION: Option<Site> = Some(Site::Exception);
    const ERROR: Option<Site> = Some(Site::Error);
    const WARNING: Option<Site> = Some(Site::Warning);

    #[test]
    fn reads_c() {
        let c = Language::C;
        assert_found(
            c,
            r#"throw std::runtime_error(format("no \"%s\" in " "file\n", x));"#,
            &[("no \"%s\" in file\n", EXCEPTION)],
        );
        assert_found(
            c,
            r#"LLAMA_LOG_WARN("%s: slow\n", __func__); f("plain");"#,
            &[("%s: slow\n", WARNING), ("plain", None)],
        );
        assert_found(c, r#"fprintf(stderr, "%" PRIu64 " bytes");"#, &[("%lu bytes", ERROR)]);
        assert_found(
            c,
            "std::cerr << \"cannot open \" << path << \" now\";",
            &[("cannot open {} now", ERROR)],
        );
        assert_found(
            c,
            "GGML_ASSERT(a == 'x' && b != '\\'' && \"// no comment\"); // \"comment\"",
            &[("// no comment", EXCEPTION)],
        );
        assert_found(
            c,
            "err(R\"(raw \"text\")\"); /* \"no\" */ const char * s = \"open",
            &[("raw \"text\"", ERROR), ("open", None)],
        );
    }

    #[test]
    fn reads_go() {
        let go = Language::Go;
        assert_found(
            go,
            "return fmt.Errorf(`no %q`, x)\nx := \"text\"",
            &[("no %q", EXCEPTION), ("text", None)],
        );
        assert_found(
            go,
            "c.JSON(400, gin.H{\"error\": \"missing body\"})",
            &[("error", None), ("missing body", ERROR)],
        );
        assert_found(go, "slog.Error(\"cannot \" + name + \" it\")", &[("cannot {} it", ERROR)]);
    }

    #[test]
    fn reads_python() {
        let python = Language::Python;
        assert_found(
            python,
            "raise ValueError(\n  f\"no {x['a']} in \"\n  'file')",
            &[("no {} in file", EXCEPTION)],
        );
        assert_found(
            python,
            "def f():\n  \"\"\"A 'docstring'.\"\"\"\n  # it's\n  assert x, \"bad x\"\n  y = 'z'",
            &[("bad x", EXCEPTION), ("z", None)],
        );
        assert_found(python, "logger.warning(r'a\\d %s', x)", &[("a\\d %s", WARNING)]);
    }

    #[test]
    fn reads_rust() {
        let rust = Language::Rust;
        assert_found(rust, "fn f<'a>(x: &'a str) { bail!(\"no {x}\") }", &[("no {x}", EXCEPTION)]);
        assert_found(rust, "#[error(r#\"a \"b\" c\"#)] let c = '\"';", &[("a \"b\" c", ERROR)]);
    }

    #[test]
    fn hostile_text_ends() {
        for language in [Language::C, Language::Go, Language::Python, Language::Rust] {
            for text in [
                "\"",
                "'",
                "f\"{",
                "\\",
                "R\"x(",
                "\"a\" +",
                "/*",
                "\"\"\"",
                "r#\"",
                "\"\\",
                "é\"ü\" + é + \"",
                "(((\"%\"",
                "'\\é",
            ] {
                literals(text, language);
                literals(&text.repeat(50), language);
            }
        }
    }
}
