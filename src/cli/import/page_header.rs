//! Front matter of other generators: YAML between `---`, TOML between `+++`, or a JSON object.

use jiff::civil::Date;
use serde_json::{Map, Value};

use crate::cli::import::imported_site::{ImportedPage, Loss, LossKind};
use crate::cli::import::traced_text::TracedText;

/// Maximum size of front matter, in bytes: YAML of deep brackets takes quadratic time.
const MAX_BYTES: usize = 16 * 1024;

/// Front matter of a page.
#[derive(Debug, Default)]
pub(super) struct PageHeader(Map<String, Value>);

impl PageHeader {
    /// Splits a file into front matter and body.
    ///
    /// # Errors
    /// If the front matter is not closed, too large or malformed.
    pub fn split(file: &str, text: &str) -> Result<(Self, TracedText), Loss> {
        let text = text.trim_start_matches('\u{feff}');
        let marks = [("---", "yaml"), ("+++", "toml"), ("{", "json")];
        let first = text.lines().next().unwrap_or_default().trim_end();
        let Some((mark, format)) = marks.into_iter().find(|(mark, _)| first == *mark) else {
            return Ok((Self::default(), TracedText::new(text, 1)));
        };
        let fault = |line: usize, what: String| {
            Loss::new(file, line, LossKind::File, format!("{what}: page not imported"))
        };
        let end_mark = if mark == "{" { "}" } else { mark };
        let start = text.find('\n').map_or(text.len(), |at| at + 1);
        let mut at = start;
        let closed = text[start..].split_inclusive('\n').find_map(|line| {
            let here = at;
            at += line.len();
            (line.trim_end() == end_mark).then_some((here, at))
        });
        let (end, body) = closed.ok_or_else(|| fault(1, "unclosed front matter".into()))?;
        let front = if mark == "{" { &text[..body] } else { &text[start..end] };
        if front.len() > MAX_BYTES {
            return Err(fault(1, format!("front matter of {} bytes", front.len())));
        }
        let shift = usize::from(mark != "{");
        let value = parse(front, format).map_err(|(line, what)| fault(line + shift, what))?;
        let fields = match value {
            Value::Object(fields) => fields,
            Value::Null => Map::new(),
            _ => return Err(fault(1, "front matter without keys".into())),
        };
        let first = text[..body].matches('\n').count() + 1;
        Ok((Self(fields), TracedText::new(&text[body..], first)))
    }

    /// Returns the text of a key; keys are compared without case.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.value(key)?.as_str().filter(|text| !text.trim().is_empty())
    }

    /// Returns the value of a key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(name, _)| name.eq_ignore_ascii_case(key)).map(|(_, value)| value)
    }

    /// Returns the weight for the order of lists.
    pub fn weight(&self) -> i64 {
        self.value("weight").and_then(Value::as_i64).filter(|weight| *weight != 0).unwrap_or(i64::MAX)
    }

    /// Returns the page of a file, with title, description, date, draft and aliases from the header.
    pub fn page(&self, file: String, path: String, address: String, body: TracedText) -> ImportedPage {
        let aliases = self.value("aliases").and_then(Value::as_array).into_iter().flatten();
        ImportedPage {
            title: self.text("title").unwrap_or_default().to_string(),
            description: self.text("description").unwrap_or_default().to_string(),
            date: ["updated", "lastmod", "date"].iter().find_map(|key| day(self.text(key)?)),
            draft: self.value("draft").and_then(Value::as_bool).unwrap_or_default(),
            aliases: aliases
                .filter_map(Value::as_str)
                .map(|alias| alias.trim_matches('/').to_string())
                .collect(),
            file,
            path,
            address,
            body,
        }
    }
}

/// Parses a document as JSON values.
///
/// # Errors
/// The line, counted from 1, and the message of the first fault.
pub(super) fn parse(text: &str, format: &str) -> Result<Value, (usize, String)> {
    match format {
        "toml" => toml::from_str::<toml::Value>(text).map(of_toml).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            (line_of(text, at), error.message().to_string())
        }),
        "json" => serde_json::from_str(text).map_err(|error| (error.line(), error.to_string())),
        _ => serde_yaml::from_str::<serde_yaml::Value>(text)
            .map_err(|error| {
                (error.location().map_or(1, |at| at.line()), without_positions(&error.to_string()))
            })
            .map(|value| serde_json::to_value(value).unwrap_or_default()),
    }
}

/// Removes the positions from a message, which count from the start of the front matter.
fn without_positions(message: &str) -> String {
    let parts = message.split(", ").map(|part| part.split(" at line ").next().unwrap_or(part));
    parts.collect::<Vec<_>>().join(", ")
}

fn line_of(text: &str, at: usize) -> usize {
    text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
}

fn of_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::Datetime(day) => Value::String(day.to_string()),
        toml::Value::Array(items) => items.into_iter().map(of_toml).collect(),
        toml::Value::Table(table) => table.into_iter().map(|(key, value)| (key, of_toml(value))).collect(),
        other => serde_json::to_value(other).unwrap_or_default(),
    }
}

/// Returns the day at the start of a date or time.
pub(super) fn day(text: &str) -> Option<Date> {
    text.get(..10)?.parse().ok()
}
