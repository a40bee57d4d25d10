//! Expressions over figures: the conditions of pages (`when`) and the derived figures of extractors.

use std::cmp::Ordering;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error, ser::SerializeSeq};

use crate::figure::{Figure, Figures, serialize_number};
use crate::grammar;
use crate::parse_error::ParseError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
}

impl Operator {
    pub(crate) const ALL: [(&'static str, Self); 13] = [
        ("or", Self::Or),
        ("and", Self::And),
        ("==", Self::Equal),
        ("!=", Self::NotEqual),
        ("<=", Self::LessOrEqual),
        (">=", Self::GreaterOrEqual),
        ("<", Self::Less),
        (">", Self::Greater),
        ("+", Self::Add),
        ("-", Self::Subtract),
        ("*", Self::Multiply),
        ("/", Self::Divide),
        ("//", Self::FloorDivide),
    ];

    fn symbol(self) -> &'static str {
        Self::ALL.iter().find(|(_, operator)| *operator == self).map_or("", |(symbol, _)| symbol)
    }

    /// Returns whether the result is a boolean.
    pub(crate) fn is_condition(self) -> bool {
        !matches!(self, Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::FloorDivide)
    }
}

/// A node of the syntax tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Number(f64),
    Text(String),
    Name(String),
    Known(String),
    Not(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
}

/// The value of a node; unknown if it depends on a figure that is missing.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Unknown,
    Bool(bool),
    Number(f64),
    Text(String),
}

/// An expression over figures, for example `requested > free and not known(other_process)`.
///
/// Supports comparisons, `+ - * /`, `//` for floor division, `and or not`, parentheses, numbers with units such as `1 GiB`
/// (powers of 1024), `'text'` and `known(name)`. A condition that depends on a missing figure is unknown, and so is its negation.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    root: Node,
}

