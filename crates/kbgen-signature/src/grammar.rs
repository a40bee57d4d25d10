//! The grammar of expressions: text to tree, or the first mistake in it.

use std::ops::Range;

use crate::expression::{Node, Operator, decides};
use crate::fault::Fault;

/// Deepest nesting of parentheses and signs.
const DEPTH: usize = 40;
/// Most operators. The tree may be as high as these two together, and JSON as deep as that is still read.
const OPERATORS: usize = 64;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Text(String),
    Word(String),
    Sign(&'static str),
    End,
}

/// Largest number, which holds the bytes of anything; one that is too large for JSON would spoil the table.
const LARGEST: f64 = 1e24;

/// Reads a whole text.
pub(crate) fn parse(text: &str) -> Result<Node, Fault> {
    let mut reader = Reader { text, token: Token::End, range: 0..0, depth: 0, operators: 0 };
    reader.advance()?;
    let node = reader.sides(0)?;
    match reader.token {
        Token::End => Ok(node),
        _ => Err(reader.fault("the expression should end here", "join conditions with `and` or `or`")),
    }
}

struct Reader<'text> {
    text: &'text str,
    token: Token,
    range: Range<usize>,
    depth: usize,
    operators: usize,
}

/// Operators by how loosely they bind; those of one row bind alike.
const LEVELS: [&[&str]; 5] =
    [&["or"], &["and"], &["==", "!=", "<=", ">=", "<", ">"], &["+", "-"], &["*", "/", "//"]];

impl Reader<'_> {
    fn fault(&self, message: impl Into<String>, help: impl Into<String>) -> Fault {
        Fault::new(self.range.clone(), message, help)
    }

    fn sides(&mut self, level: usize) -> Result<Node, Fault> {
        if level == LEVELS.len() {
            return self.atom();
        }
        let start = self.range.start;
        if level == 2 && self.token == Token::Word("not".into()) {
            return self.negation();
        }
        let mut left = self.sides(level + 1)?;
        let mut compared = false;
        while let Some(sign) = self.sign_of(level) {
            if level == 2 && compared {
                return Err(self.fault("two comparisons in a row", "join them with `and`"));
            }
            compared = true;
            self.operators += 1;
            if self.operators > OPERATORS {
                return Err(
                    self.fault(format!("the expression has more than {OPERATORS} operators"), "split it")
                );
            }
            self.advance()?;
            let right = self.sides(level + 1)?;
            let (_, operator) =
                *Operator::ALL.iter().find(|(known, _)| *known == sign).expect("every sign is an operator");
            self.require_kinds(operator, &left, &right, start)?;
            left = Node::Pair(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn negation(&mut self) -> Result<Node, Fault> {
        let start = self.range.start;
        self.advance()?;
        self.deeper()?;
        let inner = self.sides(2)?;
        self.depth -= 1;
        if decides(&inner) {
            return Ok(Node::Not(Box::new(inner)));
        }
        let range = start..self.range.start;
        Err(Fault::new(
            range,
            "`not` stands before a value, not before a condition",
            "compare the value, or write `not known(name)`",
        ))
    }

    fn require_kinds(
        &self,
        operator: Operator,
        left: &Node,
        right: &Node,
        start: usize,
    ) -> Result<(), Fault> {
        let range = start..self.text[..self.range.start].trim_end().len();
        let joins = matches!(operator, Operator::And | Operator::Or);
        if joins != decides(left) || joins != decides(right) {
            let (message, help) = if joins {
                ("`and` and `or` join conditions", "compare the value, or write `known(name)`")
            } else {
                ("a condition cannot be compared or reckoned with", "join conditions with `and` or `or`")
            };
            return Err(Fault::new(range, message, help));
        }
        let text = matches!(left, Node::Text(_)) || matches!(right, Node::Text(_));
        if text && !matches!(operator, Operator::Equal | Operator::NotEqual | Operator::And | Operator::Or) {
            return Err(Fault::new(
                range,
                "text can only be compared with `==` and `!=`",
                "use one of these",
            ));
        }
        Ok(())
    }

    fn sign_of(&self, level: usize) -> Option<&'static str> {
        LEVELS[level].iter().copied().find(|sign| match &self.token {
            Token::Sign(token) => token == sign,
            Token::Word(word) => word == sign,
            _ => false,
        })
    }

    fn atom(&mut self) -> Result<Node, Fault> {
        match self.token.clone() {
            Token::Number(number) => self.then(Node::Number(number)),
            Token::Text(text) => self.then(Node::Text(text)),
            Token::Word(word) if word == "known" => self.known(),
            Token::Word(word) if matches!(word.as_str(), "and" | "or" | "not") => {
                Err(self
                    .fault(format!("a value is missing before `{word}`"), "write a name or a number there"))
            }
            Token::Word(word) => self.then(Node::Name(word)),
            Token::Sign("-") => {
                self.advance()?;
                self.deeper()?;
                let inner = self.atom()?;
                self.depth -= 1;
                Ok(Node::Pair(Operator::Subtract, Box::new(Node::Number(0.0)), Box::new(inner)))
            }
            Token::Sign("(") => {
                let opened = self.range.clone();
                self.advance()?;
                self.deeper()?;
                let inner = self.sides(0)?;
                self.depth -= 1;
                self.close(opened)?;
                Ok(inner)
            }
            Token::End => Err(self.fault("the expression ends too early", "write a name or a number")),
            Token::Sign(sign) => {
                Err(self.fault(format!("`{sign}` stands where a value should"), "write a name or a number"))
            }
        }
    }

    fn known(&mut self) -> Result<Node, Fault> {
        self.advance()?;
        let opened = self.range.clone();
        if self.token != Token::Sign("(") {
            return Err(self.fault("`known` needs a name in parentheses", "write `known(name)`"));
        }
        self.advance()?;
        let Token::Word(name) = self.token.clone() else {
            return Err(self.fault("`known` asks for the name of a figure", "write `known(name)`"));
        };
        self.advance()?;
        self.close(opened)?;
        Ok(Node::Known(name))
    }

    fn close(&mut self, opened: Range<usize>) -> Result<(), Fault> {
        if self.token == Token::Sign(")") {
            return self.advance();
        }
        Err(Fault::new(opened, "the parenthesis is not closed", "add `)`"))
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > DEPTH {
            return Err(self.fault("the expression is nested too deeply", "split it"));
        }
        Ok(())
    }

    fn then(&mut self, node: Node) -> Result<Node, Fault> {
        self.advance()?;
        Ok(node)
    }

    /// Takes the next token.
    fn advance(&mut self) -> Result<(), Fault> {
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
                return Err(Fault::new(start..self.text.len(), "the text is not closed", "add the quote"));
            };
            self.token = Token::Text(rest[1..1 + length].to_owned());
            length + 2
        } else {
            self.token = Token::Sign(sign(rest, start, first)?);
            sign(rest, start, first)?.len()
        };
        self.range = start..start + length;
        Ok(())
    }

    fn number(&self, rest: &str, start: usize) -> Result<(f64, usize), Fault> {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let place = start..start + digits;
        let Ok(number) = rest[..digits].parse::<f64>() else {
            return Err(Fault::new(place, "this is not a number", "write it as `1024` or `0.5`"));
        };
        if number > LARGEST {
            return Err(Fault::new(place, "this number is too large", "write a smaller one"));
        }
        let after = &rest[digits..];
        let blank = after.len() - after.trim_start().len();
        let word = after[blank..].find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(after.len() - blank);
        let unit = &after[blank..blank + word];
        if after.trim_start().starts_with('%') {
            let percent = start + digits..start + digits + blank + 1;
            return Err(Fault::new(
                percent,
                "there are no percentages",
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
                Err(Fault::new(
                    range,
                    format!("`{unit}` is not a unit"),
                    "the units are bytes, KiB, MiB, GiB and TiB",
                ))
            }
        }
    }
}

