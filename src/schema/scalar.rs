//! Converts scalars to typed values.

use jiff::civil::Date;

use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::Span;
use crate::schema::field::ShapeOf;
use crate::schema::fields::Value;
use crate::schema::rules::{BAD_DATE, TOO_MUCH, UNKNOWN_VALUE, WRONG_TYPE};
use crate::unicode_safety::host_spoofing;

/// Maximum length of a text in bytes.
const TEXT_LIMIT: usize = 4096;

/// Converts `text` to a value of `shape`. Quoted text is never a number, flag or date.
pub fn value(
    key: &str,
    text: &str,
    quoted: bool,
    shape: &ShapeOf<'_>,
    span: Span,
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
        ShapeOf::Url if !is_url(text) => wrong(&WRONG_TYPE, "start with `https://`".into()),
        ShapeOf::Url if host_spoofing(text).is_some() => {
            wrong(&WRONG_TYPE, "write the host in ASCII (`xn--…`), without a user name and `@`".into())
        }
        ShapeOf::Url => Ok(Value::Text(text.to_string())),
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
            wrong(&WRONG_TYPE, help_for_collection(key, text, shape))
        }
    }
}

fn help_for_collection(key: &str, text: &str, shape: &ShapeOf<'_>) -> String {
    match shape {
        ShapeOf::List { of: ShapeOf::Text | ShapeOf::Slug | ShapeOf::Url, .. } if text.len() < 60 => {
            format!("put it in brackets: `{key}: [{text}]`")
        }
        ShapeOf::List { .. } => "write one item per line, each starting with `- `".into(),
        _ => "write `key: value` pairs, indented, on the lines below".into(),
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

fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| {
        !rest.is_empty()
            && !rest.starts_with('/')
            && rest
                .chars()
                .all(|c| !c.is_whitespace() && !c.is_control() && !matches!(c, '"' | '<' | '>' | '\\' | '`'))
    })
}

fn show(text: &str) -> String {
    let short: String = text.chars().take(40).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
