//! Holds a node tree against field definitions: reports every fault, keeps what is right.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, nearest};
use crate::files::{Placed, Span};
use crate::schema::field::{Field, Need, Shape};
use crate::schema::fields::{Fields, Value};
use crate::schema::node::{Node, NodeKind};
use crate::schema::rules::{DUPLICATE_KEY, MISSING_KEY, TOO_MUCH, UNKNOWN_KEY, WRONG_TYPE};
use crate::schema::scalar;

/// The fields of a mapping that are right; every fault goes to `found`.
///
/// `owner` names the mapping in messages ("an error page", "a cause").
pub fn read(node: &Node, fields: &'static [Field], owner: &str, found: &mut Vec<Diagnostic>) -> Fields {
    let mut read = Fields { span: node.span, values: BTreeMap::new() };
    let pairs = match &node.kind {
        NodeKind::Map(pairs) => pairs.as_slice(),
        NodeKind::Null => &[],
        _ => {
            let message = format!("{owner} is {}, not a mapping", node.name());
            found.push(
                Diagnostic::error(&WRONG_TYPE, node.span, message)
                    .help("write `key: value` pairs, one a line"),
            );
            return read;
        }
    };
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    let mut meant: Vec<&str> = Vec::new();
    for (key, value) in pairs {
        if let Some(first) = seen.insert(&key.value, key.span) {
            let message = format!("the key `{}` stands twice", key.value);
            found.push(
                Diagnostic::error(&DUPLICATE_KEY, key.span, message)
                    .related(first, "first here")
                    .help("keep one of the two"),
            );
            continue;
        }
        let Some(field) = fields.iter().find(|field| field.name == key.value) else {
            let near = nearest(&key.value, fields.iter().map(|field| field.name));
            meant.extend(near);
            found.push(unknown(key, near, fields, owner));
            continue;
        };
        if let Some(value) = self::value(field.name, &field.shape, value, key.span, found) {
            read.values.insert(field.name, value);
        }
    }
    for field in fields.iter().filter(|field| field.need == Need::Required) {
        // A misspelled key is one mistake, not two.
        if !seen.contains_key(field.name) && !meant.contains(&field.name) {
            let message = format!("{owner} needs the key `{}`", field.name);
            found.push(Diagnostic::error(&MISSING_KEY, opening(node), message).help(format!(
                "add `{}:` ({})",
                field.name,
                field.doc.trim_end_matches('.')
            )));
        }
    }
    read
}

/// A mapping's faults as a whole stand at its first key, not over all its lines.
fn opening(node: &Node) -> Span {
    match &node.kind {
        NodeKind::Map(pairs) => pairs.first().map_or(node.span, |(key, _)| key.span),
        _ => node.span,
    }
}

fn unknown(key: &Placed<String>, near: Option<&str>, fields: &[Field], owner: &str) -> Diagnostic {
    let names = fields.iter().map(|field| field.name);
    let help = match near {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known keys: {}", names.collect::<Vec<_>>().join(", ")),
    };
    let message = format!("{owner} has no key `{}`", key.value);
    Diagnostic::error(&UNKNOWN_KEY, key.span, message).help(help)
}

fn value(
    key: &'static str,
    shape: &'static Shape,
    node: &Node,
    place: Span,
    found: &mut Vec<Diagnostic>,
) -> Option<Placed<Value>> {
    let value = match (&node.kind, shape) {
        (NodeKind::Null, _) => {
            let message = format!("`{key}` has no value");
            found.push(
                Diagnostic::error(&WRONG_TYPE, place, message)
                    .help(format!("write {} after the colon, or take the key away", shape.name())),
            );
            return None;
        }
        (NodeKind::Scalar { text, quoted }, _) => match scalar::value(key, text, *quoted, shape, node.span) {
            Ok(value) => value,
            Err(fault) => {
                found.push(fault);
                return None;
            }
        },
        (NodeKind::List(items), Shape::List { of, at_least, at_most }) => {
            if items.len() < *at_least || items.len() > *at_most {
                found.push(wrong_count(key, items.len(), *at_least, *at_most, node.span, place));
            }
            let items = items.iter().take(*at_most);
            Value::List(items.filter_map(|item| value(key, of, item, item.span, found)).collect())
        }
        (NodeKind::Map(_), Shape::Record(fields)) => {
            Value::Record(read(node, fields, &format!("`{key}`"), found))
        }
        (NodeKind::Map(pairs), Shape::Map(of)) => Value::Map(free_keys(key, of, pairs, found)),
        _ => {
            let message = format!("`{key}` is {}, not {}", node.name(), shape.name());
            found.push(Diagnostic::error(&WRONG_TYPE, node.span, message).help(form(key, shape)));
            return None;
        }
    };
    Some(Placed::new(value, node.span))
}

fn form(key: &str, shape: &Shape) -> String {
    match shape {
        Shape::List { .. } => format!("write `{key}:` and below it one item a line, each after `- `"),
        Shape::Record(_) | Shape::Map(_) => {
            format!("write `{key}:` and below it `key: value` pairs, indented")
        }
        _ => format!("write `{key}: ` and the value on the same line"),
    }
}

fn wrong_count(key: &str, count: usize, least: usize, most: usize, span: Span, place: Span) -> Diagnostic {
    if count < least {
        Diagnostic::error(&MISSING_KEY, place, format!("`{key}` is empty"))
            .help(format!("it needs {least} at least"))
    } else {
        Diagnostic::error(&TOO_MUCH, span, format!("`{key}` has {count} items"))
            .help(format!("at most {most} are read"))
    }
}

fn free_keys(
    key: &'static str,
    of: &'static Shape,
    pairs: &[(Placed<String>, Node)],
    found: &mut Vec<Diagnostic>,
) -> Vec<(Placed<String>, Placed<Value>)> {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    let mut read = Vec::new();
    for (name, node) in pairs {
        if let Some(first) = seen.insert(&name.value, name.span) {
            let message = format!("the key `{}` stands twice", name.value);
            found.push(
                Diagnostic::error(&DUPLICATE_KEY, name.span, message)
                    .related(first, "first here")
                    .help("keep one of the two"),
            );
        } else if let Some(value) = value(key, of, node, name.span, found) {
            read.push((name.clone(), value));
        }
    }
    read
}
