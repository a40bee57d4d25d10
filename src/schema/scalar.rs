//! Converts scalars to typed values.

use jiff::civil::Date;

use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Span;
use crate::schema::field::ShapeOf;
use crate::schema::fields::Value;
use crate::schema::node::Syntax;
use crate::schema::rules::{BAD_DATE, TOO_MUCH, UNKNOWN_VALUE, WRONG_TYPE};
use crate::unicode_safety::host_spoofing;

/// Maximum length of a text in bytes.
const TEXT_LIMIT: usize = 4096;

/// Converts a text, with whether it is quoted, to a value of `shape`. Quoted text is never a number, flag or date.
pub fn value(
    key: &str,
    (text, quoted): (&str, bool),
    shape: &ShapeOf<'_>,
    span: Span,
    syntax: Syntax,
) -> Result<Value, Diagnostic> {
    if text.len() > TEXT_LIMIT {
        let message = format!("`{key}` has {} bytes", text.len());
        return Err(Diagnostic::error(&TOO_MUCH, span, message)
            .help(format!("at most {TEXT_LIMIT} bytes are allowed; move long text to the body")));
    }
    let wrong = |rule: &Rule, help: String| {
        let what = match shape {
            ShapeOf::Integer { .. } | ShapeOf::Number | ShapeOf::Flag if quoted => {
                "a quoted string".to_string()
            }
            _ => show(text),
        };
        Err(Diagnostic::error(rule, span, format!("`{key}` is {what}, not {}", shape.name())).help(help))
    };
    match shape {
        ShapeOf::Text if text.trim().is_empty() => {
            Err(Diagnostic::error(&WRONG_TYPE, span, format!("`{key}` is empty")).help("add a value"))
        }
        ShapeOf::Text => Ok(Value::Text(text.to_string())),
        ShapeOf::Slug if !is_slug(text) => wrong(
            &WRONG_TYPE,
            "use lowercase letters, digits, hyphens and dots, as in the file name of the page".into(),
        ),
        ShapeOf::Slug => Ok(Value::Text(text.to_string())),
        ShapeOf::Url => match url_fault(text) {
            Some(help) => wrong(&WRONG_TYPE, help),
            None => Ok(Value::Text(text.to_string())),
        },
        ShapeOf::Date => date(key, text, span),
        ShapeOf::Integer { min, max } if !quoted => match text.replace('_', "").parse::<i64>() {
            Ok(number) if (*min..=*max).contains(&number) => Ok(Value::Integer(number)),
            Ok(number) => Err(Diagnostic::error(&WRONG_TYPE, span, format!("`{key}` is {number}"))
                .help(format!("use a number from {min} to {max}"))),
            Err(_) => wrong(&WRONG_TYPE, "write digits only, without unit or quotes".into()),
        },
        ShapeOf::Number if !quoted => match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number > 0.0 => Ok(Value::Number(number)),
            _ => wrong(&WRONG_TYPE, "write a number above zero, without unit or quotes".into()),
        },
        ShapeOf::Flag if !quoted && text == "true" => Ok(Value::Flag(true)),
        ShapeOf::Flag if !quoted && text == "false" => Ok(Value::Flag(false)),
        ShapeOf::Integer { .. } | ShapeOf::Number => {
            wrong(&WRONG_TYPE, "write digits only, without unit or quotes".into())
        }
        ShapeOf::Flag => wrong(&WRONG_TYPE, "write `true` or `false`, without quotes".into()),
        ShapeOf::Choice(choices) => choice(key, text, choices, span),
        ShapeOf::List { .. } | ShapeOf::Record(_) | ShapeOf::Map(_) => {
            wrong(&WRONG_TYPE, help_for_collection(key, text, shape, syntax))
        }
    }
}

fn help_for_collection(key: &str, text: &str, shape: &ShapeOf<'_>, syntax: Syntax) -> String {
    match shape {
        ShapeOf::List { of: ShapeOf::Text | ShapeOf::Slug | ShapeOf::Url | ShapeOf::Choice(_), .. }
            if syntax == Syntax::Toml && text.len() < 60 && !text.contains(['"', '\\', '\n']) =>
        {
            format!("put it in brackets: `{key} = [\"{text}\"]`")
        }
        _ if syntax == Syntax::Toml => toml_collection(shape),
        ShapeOf::List { of: ShapeOf::Text | ShapeOf::Slug | ShapeOf::Url, .. } if text.len() < 60 => {
            format!("put it in brackets: `{key}: [{text}]`")
        }
        ShapeOf::List { .. } => "write one item per line, each starting with `- `".into(),
        _ => "write `key: value` pairs, indented, on the lines below".into(),
    }
}

