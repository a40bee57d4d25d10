//! The parser of expressions.

use std::ops::Range;

use crate::expression::{Node, Operator, is_condition};
use crate::parse_error::ParseError;

/// Maximum nesting of parentheses, `-` and `not`.
const MAX_DEPTH: usize = 40;
/// Maximum number of operators. The tree is at most as deep as the sum of both limits, which serde_json still reads.
const MAX_OPERATORS: usize = 64;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Text(String),
    Word(String),
    Symbol(&'static str),
    End,
}

/// Largest number, so that every result can be stored in JSON.
const MAX_NUMBER: f64 = 1e24;

pub(crate) fn parse(text: &str) -> Result<Node, ParseError> {
    let mut parser = ExpressionParser { text, token: Token::End, range: 0..0, depth: 0, operators: 0 };
    parser.advance()?;
    let node = parser.binary(0)?;
    match parser.token {
        Token::End => Ok(node),
        _ => Err(parser.error("unexpected text after the expression", "join conditions with `and` or `or`")),
    }
}

struct ExpressionParser<'text> {
    text: &'text str,
    token: Token,
    range: Range<usize>,
    depth: usize,
    operators: usize,
}

/// Operators by precedence, lowest first.
const PRECEDENCE: [&[&str]; 5] =
    [&["or"], &["and"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "//"]];

