//! Expressions over figures: what a page writes after `when`, and what an extractor derives.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error, ser::SerializeSeq};
use serde_json::Value;

use crate::fault::Fault;
use crate::figure::{Figure, Figures, serialize_number};
use crate::grammar;

/// An operator between two values.
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
    DivideWhole,
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
        ("//", Self::DivideWhole),
    ];

    fn sign(self) -> &'static str {
        Self::ALL.iter().find(|(_, operator)| *operator == self).map_or("", |(sign, _)| sign)
    }

    /// Whether the result is true or false.
    pub(crate) fn decides(self) -> bool {
        !matches!(self, Self::Add | Self::Subtract | Self::Multiply | Self::Divide | Self::DivideWhole)
    }
}

/// A node of the tree that a text was read into.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Number(f64),
    Text(String),
    Name(String),
    Known(String),
    Not(Box<Node>),
    Pair(Operator, Box<Node>, Box<Node>),
}

/// What a node is worth; a name that was not read is unknown, and so is what is reckoned with it.
#[derive(Debug, Clone, PartialEq)]
enum Worth {
    Unknown,
    Truth(bool),
    Number(f64),
    Text(String),
}

/// An expression over figures, for example `requested > free and not known(other_process)`.
///
/// Comparison, `+ - * /`, `//` for division without a rest, `and or not`, parentheses, numbers with units such as `1 GiB` (powers of 1024),
/// `'text'` and `known(name)`. What depends on a figure that was not read is unknown and does not hold,
/// and neither does its negation.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    root: Node,
}

impl Expression {
    /// Reads a condition.
    ///
    /// # Errors
    /// The first mistake, with its byte range; also where the text yields a number instead of a condition.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let root = grammar::parse(text)?;
        if decides(&root) {
            return Ok(Self { root });
        }
        Err(Fault::new(
            0..text.len(),
            "the expression is a value, not a condition",
            "compare it, for example with `> 0`",
        ))
    }

    /// Reads an expression that yields a number.
    ///
    /// # Errors
    /// The first mistake, with its byte range; also where the text yields a condition.
    pub fn parse_value(text: &str) -> Result<Self, Fault> {
        let root = grammar::parse(text)?;
        if !decides(&root) {
            return Ok(Self { root });
        }
        Err(Fault::new(
            0..text.len(),
            "the expression is a condition, not a value",
            "leave the comparison out",
        ))
    }

    /// The names of the figures that the expression uses, each once, in the order of the text.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        collect_names(&self.root, &mut names);
        names
    }

    /// The texts that figures are compared with, in the order of the expression.
    pub fn texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        collect_texts(&self.root, &mut texts);
        texts
    }

    /// Whether the condition holds for these figures; false where it cannot be told.
    pub fn holds(&self, figures: &Figures) -> bool {
        worth(&self.root, figures) == Worth::Truth(true)
    }

    /// The number that the expression yields, if every figure it needs was read.
    pub fn number(&self, figures: &Figures) -> Option<f64> {
        match worth(&self.root, figures) {
            Worth::Number(number) => Some(number),
            _ => None,
        }
    }
}

/// Whether a node yields true or false.
pub(crate) fn decides(node: &Node) -> bool {
    match node {
        Node::Known(_) | Node::Not(_) => true,
        Node::Pair(operator, ..) => operator.decides(),
        _ => false,
    }
}

fn collect_names<'node>(node: &'node Node, names: &mut Vec<&'node str>) {
    match node {
        Node::Name(name) | Node::Known(name) => {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        Node::Not(inner) => collect_names(inner, names),
        Node::Pair(_, left, right) => {
            collect_names(left, names);
            collect_names(right, names);
        }
        Node::Number(_) | Node::Text(_) => {}
    }
}

fn collect_texts<'node>(node: &'node Node, texts: &mut Vec<&'node str>) {
    match node {
        Node::Text(text) => texts.push(text),
        Node::Not(inner) => collect_texts(inner, texts),
        Node::Pair(_, left, right) => {
            collect_texts(left, texts);
            collect_texts(right, texts);
        }
        Node::Number(_) | Node::Name(_) | Node::Known(_) => {}
    }
}

