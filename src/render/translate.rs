//! The template function `t("…")`: translates a text of the interface.
//!
//! `t("{n} error", "{n} errors", n=count)` selects singular or plural by `n`. The value of a placeholder is escaped
//! unless it is HTML. `<link>words</link>` is a link if `link` is given an address, and otherwise one of a few
//! elements.

use std::collections::BTreeMap;
use std::fmt::Write;

use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind};

use crate::i18n::{self, TextPart, Translations, parts};
use crate::markdown::write_escaped;
use crate::render::templates::html;

/// Elements that a text may contain without a value of that name.
const ELEMENTS: [&str; 5] = ["b", "code", "em", "strong", "var"];

/// Adds the function `t`.
pub(super) fn add_function(environment: &mut Environment<'_>, texts: &Translations) {
    let texts = texts.clone();
    environment.add_function("t", move |one: &str, many: Option<&str>, values: Kwargs| {
        let english = match many {
            Some(many) if values.peek::<Value>("n")? != Value::from(1) => many,
            _ => one,
        };
        for name in values.args().filter(|name| !(many.is_some() && *name == "n")) {
            let names = |text: &str| parts(text).iter().any(|part| is_named(*part, name));
            if !names(one) && !many.is_some_and(names) {
                return Err(fault(format!("the text has no placeholder `{name}`")));
            }
        }
        said(texts.tr(english), &values).map(html)
    });
}

/// Lengths of `{{ ` and of `{##}`.
const OPEN: usize = 3;
const COMMENT: usize = 4;

/// Constants for texts without values, by text: the name of a global variable, and its value.
pub(super) type Constants = BTreeMap<String, (String, Value)>;

/// Replaces `t("…")` by a constant, and `{{ t("…") }}` by its value, of the same length, so that the locations in a template stay
/// the same.
pub(super) fn fold(template: &str, texts: &Translations, constants: &mut Constants) -> String {
    let mut folded = template.to_string();
    for call in i18n::calls(template) {
        let range = call.range.start..call.range.end + 1;
        let (before, source) = (&template[..range.start], template.get(range.clone()).unwrap_or_default());
        let is_in = |[one, other]: [&str; 2]| before.rfind(one).max(before.rfind(other));
        let [text] = call.texts[..] else { continue };
        if !source.ends_with(')')
            || source.contains(['\n', '\\'])
            || is_in(["{{", "{%"]) <= is_in(["}}", "%}"])
        {
            continue;
        }
        let Ok(html) = said(texts.tr(text), &Kwargs::from_iter([("", Value::UNDEFINED); 0])) else {
            continue;
        };
        let is_alone = before.ends_with("{{ ") && template[range.end..].starts_with(" }}");
        let whole = range.start.saturating_sub(OPEN)..range.end + OPEN;
        let is_plain = html.trim() == html && !html.is_empty() && !html.contains('{');
        if is_alone && is_plain && html.len() + COMMENT <= whole.len() {
            let comment = whole.len() - html.len() - COMMENT;
            folded.replace_range(whole, &format!("{html}{{#{:comment$}#}}", ""));
            continue;
        }
        let html = self::html(html);
        let name = format!("t_{}", constants.len());
        let (name, _) = constants.entry(text.to_string()).or_insert((name, html));
        if name.len() <= source.len() {
            folded.replace_range(range, &format!("{name:width$}", width = source.len()));
        }
    }
    folded
}

fn is_named(part: TextPart<'_>, name: &str) -> bool {
    matches!(part, TextPart::Hole(own) | TextPart::Open(own) if own == name)
}