impl Expression {
    /// Parses a condition.
    ///
    /// # Errors
    /// The first mistake, with its byte range; also for an expression with a number as its value.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let root = grammar::parse(text)?;
        if is_condition(&root) {
            return Ok(Self { root });
        }
        Err(ParseError::new(
            0..text.len(),
            "expected a condition, found a value",
            "compare it, for example with `> 0`",
        ))
    }

    /// Parses an expression with a number as its value.
    ///
    /// # Errors
    /// The first mistake, with its byte range; also for a condition.
    pub fn parse_value(text: &str) -> Result<Self, ParseError> {
        let root = grammar::parse(text)?;
        if !is_condition(&root) {
            return Ok(Self { root });
        }
        Err(ParseError::new(0..text.len(), "expected a value, found a condition", "remove the comparison"))
    }

    /// Returns the names of the figures in the expression, without duplicates, in text order.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        walk(&self.root, &mut |node| match node {
            Node::Name(name) | Node::Known(name) if !names.contains(&name.as_str()) => {
                names.push(name.as_str())
            }
            _ => {}
        });
        names
    }

    /// Returns the string literals, in text order.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        walk(&self.root, &mut |node| {
            texts.extend(if let Node::Text(text) = node { Some(text.as_str()) } else { None })
        });
        texts
    }

    /// Returns whether the condition is true; false if it is unknown.
    pub fn holds(&self, figures: &Figures) -> bool {
        evaluate(&self.root, figures) == Value::Bool(true)
    }

    /// Returns the value of the expression; `None` if a figure is missing.
    pub fn number(&self, figures: &Figures) -> Option<f64> {
        match evaluate(&self.root, figures) {
            Value::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns the value of the expression as text; `None` if a figure is missing.
    pub fn text(&self, figures: &Figures) -> Option<String> {
        match evaluate(&self.root, figures) {
            Value::Number(number) => Some(number.to_string()),
            Value::Text(text) => Some(text),
            Value::Bool(_) | Value::Unknown => None,
        }
    }
}

/// Returns whether the value of a node is a boolean.
pub(crate) fn is_condition(node: &Node) -> bool {
    match node {
        Node::Known(_) | Node::Not(_) => true,
        Node::Binary(operator, ..) => operator.is_condition(),
        _ => false,
    }
}

/// Calls `visit` with each node of a tree, in text order.
fn walk<'node>(node: &'node Node, visit: &mut impl FnMut(&'node Node)) {
    visit(node);
    match node {
        Node::Not(inner) => walk(inner, visit),
        Node::Binary(_, left, right) => {
            walk(left, visit);
            walk(right, visit);
        }
        Node::Number(_) | Node::Text(_) | Node::Name(_) | Node::Known(_) => {}
    }
}

fn evaluate(node: &Node, figures: &Figures) -> Value {
    match node {
        Node::Number(number) => Value::Number(*number),
        Node::Text(text) => Value::Text(text.clone()),
        Node::Name(name) => match figures.get(name) {
            Some(Figure::Number(number)) => Value::Number(*number),
            Some(Figure::Text(text)) => Value::Text(text.clone()),
            None => Value::Unknown,
        },
        Node::Known(name) => Value::Bool(figures.get(name).is_some()),
        Node::Not(inner) => match evaluate(inner, figures) {
            Value::Bool(value) => Value::Bool(!value),
            _ => Value::Unknown,
        },
        Node::Binary(operator, left, right) => {
            apply(*operator, evaluate(left, figures), evaluate(right, figures))
        }
    }
}

fn apply(operator: Operator, left: Value, right: Value) -> Value {
    use Value::{Bool, Number, Text, Unknown};
    match (operator, left, right) {
        (Operator::And, Bool(false), _) | (Operator::And, _, Bool(false)) => Bool(false),
        (Operator::Or, Bool(true), _) | (Operator::Or, _, Bool(true)) => Bool(true),
        (Operator::And, Bool(true), Bool(true)) => Bool(true),
        (Operator::Or, Bool(false), Bool(false)) => Bool(false),
        (Operator::Equal, Text(left), Text(right)) => Bool(left == right),
        (Operator::NotEqual, Text(left), Text(right)) => Bool(left != right),
        (operator, Number(left), Number(right)) => apply_numeric(operator, left, right),
        (operator, Text(left), Text(right)) => match (operator, version_order(&left, &right)) {
            (Operator::Less, Some(order)) => Bool(order.is_lt()),
            (Operator::LessOrEqual, Some(order)) => Bool(order.is_le()),
            (Operator::Greater, Some(order)) => Bool(order.is_gt()),
            (Operator::GreaterOrEqual, Some(order)) => Bool(order.is_ge()),
            _ => Unknown,
        },
        _ => Unknown,
    }
}

/// Compares versions such as `2.10.0` by their numbers, up to the first part that is not a number; `None` for other texts.
fn version_order(left: &str, right: &str) -> Option<Ordering> {
    let number = |part: &str| part.parse::<u32>().ok().filter(|_| part.len() < 10);
    let numbers = |text: &str| {
        let parts = text.strip_prefix('v').unwrap_or(text).split(['.', '-', '+']);
        let mut numbers: Vec<u32> = parts.map_while(number).collect();
        let is_version = !numbers.is_empty();
        while numbers.last() == Some(&0) {
            numbers.pop();
        }
        is_version.then_some(numbers)
    };
    Some(numbers(left)?.cmp(&numbers(right)?))
}

fn apply_numeric(operator: Operator, left: f64, right: f64) -> Value {
    let result = match operator {
        Operator::Equal => return Value::Bool(left == right),
        Operator::NotEqual => return Value::Bool(left != right),
        Operator::Less => return Value::Bool(left < right),
        Operator::LessOrEqual => return Value::Bool(left <= right),
        Operator::Greater => return Value::Bool(left > right),
        Operator::GreaterOrEqual => return Value::Bool(left >= right),
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::FloorDivide => (left / right).floor(),
        Operator::And | Operator::Or => return Value::Unknown,
    };
    if result.is_finite() { Value::Number(result) } else { Value::Unknown }
}

/// Writes a number as a number, a name as a string, and any other node as a list that starts with its operator; text is
/// `["'", "text"]`.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serialize_number(*number, serializer),
            Self::Name(name) => serializer.serialize_str(name),
            Self::Text(text) => ("'", text).serialize(serializer),
            Self::Known(name) => ("known", name).serialize(serializer),
            Self::Not(inner) => ("not", inner).serialize(serializer),
            Self::Binary(operator, left, right) => {
                let mut list = serializer.serialize_seq(Some(3))?;
                list.serialize_element(operator.symbol())?;
                list.serialize_element(left)?;
                list.serialize_element(right)?;
                list.end()
            }
        }
    }
}