fn worth(node: &Node, figures: &Figures) -> Worth {
    match node {
        Node::Number(number) => Worth::Number(*number),
        Node::Text(text) => Worth::Text(text.clone()),
        Node::Name(name) => match figures.get(name) {
            Some(Figure::Number(number)) => Worth::Number(*number),
            Some(Figure::Text(text)) => Worth::Text(text.clone()),
            None => Worth::Unknown,
        },
        Node::Known(name) => Worth::Truth(figures.get(name).is_some()),
        Node::Not(inner) => match worth(inner, figures) {
            Worth::Truth(truth) => Worth::Truth(!truth),
            _ => Worth::Unknown,
        },
        Node::Pair(operator, left, right) => {
            pair_worth(*operator, worth(left, figures), worth(right, figures))
        }
    }
}

fn pair_worth(operator: Operator, left: Worth, right: Worth) -> Worth {
    use Worth::{Number, Text, Truth, Unknown};
    match (operator, left, right) {
        (Operator::And, Truth(false), _) | (Operator::And, _, Truth(false)) => Truth(false),
        (Operator::Or, Truth(true), _) | (Operator::Or, _, Truth(true)) => Truth(true),
        (Operator::And, Truth(true), Truth(true)) => Truth(true),
        (Operator::Or, Truth(false), Truth(false)) => Truth(false),
        (Operator::Equal, Text(left), Text(right)) => Truth(left == right),
        (Operator::NotEqual, Text(left), Text(right)) => Truth(left != right),
        (operator, Number(left), Number(right)) => number_worth(operator, left, right),
        _ => Unknown,
    }
}

fn number_worth(operator: Operator, left: f64, right: f64) -> Worth {
    let reckoned = match operator {
        Operator::Equal => return Worth::Truth(left == right),
        Operator::NotEqual => return Worth::Truth(left != right),
        Operator::Less => return Worth::Truth(left < right),
        Operator::LessOrEqual => return Worth::Truth(left <= right),
        Operator::Greater => return Worth::Truth(left > right),
        Operator::GreaterOrEqual => return Worth::Truth(left >= right),
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::DivideWhole => (left / right).floor(),
        Operator::And | Operator::Or => return Worth::Unknown,
    };
    if reckoned.is_finite() { Worth::Number(reckoned) } else { Worth::Unknown }
}

/// A number is itself, a name a string, and everything else a list that begins with its sign; text is
/// `["'", "text"]`.
impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serialize_number(*number, serializer),
            Self::Name(name) => serializer.serialize_str(name),
            Self::Text(text) => ("'", text).serialize(serializer),
            Self::Known(name) => ("known", name).serialize(serializer),
            Self::Not(inner) => ("not", inner).serialize(serializer),
            Self::Pair(operator, left, right) => {
                let mut list = serializer.serialize_seq(Some(3))?;
                list.serialize_element(operator.sign())?;
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
        let value = Value::deserialize(deserializer)?;
        let root = node_of(&value).ok_or_else(|| D::Error::custom("the expression is not well formed"))?;
        Ok(Self { root })
    }
}

fn node_of(value: &Value) -> Option<Node> {
    let list = match value {
        Value::Number(number) => return number.as_f64().map(Node::Number),
        Value::String(name) => return Some(Node::Name(name.clone())),
        other => other.as_array()?,
    };
    let text = |at: usize| list.get(at)?.as_str().map(str::to_owned);
    let node = |at: usize| list.get(at).and_then(node_of).map(Box::new);
    match text(0)?.as_str() {
        "'" => text(1).map(Node::Text),
        "known" => text(1).map(Node::Known),
        "not" => node(1).map(Node::Not),
        sign => {
            let (_, operator) = Operator::ALL.iter().find(|(known, _)| *known == sign)?;
            Some(Node::Pair(*operator, node(1)?, node(2)?))
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
    fn conditions_hold_or_do_not() {
        let known = figures(&[("requested", 2048.0), ("free", 1024.0), ("total", 8192.0)]);
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
        ] {
            let expression = Expression::parse(text).expect(text);
            assert_eq!(expression.holds(&known), expected, "{text}");
            let stored = serde_json::to_string(&expression).expect("it is plain data");
            assert_eq!(serde_json::from_str::<Expression>(&stored).expect(&stored), expression);
        }
    }

    #[test]
    fn what_is_unknown_does_not_hold_and_neither_does_its_negation() {
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
    fn names_are_listed_once() {
        let expression =
            Expression::parse("free < total * 0.05 and known(limit) and free > 0").expect("well formed");
        assert_eq!(expression.names(), ["free", "total", "limit"]);
    }
}
