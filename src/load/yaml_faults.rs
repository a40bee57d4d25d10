//! Explains syntax errors of the YAML parser in terms of the source.

use crate::diag::Diagnostic;
use crate::files::Span;
use crate::load::rules::{TAB_INDENTATION, UNQUOTED_COLON, YAML_SYNTAX};

/// How to continue after a syntax error.
pub(super) enum Repair {
    /// Continue with this text, which has the same length and differs only at the error.
    Text {
        /// Repaired text.
        text: String,
        /// Offset of a value that the repair changed.
        at: Option<usize>,
    },
    /// Continue with the text before this offset.
    CutAt(usize),
}

/// Reports tabs in the indentation and replaces them by spaces.
pub(super) fn leading_tabs(text: &mut String, place: Span) -> Vec<Diagnostic> {
    let mut found: Vec<Diagnostic> = Vec::new();
    let mut repaired = String::with_capacity(text.len());
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let tabs = line.len() - line.trim_start_matches('\t').len();
        if tabs > 0 && !line.trim().is_empty() {
            found.push(tab_finding(place.part(at, at + tabs)));
        }
        repaired.push_str(&" ".repeat(tabs));
        repaired.push_str(&line[tabs..]);
        at += line.len();
    }
    *text = repaired;
    found
}

fn tab_finding(span: Span) -> Diagnostic {
    Diagnostic::error(&TAB_INDENTATION, span, "line indented with a tab")
        .help("indent with two spaces per level")
}

/// Returns the finding for a syntax error at offset `at` of `text`, and how to continue.
pub(super) fn explain(text: &str, at: usize, info: &str, place: Span) -> (Diagnostic, Repair) {
    let at = at.min(text.len());
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let previous = text[..start.saturating_sub(1)].rfind('\n').map_or(0, |newline| newline + 1);
    if info.contains("tab")
        && let Some(next) = text[at..].find('\n').map(|newline| at + newline + 1)
        && let Some(finding) =
            tab_after_spaces(text, text[next..].split('\n').next().unwrap_or_default(), next, place)
    {
        // The parser stops at the end of the value above.
        return finding;
    }
    for line_start in [start, previous] {
        let line = text[line_start..].split('\n').next().unwrap_or_default();
        if let Some(finding) = bad_escape(text, line, line_start, place)
            .or_else(|| tab_after_spaces(text, line, line_start, place))
            .or_else(|| tab_after_colon(text, line, line_start, place))
            .or_else(|| second_colon(text, line, line_start, place))
            .or_else(|| text_after_quote(text, line, line_start, place))
            .or_else(|| bad_first_character(text, line, line_start, place))
        {
            return finding;
        }
        if start == previous {
            break;
        }
    }
    if info.contains("quoted scalar") && text[at..].starts_with(['"', '\'']) {
        let finding = Diagnostic::error(&YAML_SYNTAX, place.part(at, at + 1), "unclosed quote")
            .help(format!("close it on the same line with `{}`", &text[at..=at]));
        return (finding, Repair::CutAt(top_level_start(text, start)));
    }
    if let Some(finding) = wrong_indentation(text, start, place) {
        return (finding, Repair::CutAt(top_level_start(text, start)));
    }
    let finding = Diagnostic::error(&YAML_SYNTAX, place.part(at, at), plain(info))
        .help("check this line and the previous one for unbalanced quotes or brackets and for inconsistent indentation");
    (finding, Repair::CutAt(top_level_start(text, start)))
}

/// Rewords a message of the parser as a phrase.
fn plain(info: &str) -> String {
    let info = info.trim().trim_end_matches('.');
    let mut letters = info.chars();
    match letters.next() {
        Some(first) => format!("invalid YAML: {}{}", first.to_lowercase(), letters.as_str()),
        None => "invalid YAML".into(),
    }
}

fn tab_after_spaces(text: &str, line: &str, start: usize, place: Span) -> Option<(Diagnostic, Repair)> {
    let indent = line.len() - line.trim_start().len();
    let tab = line[..indent].find('\t')?;
    let mut repaired = text.to_string();
    repaired.replace_range(start + tab..start + indent, &" ".repeat(indent - tab));
    Some((tab_finding(place.part(start + tab, start + indent)), Repair::Text { text: repaired, at: None }))
}

fn tab_after_colon(text: &str, line: &str, start: usize, place: Span) -> Option<(Diagnostic, Repair)> {
    let colon = line.find(":\t").filter(|colon| is_key(line[..*colon].trim_start_matches([' ', '-'])))?;
    let at = start + colon + 1;
    let mut repaired = text.to_string();
    repaired.replace_range(at..=at, " ");
    let finding = Diagnostic::error(&TAB_INDENTATION, place.part(at, at + 1), "tab after a colon")
        .help("write a space instead");
    Some((finding, Repair::Text { text: repaired, at: None }))
}