impl Serialize for Expression {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.root.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Expression {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let root = parse_node(&value).ok_or_else(|| D::Error::custom("the expression is not well formed"))?;
        Ok(Self { root })
    }
}

fn parse_node(value: &serde_json::Value) -> Option<Node> {
    let list = match value {
        serde_json::Value::Number(number) => return number.as_f64().map(Node::Number),
        serde_json::Value::String(name) => return Some(Node::Name(name.clone())),
        other => other.as_array()?,
    };
    let text = |at: usize| list.get(at)?.as_str().map(str::to_owned);
    let node = |at: usize| list.get(at).and_then(parse_node).map(Box::new);
    match text(0)?.as_str() {
        "'" => text(1).map(Node::Text),
        "known" => text(1).map(Node::Known),
        "not" => node(1).map(Node::Not),
        symbol => {
            let (_, operator) = Operator::ALL.iter().find(|(known, _)| *known == symbol)?;
            Some(Node::Binary(*operator, node(1)?, node(2)?))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(pairs: &[(&str, f64)]) -> Figures {
        let mut figures = Figures::default();
        pairs.iter().for_each(|(name, number)| figures.add(name, Figure::Number(*number)));
        figures.add("place", Figure::Text("load".into()));
        figures
    }

    #[test]
    fn evaluates_conditions_and_survives_json() {
        let mut known = figures(&[("requested", 2048.0), ("free", 1024.0), ("total", 8192.0)]);
        let versions = [
            ("old", "2.9+cu121"),
            ("new", "2.10"),
            ("same", "2.10.0"),
            ("dev", "4.50.0.dev0"),
            ("tag", "v4.5"),
        ];
        versions.iter().for_each(|(name, text)| known.add(name, Figure::Text((*text).into())));
        for (text, expected) in [
            ("requested > free", true),
            ("requested - free > 1 KiB", false),
            ("requested - free >= 1KiB", true),
            ("not requested > free", false),
            ("free + free * 1 == requested", true),
            ("(free + free) / 2 == 1024 bytes and place == 'load'", true),
            ("place != \"load\" or total > 8 kB", false),
            ("total // 1000 == 8 and total // 1000 * 1000 == 8000", true),
            ("-free < 0 and not (free > total or free == 0)", true),
            ("place == free", false),
            ("free / 0 > 1", false),
            ("old < new and not old > new and dev > tag", true),
            ("new >= same and new <= same and not new < same", true),
            ("place < old or place >= old or old < free", false),
        ] {
            let expression = Expression::parse(text).expect(text);
            assert_eq!(expression.holds(&known), expected, "{text}");
            let stored = serde_json::to_string(&expression).expect("it is plain data");
            assert_eq!(serde_json::from_str::<Expression>(&stored).expect(&stored), expression);
        }
    }

    #[test]
    fn unknown_conditions_and_their_negations_are_false() {
        let known = figures(&[("free", 1.0)]);
        for (text, expected) in [
            ("limit > 0", false),
            ("not limit > 0", false),
            ("not known(limit)", true),
            ("known(free) or limit > 0", true),
            ("limit > 0 or known(free)", true),
            ("not (limit > 0 and not known(free))", true),
            ("limit == limit", false),
        ] {
            assert_eq!(Expression::parse(text).expect(text).holds(&known), expected, "{text}");
        }
    }

    #[test]
    fn names_have_no_duplicates() {
        let expression =
            Expression::parse("free < total * 0.05 and known(limit) and free > 0").expect("well formed");
        assert_eq!(expression.names(), ["free", "total", "limit"]);
    }
}