fn sign(rest: &str, start: usize, first: char) -> Result<&'static str, Fault> {
    const SIGNS: [&str; 13] = ["==", "!=", "<=", ">=", "//", "<", ">", "+", "-", "*", "/", "(", ")"];
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        return Ok(sign);
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
    Err(Fault::new(range, format!("`{}` means nothing here", &rest[..length]), help))
}

/// What one of this unit is in bytes; a power of 1024, because programs print `MB` and `GB` for these too
/// (`ggml_metal_add_buffer`, the kernel's `kB`).
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
    fn a_mistake_is_shown_where_it_stands() {
        for (text, at, help) in [
            ("free = 1", "=", "compare with `==`"),
            ("free > 1 && total > 2", "&&", "write `and`"),
            ("!known(free)", "!", "write `not`"),
            ("free > 5 %", " %", "write `0.05 * total`"),
            ("free > 1 Gig", "Gig", "the units are bytes, KiB, MiB, GiB and TiB"),
            ("free > (1 + 2", "(", "add `)`"),
            ("free >", "", "write a name or a number"),
            ("1 < free < 3", "<", "join them with `and`"),
            ("free and total > 1", "free and total > 1", "compare the value, or write `known(name)`"),
            ("free + 1", "free + 1", "compare it, for example with `> 0`"),
            ("place > 'a'", "place > 'a'", "use one of these"),
            ("place == 'a", "'a", "add the quote"),
            ("free > 9999999999999999999999999", "9999999999999999999999999", "write a smaller one"),
            ("known free", "free", "write `known(name)`"),
            ("not free", "not free", "compare the value, or write `not known(name)`"),
            ("free > 1 total > 2", "total", "the units are bytes, KiB, MiB, GiB and TiB"),
            ("free > total total > 2", "total", "join conditions with `and` or `or`"),
            (
                "größe > 1",
                "ö",
                "use names, numbers, comparison, `+ - * /`, `and`, `or`, `not` and `known(name)`",
            ),
        ] {
            let fault = Expression::parse(text).expect_err(text);
            assert_eq!((&text[fault.range.clone()], fault.help.as_str()), (at, help), "{text}: {fault:?}");
        }
    }

    #[test]
    fn nesting_is_bounded() {
        let deep = format!("{}free > 1{}", "(".repeat(5000), ")".repeat(5000));
        assert!(Expression::parse(&deep).expect_err("too deep").message.contains("nested"));
        let negated = format!("{}free > 1", "not ".repeat(5000));
        assert!(Expression::parse(&negated).is_err());
    }

    #[test]
    fn length_is_bounded_and_what_is_read_can_be_stored() {
        let sum = |terms: usize| vec!["free"; terms].join(" + ") + " > 1";
        let message = Expression::parse(&sum(5000)).expect_err("too long").message;
        assert_eq!(message, "the expression has more than 64 operators");
        let highest = "- ".repeat(40) + &sum(64);
        let expression = Expression::parse(&highest).expect("as long and as deep as can be");
        let stored = serde_json::to_string(&expression).expect("it is plain data");
        assert_eq!(serde_json::from_str::<Expression>(&stored).expect("it can be read again"), expression);
    }
}
