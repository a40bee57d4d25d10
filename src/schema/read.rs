//! Validates a node tree against field definitions, reports all errors and keeps valid values.

use std::collections::BTreeMap;

use crate::diag::{Diagnostic, nearest};
use crate::files::{Span, Spanned};
use crate::schema::field::{FieldOf, Need, ShapeOf};
use crate::schema::fields::{Fields, Value};
use crate::schema::node::{Node, NodeKind, Syntax};
use crate::schema::rules::{DUPLICATE_ITEM, DUPLICATE_KEY, MISSING_KEY, TOO_MUCH, UNKNOWN_KEY, WRONG_TYPE};
use crate::schema::scalar;

/// Returns the valid fields of a mapping and adds all errors to `found`.
///
/// `owner` names the mapping in messages ("an error page", "a cause").
pub fn read(
    node: &Node,
    fields: &[FieldOf<'_>],
    owner: &str,
    syntax: Syntax,
    found: &mut Vec<Diagnostic>,
) -> Fields {
    let mut read = Fields::none(node.span);
    let pairs = match &node.kind {
        NodeKind::Map(pairs) => pairs.as_slice(),
        NodeKind::Null => &[],
        _ => {
            read.unread.extend(fields.iter().map(|field| field.name.to_string()));
            let message = format!("{owner} is {}, not a mapping", node.name());
            found.push(
                Diagnostic::error(&WRONG_TYPE, node.span, message)
                    .help("write one `key: value` pair per line"),
            );
            return read;
        }
    };
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for (key, value) in pairs {
        if let Some(first) = seen.insert(&key.value, key.span) {
            found.push(twice(key, first));
            read.unread.insert(key.value.clone());
            continue;
        }
        let Some(field) = fields.iter().find(|field| field.name == key.value) else {
            let near = nearest(&key.value, fields.iter().map(|field| field.name));
            read.unread.extend(near.map(str::to_string));
            found.push(unknown(key, near, fields, owner));
            continue;
        };
        if matches!(value.kind, NodeKind::Null) && field.need == Need::Required {
            let help = format!("write {} after the colon", field.shape.name());
            found.push(no_value(field.name, key.span).help(help));
            read.unread.insert(field.name.to_string());
            continue;
        }
        let faults = found.len();
        let holds_unreadable = value.holds_unreadable();
        if let Some(value) = self::value(field.name, &field.shape, value, key.span, syntax, found) {
            read.values.insert(field.name.to_string(), value);
        }
        if found.len() > faults || holds_unreadable {
            read.unread.insert(field.name.to_string());
        }
    }
    for field in fields.iter().filter(|field| field.need == Need::Required) {
        // A misspelled key is one mistake, not two.
        if !seen.contains_key(field.name) && read.unread.insert(field.name.to_string()) {
            let message = format!("missing key `{}` in {owner}", field.name);
            found.push(Diagnostic::error(&MISSING_KEY, opening(node), message).help(format!(
                "add `{}` ({})",
                field.name,
                field.doc.trim_end_matches('.')
            )));
        }
    }
    read
}

/// Returns the first key of a mapping, as the location of errors about the whole mapping.
fn opening(node: &Node) -> Span {
    match &node.kind {
        NodeKind::Map(pairs) => pairs.first().map_or(node.span, |(key, _)| key.span),
        _ => node.span,
    }
}

fn no_value(key: &str, place: Span) -> Diagnostic {
    Diagnostic::error(&WRONG_TYPE, place, format!("`{key}` has no value"))
}

fn twice(key: &Spanned<String>, first: Span) -> Diagnostic {
    Diagnostic::error(&DUPLICATE_KEY, key.span, format!("duplicate key `{}`", key.value))
        .related(first, "first defined here")
        .help("remove one of the two")
}

fn unknown(key: &Spanned<String>, near: Option<&str>, fields: &[FieldOf<'_>], owner: &str) -> Diagnostic {
    let names = fields.iter().map(|field| field.name);
    let help = match near {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("known keys: {}", names.collect::<Vec<_>>().join(", ")),
    };
    let message = format!("unknown key `{}` in {owner}", key.value);
    Diagnostic::error(&UNKNOWN_KEY, key.span, message).help(help)
}

fn value(
    key: &str,
    shape: &ShapeOf<'_>,
    node: &Node,
    place: Span,
    syntax: Syntax,
    found: &mut Vec<Diagnostic>,
) -> Option<Spanned<Value>> {
    let value = match (&node.kind, shape) {
        (NodeKind::Unreadable, _) => return None,
        (NodeKind::Null, _) => {
            let help = format!("write {} after the colon, or remove the key", shape.name());
            found.push(no_value(key, place).help(help));
            return None;
        }
        (NodeKind::Scalar { text, quoted }, _) => {
            match scalar::value(key, (text, *quoted), shape, node.span, syntax) {
                Ok(value) => value,
                Err(fault) => {
                    found.push(fault);
                    return None;
                }
            }
        }
        (NodeKind::List(items), ShapeOf::List { of, at_least, at_most }) => {
            if items.len() < *at_least || items.len() > *at_most {
                found.push(wrong_count(key, items.len(), *at_least, *at_most, node.span, place));
            }
            let read = items.iter().take(*at_most);
            let read: Vec<_> =
                read.filter_map(|item| value(key, of, item, item.span, syntax, found)).collect();
            // For a list that is too long, only its length is reported.
            Value::List(if items.len() > *at_most { read } else { distinct(key, read, found) })
        }
        (NodeKind::Map(_), ShapeOf::Record(fields)) => {
            Value::Record(read(node, fields, &format!("`{key}`"), syntax, found))
        }
        (NodeKind::Map(pairs), ShapeOf::Map(of)) => Value::Map(free_keys(key, of, pairs, syntax, found)),
        _ => {
            // Only an item of a list has no key of its own.
            let item = if place == node.span { "an item of " } else { "" };
            let message = format!("{item}`{key}` is {}, not {}", node.name(), shape.name());
            let help = match shape {
                ShapeOf::Text if !item.is_empty() && syntax == Syntax::Yaml => as_text(node),
                _ => None,
            };
            let help = help.unwrap_or_else(|| form(key, shape, syntax, !item.is_empty()));
            found.push(Diagnostic::error(&WRONG_TYPE, node.span, message).help(help));
            return None;
        }
    };
    Some(Spanned::new(value, node.span))
}

/// Removes duplicate texts and numbers from a list and reports the first duplicate of each.
fn distinct(key: &str, items: Vec<Spanned<Value>>, found: &mut Vec<Diagnostic>) -> Vec<Spanned<Value>> {
    let mut seen: BTreeMap<String, (Span, usize)> = BTreeMap::new();
    let mut is_new = |item: &Spanned<Value>| {
        let text = match &item.value {
            Value::Text(text) => text.trim().to_string(),
            Value::Number(number) => number.to_string(),
            _ => return true,
        };
        let (first, times) = seen.entry(text).or_insert((item.span, 0));
        *times += 1;
        if *times == 2 {
            found.push(
                Diagnostic::error(&DUPLICATE_ITEM, item.span, format!("duplicate item in `{key}`"))
                    .related(*first, "first defined here")
                    .help("remove one of the two"),
            );
        }
        *times == 1
    };
    items.into_iter().filter(|item| is_new(item)).collect()
}

/// Returns the correction of an unquoted text with a colon, which YAML reads as a mapping.
fn as_text(node: &Node) -> Option<String> {
    let NodeKind::Map(pairs) = &node.kind else { return None };
    let [(key, value)] = pairs.as_slice() else { return None };
    let value = match &value.kind {
        NodeKind::Scalar { text, quoted: false } => format!(" {text}"),
        NodeKind::Null => String::new(),
        _ => return None,
    };
    let text = format!("{}:{value}", key.value).replace('\\', "\\\\").replace('"', "\\\"");
    Some(format!("quote the item: `- \"{text}\"`"))
}

fn form(key: &str, shape: &ShapeOf<'_>, syntax: Syntax, is_item: bool) -> String {
    match (shape, syntax) {
        (ShapeOf::List { .. } | ShapeOf::Record(_) | ShapeOf::Map(_), Syntax::Toml) => {
            scalar::toml_collection(shape)
        }
        (_, Syntax::Toml) if !is_item => format!("write `{key} = ` and the value on one line"),
        (ShapeOf::List { .. }, _) => {
            format!("write `{key}:`, then one item per line, each starting with `- `")
        }
        (ShapeOf::Record(_) | ShapeOf::Map(_), _) => {
            format!("write `{key}:`, then indented `key: value` pairs")
        }
        _ if is_item => format!("write {} for the item", shape.name()),
        _ => format!("write `{key}: ` and the value on one line"),
    }
}

fn wrong_count(key: &str, count: usize, least: usize, most: usize, span: Span, place: Span) -> Diagnostic {
    if count < least {
        Diagnostic::error(&MISSING_KEY, place, format!("`{key}` is empty"))
            .help(format!("add at least {least}"))
    } else {
        Diagnostic::error(&TOO_MUCH, span, format!("`{key}` has {count} items"))
            .help(format!("at most {most} are allowed"))
    }
}

fn free_keys(
    key: &str,
    of: &ShapeOf<'_>,
    pairs: &[(Spanned<String>, Node)],
    syntax: Syntax,
    found: &mut Vec<Diagnostic>,
) -> Vec<(Spanned<String>, Spanned<Value>)> {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    let mut read = Vec::new();
    for (name, node) in pairs {
        if let Some(first) = seen.insert(&name.value, name.span) {
            found.push(twice(name, first));
        } else if let Some(value) = value(key, of, node, name.span, syntax, found) {
            read.push((name.clone(), value));
        }
    }
    read
}
