//! Texts in scripts: `t("Copied")` becomes the text itself when the file is taken into the site, so that a page needs
//! neither a table of texts nor a function for them.
//!
//! `t("{n} of {all}", { n: left, all: rows.length })` becomes `left + " of " + rows.length`, in the order that the
//! language wants, and `t("{n} match", "{n} matches", { n: count })` chooses one of two by `n`.

use std::ops::Range;

use crate::texts::{Call, Part, Texts, calls, parts};

/// What cannot be understood, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// The call.
    pub range: Range<usize>,
    /// What is wrong with it.
    pub message: String,
}

/// What stands for a hole: its name, and an expression.
type Value = (String, String);

/// The script with its texts put in.
pub(super) fn told(script: &str, texts: &Texts) -> Result<String, Fault> {
    let mut out = String::with_capacity(script.len());
    let mut at = 0;
    for call in calls(script) {
        // One among the values of another was written with it.
        if call.range.start < at {
            continue;
        }
        let fault = |message: String| Fault { range: call.range.clone(), message };
        let (values, end) = values(script, call.range.end, texts).map_err(fault)?;
        out.push_str(&script[at..call.range.start]);
        out.push_str(&expression(&call, &values, texts).map_err(fault)?);
        at = end;
    }
    out.push_str(&script[at..]);
    Ok(out)
}

/// What is said, as JavaScript.
fn expression(call: &Call<'_>, values: &[Value], texts: &Texts) -> Result<String, String> {
    let told: Vec<String> = call.texts.iter().map(|text| translated(text, texts)).collect();
    let value = |name: &str| {
        let found = values.iter().find(|(own, _)| own == name);
        found.map(|(_, value)| value.as_str()).ok_or_else(|| format!("`{{{name}}}` has no value"))
    };
    let chooses = call.texts.len() > 1;
    for name in values.iter().map(|(name, _)| name).filter(|name| !(chooses && *name == "n")) {
        if !call.texts.iter().any(|text| parts(text).contains(&Part::Hole(name))) {
            return Err(format!("the text has no hole `{{{name}}}`"));
        }
    }
    match &told[..] {
        [one] => joined(&parts(one), &value),
        [one, many] => chosen(&parts(one), &parts(many), &value),
        _ => Err("`t` takes one text, or two for one and for many".into()),
    }
}

/// A text as it stands between quotes, in the language of the site.
fn translated(text: &str, texts: &Texts) -> String {
    let english: Option<String> = serde_json::from_str(&format!("\"{text}\"")).ok();
    match english.as_deref().map(|english| (english, texts.say(english))) {
        Some((english, told)) if english != told => {
            let quoted = serde_json::Value::from(told).to_string();
            quoted[1..quoted.len() - 1].to_string()
        }
        _ => text.to_string(),
    }
}

/// Words and values in their order.
fn joined<'v>(
    parts: &[Part<'_>],
    value: &impl Fn(&str) -> Result<&'v str, String>,
) -> Result<String, String> {
    let mut out: Vec<String> = Vec::new();
    for part in parts {
        match part {
            Part::Hole(name) => out.push(value(name)?.to_string()),
            part => match out.last_mut().filter(|last| last.starts_with('"')) {
                // A mark has no meaning in a script; it is a word as any other.
                Some(last) => last.insert_str(last.len() - 1, &part.source()),
                None => out.push(format!("\"{}\"", part.source())),
            },
        }
    }
    Ok(if out.is_empty() { "\"\"".into() } else { out.join(" + ") })
}