/// Returns how to write a list or a mapping in TOML.
pub fn toml_collection(shape: &ShapeOf<'_>) -> String {
    match shape {
        ShapeOf::List { .. } => "write a list: `[\"first\", \"second\"]`".into(),
        _ => "write a table: `{ key = \"value\" }`".into(),
    }
}

fn choice(key: &str, text: &str, choices: &[(&str, &str)], span: Span) -> Result<Value, Diagnostic> {
    if choices.iter().any(|(word, _)| *word == text) {
        return Ok(Value::Text(text.to_string()));
    }
    let names = choices.iter().map(|(word, _)| *word);
    let help = match nearest(text, names.clone()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => {
            format!("use one of {}", names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
    };
    Err(Diagnostic::error(&UNKNOWN_VALUE, span, format!("unknown value {} for `{key}`", show(text)))
        .help(help))
}

fn date(key: &str, text: &str, span: Span) -> Result<Value, Diagnostic> {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
    let fault = |message: String, help: &str| Err(Diagnostic::error(&BAD_DATE, span, message).help(help));
    let [year, month, day] = parts[..] else {
        return fault(
            format!("`{key}` is {}, not a date", show(text)),
            "write the date as YYYY-MM-DD, such as 2026-06-12",
        );
    };
    if !(digits(year, 4) && digits(month, 2) && digits(day, 2)) {
        return fault(
            format!("`{key}` is {}, not a date", show(text)),
            "write the date as YYYY-MM-DD, such as 2026-06-12",
        );
    }
    let (year, month, day): (i16, i8, i8) = match (year.parse(), month.parse(), day.parse()) {
        (Ok(year), Ok(month), Ok(day)) => (year, month, day),
        _ => return fault(format!("`{key}` is {}, not a date", show(text)), "write the date as YYYY-MM-DD"),
    };
    if !(1..=12).contains(&month) {
        return fault(format!("invalid date {text}: no month {month}"), "use a month from 01 to 12");
    }
    match Date::new(year, month, day) {
        Ok(date) => Ok(Value::Date(date)),
        Err(_) => fault(format!("invalid date {text}: no day {day} in this month"), "use an existing date"),
    }
}

/// Returns the default title for a name: `out-of-memory` becomes `Out of memory`.
pub fn title_of(name: &str) -> String {
    let text = name.replace(['-', '_'], " ");
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Returns whether a text consists of lowercase letters and digits, with hyphens, dots or underscores between them.
pub fn is_slug(text: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = text.as_bytes();
    bytes.len() <= 100
        && bytes.first().is_some_and(|byte| alphanumeric(*byte))
        && bytes.last().is_some_and(|byte| alphanumeric(*byte))
        && bytes.iter().all(|byte| alphanumeric(*byte) || matches!(byte, b'-' | b'.' | b'_'))
}

/// Returns how to correct a text that is not a web address.
fn url_fault(text: &str) -> Option<String> {
    let Some(rest) = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")) else {
        return Some("start with `https://`".into());
    };
    let is_bad = |c: &char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '\\' | '`');
    match rest.chars().find(is_bad) {
        Some(' ') => Some("remove the space, or write it as `%20`".into()),
        Some('`') => Some("remove the backtick, or write it as `%60`".into()),
        Some(character) if character.is_ascii_graphic() => Some(format!(
            "remove the character `{character}`, or write it as `%{:02X}`",
            u32::from(character)
        )),
        Some(character) => Some(format!("remove the character U+{:04X}", u32::from(character))),
        None if rest.is_empty() || rest.starts_with('/') => Some("write a host after `//`".into()),
        None => host_spoofing(text)
            .map(|_| "write the host in ASCII (`xn--…`), without a user name and `@`".into()),
    }
}

fn show(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