/// Reports a key that is indented differently from the key above.
fn wrong_indentation(text: &str, start: usize, place: Span) -> Option<Diagnostic> {
    let line = text[start..].split('\n').next().unwrap_or_default();
    let (indent, own) = key_column(line)?;
    let above = text[..start].lines().rev().find(|line| !line.trim().is_empty())?;
    let (_, column) = key_column(above)?;
    (indent == own && indent != column && indent.abs_diff(column) <= 2).then(|| {
        let message = format!("line indented with {indent} spaces, and the key above with {column}");
        Diagnostic::error(&YAML_SYNTAX, place.part(start, start + indent.max(1)), message)
            .help(format!("indent it with {column} spaces, as the key above"))
    })
}

/// Returns the indentation of a line and the column of its key, after `- `.
fn key_column(line: &str) -> Option<(usize, usize)> {
    let indent = line.len() - line.trim_start().len();
    let item = line[indent..].trim_start_matches(['-', ' ']);
    item.split_once(':').filter(|(key, _)| is_key(key)).map(|_| (indent, line.len() - item.len()))
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Returns the offset of the value in a line: after `- ` and `key: `.
fn value_start(line: &str) -> Option<usize> {
    let mut at = line.len() - line.trim_start().len();
    while line[at..].starts_with("- ") {
        at += 2 + line[at + 2..].len() - line[at + 2..].trim_start().len();
    }
    let key = line[at..].find(": ")?;
    let value = at + key + 2;
    is_key(&line[at..at + key]).then(|| value + line[value..].len() - line[value..].trim_start().len())
}

/// Returns the offset of a list item with two colons, unless a key below shows that the item is a mapping.
fn text_item_start(text: &str, line: &str, start: usize) -> Option<usize> {
    let indent = line.len() - line.trim_start().len();
    let item = line[indent..].trim_start_matches(['-', ' ']);
    let (_, value) = item.split_once(": ")?;
    let is_plain = !value.trim_start().starts_with(['"', '\'', '[', '{', '|', '>', '#']);
    let is_fault = is_plain && (value.contains(": ") || value.trim_end().ends_with(':'));
    let below = text[start + line.len()..].lines().find(|line| !line.trim().is_empty());
    let is_mapping = below.is_some_and(|line| line.len() - line.trim_start().len() > indent);
    (line[indent..].starts_with("- ") && is_fault && !is_mapping).then_some(line.len() - item.len())
}

fn second_colon(text: &str, line: &str, start: usize, place: Span) -> Option<(Diagnostic, Repair)> {
    let item_at = text_item_start(text, line, start);
    let value_at = item_at.or_else(|| value_start(line))?;
    let value = line[value_at..].trim_end();
    if value.starts_with(['"', '\'', '[', '{', '|', '>', '#']) {
        return None;
    }
    let colon = value.find(": ").or_else(|| value.ends_with(':').then(|| value.len() - 1))?;
    let key = line[..value_at].trim().trim_start_matches("- ");
    let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
    let at = start + value_at + colon;
    let mut repaired = text.to_string();
    // One finding covers all colons of the value.
    let plain = format!("{value} ").replace(": ", ". ");
    repaired.replace_range(start + value_at..start + value_at + value.len(), plain.trim_end());
    let finding = Diagnostic::error(
        &UNQUOTED_COLON,
        place.part(at, at + 1),
        format!("unquoted colon in a value; YAML reads `{}` as a key", &value[..colon]),
    )
    .help(match item_at {
        Some(_) => format!("quote the item: `- \"{quoted}\"`"),
        None => format!("quote the value: `{key} \"{quoted}\"`"),
    });
    Some((finding, Repair::Text { text: repaired, at: Some(at) }))
}

/// Finds a backslash in double quotes that is not a YAML escape, as in a Windows path or a regular expression.
fn bad_escape(text: &str, line: &str, start: usize, place: Span) -> Option<(Diagnostic, Repair)> {
    let mut state = None;
    let mut bad = None;
    let mut characters = line.char_indices();
    let (open, bad, end) = loop {
        let (at, character) = characters.next()?;
        match (character, state) {
            ('"', Some(open)) => {
                if let Some(bad) = bad {
                    break (open, bad, at);
                }
                state = None;
            }
            ('"', None) if line[..at].ends_with([' ', '[', '{', ',']) => state = Some(at),
            ('\\', Some(_)) => {
                if !is_escape(&line[at + 1..]) {
                    bad.get_or_insert(at);
                }
                characters.next();
            }
            _ => {}
        }
    };
    let value = &line[open + 1..end];
    let escape: String = line[bad..].chars().take(2).collect();
    let mut repaired = text.to_string();
    let range = start + open + 1..start + end;
    repaired.replace_range(range.clone(), &value.replace('\\', "/").replace('"', "'"));
    let finding = Diagnostic::error(
        &YAML_SYNTAX,
        place.part(start + bad, start + bad + escape.len()),
        format!("invalid escape `{escape}` in double quotes"),
    )
    .help(format!("use single quotes: `'{}'`", value.replace("\\\"", "\"").replace('\'', "''")));
    Some((finding, Repair::Text { text: repaired, at: Some(start + open) }))
}

/// Returns whether the text after a backslash is a valid escape
/// (<https://yaml.org/spec/1.2.2/#57-escaped-characters>).
fn is_escape(rest: &str) -> bool {
    let digits = |count: usize| {
        rest.len() > count && rest.bytes().skip(1).take(count).all(|byte| byte.is_ascii_hexdigit())
    };
    match rest.chars().next() {
        None => true,
        Some('x') => digits(2),
        Some('u') => digits(4),
        Some('U') => digits(8),
        Some(character) => "0abt\tnvfre \"/\\N_LP".contains(character),
    }
}

/// Returns the offset of the value or of the list item in a line.
fn scalar_start(line: &str) -> Option<usize> {
    value_start(line).or_else(|| {
        let indent = line.len() - line.trim_start().len();
        line[indent..].strip_prefix("- ").map(|_| indent + 2)
    })
}

/// Finds a quotation mark in a quoted value, which ends it: `'the model's size'`.
fn text_after_quote(text: &str, line: &str, start: usize, place: Span) -> Option<(Diagnostic, Repair)> {
    let value_at = scalar_start(line)?;
    let value = line[value_at..].trim_end();
    let quote = value.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let inner = value[1..].strip_suffix(quote).unwrap_or(&value[1..]);
    let end =
        inner.find(quote).filter(|end| !inner[end + 1..].trim_start().starts_with(['#', ',', quote]))?;
    if inner[..end].ends_with('\\') {
        return None;
    }
    let quoted = match quote {
        '"' => format!("'{}'", inner.replace('\'', "''")),
        _ => format!("\"{}\"", inner.replace('\\', "\\\\").replace('"', "\\\"")),
    };
    let at = start + value_at + 1 + end;
    let mut repaired = text.to_string();
    let range = start + value_at + 1..start + value_at + 1 + inner.len();
    repaired.replace_range(range, &inner.replace(quote, "x"));
    let finding = Diagnostic::error(
        &YAML_SYNTAX,
        place.part(at, at + 1),
        format!("the `{quote}` within the value ends it"),
    )
    .help(format!("use the other quotes: `{quoted}`"));
    Some((finding, Repair::Text { text: repaired, at: Some(start + value_at) }))
}

fn bad_first_character(text: &str, line: &str, start: usize, place: Span) -> Option<(Diagnostic, Repair)> {
    let value_at = scalar_start(line)?;
    let value = line[value_at..].trim_end();
    // A list in brackets, unlike `[INFO] text`, ends with the bracket.
    let is_text = |open: char| {
        let close = if open == '[' { ']' } else { '}' };
        let rest = value.split_once(close).map_or("", |(_, rest)| rest.trim_start());
        !rest.is_empty() && !rest.starts_with(['#', ',', ']', '}'])
    };
    let is_bad = |c: &char| match c {
        '`' | '@' | '%' | '*' | '&' | '!' => true,
        '[' | '{' => is_text(*c),
        _ => false,
    };
    let first = value.chars().next().filter(is_bad)?;
    let at = start + value_at;
    let mut repaired = text.to_string();
    // A colon in the value would be another mistake.
    let plain = format!("x{}", value[1..].replace(": ", ". "));
    repaired.replace_range(at..at + value.len(), &plain);
    let finding = Diagnostic::error(
        &YAML_SYNTAX,
        place.part(at, at + 1),
        match first {
            '`' => "unquoted value starts with a backtick".to_string(),
            first => format!("unquoted value starts with `{first}`"),
        },
    )
    .help(format!("quote it: `\"{}\"`", value.replace('\\', "\\\\").replace('"', "\\\"")));
    Some((finding, Repair::Text { text: repaired, at: Some(at) }))
}

/// Returns the start of the top-level key that a line belongs to.
fn top_level_start(text: &str, line_start: usize) -> usize {
    let mut top = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at > line_start {
            break;
        }
        if line.starts_with(|c: char| c.is_alphabetic()) {
            top = at;
        }
        at += line.len();
    }
    top
}