/// One of two texts; what they begin and end with alike is written once.
fn chosen<'v>(
    one: &[Part<'_>],
    many: &[Part<'_>],
    value: &impl Fn(&str) -> Result<&'v str, String>,
) -> Result<String, String> {
    let count = value("n")?;
    if one == many {
        return joined(one, value);
    }
    let is_alike = |(a, b): &(&Part<'_>, &Part<'_>)| a == b;
    let before = one.iter().zip(many).take_while(is_alike).count();
    let (one_rest, many_rest) = (&one[before..], &many[before..]);
    let behind = one_rest.iter().rev().zip(many_rest.iter().rev()).take_while(is_alike).count();
    let choice = format!(
        "({count} === 1 ? {} : {})",
        joined(&one_rest[..one_rest.len() - behind], value)?,
        joined(&many_rest[..many_rest.len() - behind], value)?
    );
    let mut out = Vec::new();
    if before > 0 {
        out.push(joined(&one[..before], value)?);
    }
    out.push(choice);
    if behind > 0 {
        out.push(joined(&one[one.len() - behind..], value)?);
    }
    Ok(out.join(" + "))
}

/// The values that follow the texts of a call, and where the call ends.
fn values(script: &str, texts_end: usize, texts: &Texts) -> Result<(Vec<Value>, usize), String> {
    let open = |rest: &str| "the call is not closed: ".to_string() + rest.lines().next().unwrap_or_default();
    let rest = script[texts_end..].trim_start();
    let at = script.len() - rest.len();
    if rest.starts_with(')') {
        return Ok((Vec::new(), at + 1));
    }
    let rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    let start = script.len() - rest.len();
    if !rest.starts_with('{') {
        return Err("behind its texts stands an object with their values".into());
    }
    let mut values = Vec::new();
    let mut from = start + 1;
    loop {
        let to = end_of_expression(script, from).ok_or_else(|| open(rest))?;
        let pair = script[from..to].trim();
        if !pair.is_empty() {
            let (name, value) = pair.split_once(':').unwrap_or((pair, pair));
            let value = told(value.trim(), texts).map_err(|fault| fault.message)?;
            values.push((name.trim().to_string(), grouped(value)));
        }
        from = to + 1;
        if script[to..].starts_with('}') {
            break;
        }
    }
    let rest = script[from..].trim_start();
    match rest.strip_prefix(')') {
        Some(behind) => Ok((values, script.len() - behind.len())),
        None => Err(open(rest)),
    }
}

/// Where an expression ends that begins at `start`: at a comma or a bracket of its surroundings.
fn end_of_expression(script: &str, start: usize) -> Option<usize> {
    let (mut depth, mut quote) = (0usize, None);
    let mut is_escaped = false;
    for (at, byte) in script.bytes().enumerate().skip(start) {
        match (quote, byte) {
            _ if is_escaped => is_escaped = false,
            (Some(_), b'\\') => is_escaped = true,
            (Some(own), _) if own == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (None, b',' | b')' | b']' | b'}') if depth == 0 => return Some(at),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth -= 1,
            _ => {}
        }
    }
    None
}

/// An expression that stays whole between `+` signs.
fn grouped(value: String) -> String {
    let mut depth = 0usize;
    let is_open = value.bytes().any(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        byte == b' ' && depth == 0
    });
    if is_open && !value.starts_with('"') { format!("({value})") } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn german() -> Texts {
        let pairs = [
            ("Copied", "Kopiert"),
            ("{n} of {all}", "von {all} sind {n} da"),
            ("{n} match", "{n} Treffer"),
            ("{n} matches", "{n} Treffer"),
            ("Show {n} page", "{n} Seite zeigen"),
            ("Show {n} pages", "{n} Seiten zeigen"),
            ("No \"{name}\"", "„{name}“ fehlt"),
        ];
        Texts::new(pairs.map(|(english, own)| (english.to_string(), own.to_string())).into())
    }

    #[test]
    fn texts_become_plain_expressions() {
        for (script, english, own) in [
            ("say(t(\"Copied\"));", "say(\"Copied\");", "say(\"Kopiert\");"),
            (
                "t(\"{n} of {all}\", { n: left, all: rows.length + 1 })",
                "left + \" of \" + (rows.length + 1)",
                "\"von \" + (rows.length + 1) + \" sind \" + left + \" da\"",
            ),
            (
                "t(\"{n} match\", \"{n} matches\", {n: count})",
                "count + (count === 1 ? \" match\" : \" matches\")",
                "count + \" Treffer\"",
            ),
            (
                "t(\"Show {n} page\", \"Show {n} pages\", { n: f(a, \"}\") })",
                "\"Show \" + f(a, \"}\") + (f(a, \"}\") === 1 ? \" page\" : \" pages\")",
                "f(a, \"}\") + (f(a, \"}\") === 1 ? \" Seite zeigen\" : \" Seiten zeigen\")",
            ),
            (
                "x ? t(\"No \\\"{name}\\\"\", { name: t(\"Copied\") }) : \"\"",
                "x ? \"No \\\"\" + \"Copied\\\"\" : \"\"",
                "x ? \"„\" + \"Kopiert“ fehlt\" : \"\"",
            ),
        ] {
            assert_eq!(told(script, &Texts::new(BTreeMap::new())).as_deref(), Ok(english));
            assert_eq!(told(script, &german()).as_deref(), Ok(own));
        }
    }

    #[test]
    fn a_call_that_cannot_be_understood_is_told() {
        for (script, told_of) in [
            ("t(\"{n} of\")", "`{n}` has no value"),
            ("t(\"a\", { n: 1 })", "the text has no hole `{n}`"),
            ("t(\"a\", n)", "behind its texts stands an object with their values"),
            ("t(\"{n}\", { n: (1", "the call is not closed: { n: (1"),
        ] {
            let fault = told(script, &Texts::default()).expect_err("a fault");
            assert_eq!(fault.message, told_of);
        }
    }
}