impl ExpressionParser<'_> {
    fn error(&self, message: impl Into<String>, help: impl Into<String>) -> ParseError {
        ParseError::new(self.range.clone(), message, help)
    }

    fn binary(&mut self, level: usize) -> Result<Node, ParseError> {
        if level == PRECEDENCE.len() {
            return self.primary();
        }
        let start = self.range.start;
        if level == 2 && self.token == Token::Word("not".into()) {
            return self.negation();
        }
        let mut left = self.binary(level + 1)?;
        let mut compared = false;
        while let Some(symbol) = self.operator_at(level) {
            if level == 2 && compared {
                return Err(self.error("two comparisons in a row", "join them with `and`"));
            }
            compared = true;
            self.operators += 1;
            if self.operators > MAX_OPERATORS {
                return Err(
                    self.error(format!("the expression has more than {MAX_OPERATORS} operators"), "split it")
                );
            }
            self.advance()?;
            let right = self.binary(level + 1)?;
            let (_, operator) =
                *Operator::ALL.iter().find(|(known, _)| *known == symbol).expect("every sign is an operator");
            self.check_operands(operator, &left, &right, start)?;
            left = Node::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Node, ParseError> {
        let start = self.range.start;
        self.advance()?;
        self.enter()?;
        let inner = self.binary(2)?;
        self.depth -= 1;
        if is_condition(&inner) {
            return Ok(Node::Not(Box::new(inner)));
        }
        let range = start..self.range.start;
        Err(ParseError::new(range, "`not` before a value", "compare the value, or write `not known(name)`"))
    }

    fn check_operands(
        &self,
        operator: Operator,
        left: &Node,
        right: &Node,
        start: usize,
    ) -> Result<(), ParseError> {
        let range = start..self.text[..self.range.start].trim_end().len();
        let is_logical = matches!(operator, Operator::And | Operator::Or);
        if is_logical != is_condition(left) || is_logical != is_condition(right) {
            let (message, help) = if is_logical {
                ("`and` and `or` require conditions", "compare the value, or write `known(name)`")
            } else {
                (
                    "a condition cannot be an operand of a comparison or calculation",
                    "join conditions with `and` or `or`",
                )
            };
            return Err(ParseError::new(range, message, help));
        }
        let text = matches!(left, Node::Text(_)) || matches!(right, Node::Text(_));
        if text && !matches!(operator, Operator::Equal | Operator::NotEqual | Operator::And | Operator::Or) {
            return Err(ParseError::new(range, "text supports only `==` and `!=`", "use `==` or `!=`"));
        }
        Ok(())
    }

    fn operator_at(&self, level: usize) -> Option<&'static str> {
        PRECEDENCE[level].iter().copied().find(|symbol| match &self.token {
            Token::Symbol(token) => token == symbol,
            Token::Word(word) => word == symbol,
            _ => false,
        })
    }

    fn primary(&mut self) -> Result<Node, ParseError> {
        match self.token.clone() {
            Token::Number(number) => self.finish(Node::Number(number)),
            Token::Text(text) => self.finish(Node::Text(text)),
            Token::Word(word) if word == "known" => self.known(),
            Token::Word(word) if matches!(word.as_str(), "and" | "or" | "not") => {
                Err(self.error(format!("missing value before `{word}`"), "add a name or a number"))
            }
            Token::Word(word) => self.finish(Node::Name(word)),
            Token::Symbol("-") => {
                self.advance()?;
                self.enter()?;
                let inner = self.primary()?;
                self.depth -= 1;
                Ok(Node::Binary(Operator::Subtract, Box::new(Node::Number(0.0)), Box::new(inner)))
            }
            Token::Symbol("(") => {
                let opened = self.range.clone();
                self.advance()?;
                self.enter()?;
                let inner = self.binary(0)?;
                self.depth -= 1;
                self.close(opened)?;
                Ok(inner)
            }
            Token::End => Err(self.error("unexpected end of the expression", "add a name or a number")),
            Token::Symbol(symbol) => {
                Err(self.error(format!("expected a value, found `{symbol}`"), "add a name or a number"))
            }
        }
    }

    fn known(&mut self) -> Result<Node, ParseError> {
        self.advance()?;
        let opened = self.range.clone();
        if self.token != Token::Symbol("(") {
            return Err(self.error("expected a name in parentheses after `known`", "write `known(name)`"));
        }
        self.advance()?;
        let Token::Word(name) = self.token.clone() else {
            return Err(self.error("expected the name of a figure in `known`", "write `known(name)`"));
        };
        self.advance()?;
        self.close(opened)?;
        Ok(Node::Known(name))
    }

    fn close(&mut self, opened: Range<usize>) -> Result<(), ParseError> {
        if self.token == Token::Symbol(")") {
            return self.advance();
        }
        Err(ParseError::new(opened, "unclosed parenthesis", "add `)`"))
    }

    fn enter(&mut self) -> Result<(), ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("the expression is nested too deeply", "split it"));
        }
        Ok(())
    }

    fn finish(&mut self, node: Node) -> Result<Node, ParseError> {
        self.advance()?;
        Ok(node)
    }

    fn advance(&mut self) -> Result<(), ParseError> {
        let rest = &self.text[self.range.end..];
        let start = self.text.len() - rest.trim_start().len();
        let rest = &self.text[start..];
        self.range = start..start;
        let Some(first) = rest.chars().next() else {
            self.token = Token::End;
            return Ok(());
        };
        let length = if first.is_ascii_digit() || first == '.' {
            let (number, length) = self.number(rest, start)?;
            self.token = Token::Number(number);
            length
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
            self.token = Token::Word(rest[..length].to_owned());
            length
        } else if first == '\'' || first == '"' {
            let Some(length) = rest[1..].find(first) else {
                return Err(ParseError::new(
                    start..self.text.len(),
                    "unclosed text",
                    "add the closing quote",
                ));
            };
            self.token = Token::Text(rest[1..1 + length].to_owned());
            length + 2
        } else {
            let symbol = symbol(rest, start, first)?;
            self.token = Token::Symbol(symbol);
            symbol.len()
        };
        self.range = start..start + length;
        Ok(())
    }

    fn number(&self, rest: &str, start: usize) -> Result<(f64, usize), ParseError> {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let range = start..start + digits;
        let Ok(number) = rest[..digits].parse::<f64>() else {
            return Err(ParseError::new(range, "invalid number", "write a number such as `1024` or `0.5`"));
        };
        if number > MAX_NUMBER {
            return Err(ParseError::new(range, "number too large", "use a smaller number"));
        }
        let after = &rest[digits..];
        let blank = after.len() - after.trim_start().len();
        let word = after[blank..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len() - blank);
        let unit = &after[blank..blank + word];
        if after.trim_start().starts_with('%') {
            let percent = start + digits..start + digits + blank + 1;
            return Err(ParseError::new(
                percent,
                "percentages are not supported",
                format!("write `{} * total`", number / 100.0),
            ));
        }
        if unit.is_empty() || matches!(unit, "and" | "or") {
            return Ok((number, digits));
        }
        match unit_factor(unit) {
            Some(factor) => Ok((number * factor, digits + blank + word)),
            None => {
                let range = start + digits + blank..start + digits + blank + word;
                Err(ParseError::new(
                    range,
                    format!("unknown unit `{unit}`"),
                    "use bytes, KiB, MiB, GiB or TiB",
                ))
            }
        }
    }
}