/// Renders a text to HTML.
fn said(text: &str, values: &Kwargs) -> Result<String, Error> {
    let mut out = String::with_capacity(text.len());
    for part in parts(text) {
        match part {
            TextPart::Words(words) => write_words(&mut out, words),
            TextPart::Hole(name) if values.has(name) => write_value(&mut out, &values.peek::<Value>(name)?)?,
            TextPart::Open(name) if values.has(name) => {
                out.push_str("<a href=\"");
                write_value(&mut out, &values.peek::<Value>(name)?)?;
                out.push_str("\">");
            }
            TextPart::Close(name) if values.has(name) => out.push_str("</a>"),
            TextPart::Open(name) | TextPart::Close(name) if ELEMENTS.contains(&name) => {
                out.push_str(&part.source());
            }
            part => return Err(fault(format!("missing value for `{}`", part.source()))),
        }
    }
    Ok(out)
}

/// Escapes words for an element or a quoted attribute.
fn write_words(out: &mut String, words: &str) {
    // Apostrophes need no escape in either.
    for (at, piece) in words.split('\'').enumerate() {
        if at > 0 {
            out.push('\'');
        }
        write_escaped(out, piece).expect("writing to memory never fails");
    }
}

fn write_value(out: &mut String, value: &Value) -> Result<(), Error> {
    match value.as_str() {
        _ if value.is_undefined() => return Err(ErrorKind::UndefinedError.into()),
        Some(markup) if value.is_safe() => out.push_str(markup),
        Some(text) => write_escaped(out, text).expect("writing to memory never fails"),
        None => write!(out, "{value}").expect("writing to memory never fails"),
    }
    Ok(())
}

fn fault(message: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::templates::plain_engine;

    fn rendered(template: &str, texts: &[(&str, &str)]) -> Result<String, String> {
        let texts = Translations::new(
            texts.iter().map(|(english, own)| ((*english).to_string(), (*own).to_string())).collect(),
        );
        let mut environment = plain_engine();
        add_function(&mut environment, &texts);
        let view = Value::from_pairs([("name", "a & b's"), ("href", "x?a=\"1\"")]);
        environment.render_str(template, view).map_err(|error| error.to_string())
    }

    #[test]
    fn escapes_texts_but_not_tags() {
        let german = [("The <l>list</l> of {name}", "Von {name} die „<l>Liste</l>“ <b>& mehr\"</b>")];
        let template = "{{ t(\"The <l>list</l> of {name}\", l=href, name=name) }}";
        assert_eq!(
            rendered(template, &[]).as_deref(),
            Ok("The <a href=\"x?a=&quot;1&quot;\">list</a> of a &amp; b&#39;s")
        );
        assert_eq!(
            rendered(template, &german).as_deref(),
            Ok("Von a &amp; b&#39;s die „<a href=\"x?a=&quot;1&quot;\">Liste</a>“ <b>&amp; mehr&quot;</b>")
        );
    }

    #[test]
    fn selects_singular_or_plural() {
        let template = "{% for n in [0, 1, 2] %}{{ t(\"{n} page\", \"{n} pages\", n=n) }} {% endfor %}";
        assert_eq!(rendered(template, &[]).as_deref(), Ok("0 pages 1 page 2 pages "));
    }

    #[test]
    fn folds_texts_without_values() {
        let texts = Translations::new(BTreeMap::from([("Copy".to_string(), "Kopieren".to_string())]));
        let mut constants = Constants::new();
        let template = "t(\"Copy\"){{ t(\"Copy\") }}{% set a = t(\"Copy\") %}{{ t(\"{n} a\", n=1) }}é";
        let folded = fold(template, &texts, &mut constants);
        assert_eq!(folded, "t(\"Copy\")Kopieren{#   #}{% set a = t_0       %}{{ t(\"{n} a\", n=1) }}é");
        assert_eq!(constants["Copy"].1.as_str(), Some("Kopieren"));
    }

    #[test]
    fn missing_values_and_placeholders_are_reported() {
        for (template, message) in [
            ("{{ t(\"{n} pages\") }}", "missing value for `{n}`"),
            ("{{ t(\"<i>x</i>\") }}", "missing value for `<i>`"),
            ("{{ t(\"pages\", n=1) }}", "the text has no placeholder `n`"),
        ] {
            let fault = rendered(template, &[]).expect_err("a fault");
            assert!(fault.contains(message), "{fault}");
        }
    }
}