fn symbol(rest: &str, start: usize, first: char) -> Result<&'static str, ParseError> {
    const SYMBOLS: [&str; 13] = ["==", "!=", "<=", ">=", "//", "<", ">", "+", "-", "*", "/", "(", ")"];
    if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        return Ok(symbol);
    }
    let (length, help) = match first {
        '=' => (1, "compare with `==`"),
        '&' => (rest.len() - rest.trim_start_matches('&').len(), "write `and`"),
        '|' => (rest.len() - rest.trim_start_matches('|').len(), "write `or`"),
        '!' => (1, "write `not`"),
        _ => (
            first.len_utf8(),
            "use names, numbers, comparison, `+ - * /`, `and`, `or`, `not` and `known(name)`",
        ),
    };
    let range = start..start + length;
    Err(ParseError::new(range, format!("unexpected `{}`", &rest[..length]), help))
}

/// Returns the bytes of a unit. `MB` is 1024² and `GB` is 1024³, as llama.cpp (`ggml_metal_add_buffer`) and the Linux kernel
/// (`kB`) print them.
pub(crate) fn unit_factor(unit: &str) -> Option<f64> {
    let lower = unit.to_ascii_lowercase();
    let power = match lower.as_str() {
        "b" | "byte" | "bytes" => 0,
        "k" | "kb" | "kib" => 1,
        "m" | "mb" | "mib" => 2,
        "g" | "gb" | "gib" => 3,
        "t" | "tb" | "tib" => 4,
        _ => return None,
    };
    Some(1024_f64.powi(power))
}

#[cfg(test)]
mod tests {
    use crate::expression::Expression;

    #[test]
    fn errors_point_to_the_mistake() {
        for (text, at, help) in [
            ("free = 1", "=", "compare with `==`"),
            ("free > 1 && total > 2", "&&", "write `and`"),
            ("!known(free)", "!", "write `not`"),
            ("free > 5 %", " %", "write `0.05 * total`"),
            ("free > 1 Gig", "Gig", "use bytes, KiB, MiB, GiB or TiB"),
            ("free > (1 + 2", "(", "add `)`"),
            ("free >", "", "add a name or a number"),
            ("1 < free < 3", "<", "join them with `and`"),
            ("free and total > 1", "free and total > 1", "compare the value, or write `known(name)`"),
            ("free + 1", "free + 1", "compare it, for example with `> 0`"),
            ("place > 'a'", "place > 'a'", "use `==` or `!=`"),
            ("place == 'a", "'a", "add the closing quote"),
            ("free > 9999999999999999999999999", "9999999999999999999999999", "use a smaller number"),
            ("known free", "free", "write `known(name)`"),
            ("not free", "not free", "compare the value, or write `not known(name)`"),
            ("free > 1 total > 2", "total", "use bytes, KiB, MiB, GiB or TiB"),
            ("free > total total > 2", "total", "join conditions with `and` or `or`"),
            (
                "größe > 1",
                "ö",
                "use names, numbers, comparison, `+ - * /`, `and`, `or`, `not` and `known(name)`",
            ),
        ] {
            let error = Expression::parse(text).expect_err(text);
            assert_eq!((&text[error.range.clone()], error.help.as_str()), (at, help), "{text}: {error:?}");
        }
    }

    #[test]
    fn nesting_is_limited() {
        let deep = format!("{}free > 1{}", "(".repeat(5000), ")".repeat(5000));
        assert!(Expression::parse(&deep).expect_err("too deep").message.contains("nested"));
        let negated = format!("{}free > 1", "not ".repeat(5000));
        assert!(Expression::parse(&negated).is_err());
    }

    #[test]
    fn length_is_limited_and_the_largest_tree_survives_json() {
        let sum = |terms: usize| vec!["free"; terms].join(" + ") + " > 1";
        let message = Expression::parse(&sum(5000)).expect_err("too long").message;
        assert_eq!(message, "the expression has more than 64 operators");
        let highest = "- ".repeat(40) + &sum(64);
        let expression = Expression::parse(&highest).expect("as long and as deep as can be");
        let stored = serde_json::to_string(&expression).expect("it is plain data");
        assert_eq!(serde_json::from_str::<Expression>(&stored).expect("it can be read again"), expression);
    }
}
