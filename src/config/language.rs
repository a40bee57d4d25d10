//! Texts in the language of a site, from kbgen and from the site's `i18n/`.

use std::collections::{BTreeMap, BTreeSet};

use crate::config::{BAD_SETTINGS, toml};
use crate::diag::{Diagnostic, Rule, nearest};
use crate::files::{SourceId, Sources, Span, Spanned};
use crate::i18n::{TextPart, Translations, calls, parts};
use crate::schema::NodeKind;

/// `language` has no texts.
pub const UNKNOWN_LANGUAGE: Rule = Rule {
    code: "unknown-language",
    requirement: "the interface has texts in the language of the site",
    why: "pages in two languages are hard to read, and screen readers use the wrong voice",
};

/// Translation of an unknown text.
pub const UNKNOWN_TEXT: Rule = Rule {
    code: "unknown-text",
    requirement: "translations belong to texts of the interface",
    why: "it would never be shown",
};

/// Missing translations.
pub const MISSING_TEXT: Rule = Rule {
    code: "missing-text",
    requirement: "every text of the interface has a translation",
    why: "untranslated texts stay English",
};

/// Translation with other placeholders than its text.
pub const TEXT_HOLES: Rule = Rule {
    code: "text-holes",
    requirement: "a translation has the placeholders and markup of its text",
    why: "a figure or a link would be lost, or a placeholder would be shown",
};

/// Folder of a site's translations.
const OWN: &str = "i18n/";

/// Folder of the translations included in kbgen.
const SHIPPED: &str = "theme/i18n/";

/// Language of the texts in templates, scripts and views.
const ENGLISH: &str = "en";

/// Maximum number of texts listed in a finding.
const MAX_LISTED_TEXTS: usize = 4;

/// English text and translation with their locations.
type Line = (Spanned<String>, Spanned<String>);

/// Returns the texts of `language`. A region may have its own files, or else uses those of its language.
pub(super) fn texts(
    language: &Spanned<String>,
    sources: &Sources,
    found: &mut Vec<Diagnostic>,
) -> Translations {
    let primary = language.value.split('-').next().unwrap_or_default();
    let file = |folder: &str| {
        [language.value.as_str(), primary]
            .iter()
            .find_map(|name| sources.find(&format!("{folder}{name}.toml")))
    };
    let (own, shipped) = (file(OWN), file(SHIPPED));
    let mut translations = BTreeMap::new();
    for (english, translation) in
        shipped.map(|file| lines(sources, file, &mut Vec::new())).unwrap_or_default()
    {
        translations.insert(english.value, translation.value);
    }
    let is_english = primary == ENGLISH;
    if own.is_none() && shipped.is_none() && !is_english {
        found.push(unknown_language(language, sources));
    }
    if own.is_some() || shipped.is_some() {
        let known = all_texts(sources);
        for (english, translation) in own.map(|own| lines(sources, own, found)).unwrap_or_default() {
            if known.contains(&english.value) {
                found.extend(placeholder_mismatch(&english, &translation));
                translations.insert(english.value, translation.value);
            } else {
                found.push(unknown_text(&english, &known));
            }
        }
        if !is_english {
            let missing: Vec<&String> =
                known.iter().filter(|text| !translations.contains_key(*text)).collect();
            let place = own.map_or(language.span, Span::top);
            found.extend(missing_texts(&missing, place, &language.value));
        }
    }
    Translations::new(translations)
}

/// Parses a file of translations.
fn lines(sources: &Sources, file: SourceId, found: &mut Vec<Diagnostic>) -> Vec<Line> {
    let node = toml::parse(&sources.get(file).text, file, found);
    let NodeKind::Map(pairs) = node.kind else { return Vec::new() };
    let mut lines = Vec::new();
    for (english, node) in pairs {
        match node.kind {
            NodeKind::Scalar { text, quoted: true } => lines.push((english, Spanned::new(text, node.span))),
            _ => found.push(
                Diagnostic::error(&BAD_SETTINGS, english.span, "a translation must be a quoted string").help(
                    "write `\"English text\" = \"translation\"`; keys with dots or spaces need quotes too",
                ),
            ),
        }
    }
    lines
}

/// Returns the texts of the interface: those listed in kbgen, in order, and those of the site's templates.
fn all_texts(sources: &Sources) -> Vec<String> {
    let shipped = sources.under(SHIPPED).next();
    let shipped = shipped.map(|(file, _)| lines(sources, file, &mut Vec::new())).unwrap_or_default();
    let shipped = shipped.into_iter().map(|(english, _)| english.value);
    let pages = sources.under("templates/").chain(sources.under("static/"));
    let used = pages.flat_map(|(_, source)| calls(&source.text)).flat_map(|call| call.texts);
    let used = used.filter_map(|text| serde_json::from_str(&format!("\"{text}\"")).ok());
    let mut seen = BTreeSet::new();
    shipped.chain(used).filter(|text: &String| seen.insert(text.clone())).collect()
}

/// Returns a finding if a translation has other placeholders than its text.
fn placeholder_mismatch(english: &Spanned<String>, translation: &Spanned<String>) -> Option<Diagnostic> {
    let marks = |text: &str| {
        let marks = parts(text).into_iter().filter(|part| !matches!(part, TextPart::Words(_)));
        marks.map(|part| part.source()).collect::<BTreeSet<String>>()
    };
    let (wanted, given) = (marks(&english.value), marks(&translation.value));
    let message = match (given.difference(&wanted).next(), wanted.difference(&given).next()) {
        (Some(extra), _) => format!("`{extra}` is not in the English text"),
        (None, Some(lost)) => format!("missing `{lost}` in the translation"),
        (None, None) => return None,
    };
    let marks = wanted.into_iter().map(|mark| format!("`{mark}`")).collect::<Vec<_>>().join(", ");
    let help = match marks.as_str() {
        "" => "use plain text".into(),
        _ => format!("the English text has {marks}"),
    };
    Some(Diagnostic::error(&TEXT_HOLES, translation.span, message).help(help))
}

fn unknown_text(english: &Spanned<String>, known: &[String]) -> Diagnostic {
    let help = match nearest(&english.value, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "remove the line, or use the exact text of a template or script".into(),
    };
    Diagnostic::warning(&UNKNOWN_TEXT, english.span, format!("unknown text `{}`", english.value)).help(help)
}

fn missing_texts(missing: &[&String], place: Span, language: &str) -> Option<Diagnostic> {
    let first = missing.first()?;
    let named: Vec<String> = missing.iter().take(MAX_LISTED_TEXTS).map(|text| format!("`{text}`")).collect();
    let named = named.join(", ");
    let message = match missing.len().saturating_sub(MAX_LISTED_TEXTS) {
        0 => format!("no translation of {named}"),
        rest => format!("no translation of {named} and {rest} more texts"),
    };
    let help = format!("add lines such as `\"{first}\" = \"…\"` to `i18n/{language}.toml`");
    Some(Diagnostic::warning(&MISSING_TEXT, place, message).help(help))
}

fn unknown_language(language: &Spanned<String>, sources: &Sources) -> Diagnostic {
    let shipped = sources.under(SHIPPED).filter_map(|(_, source)| {
        source.path.strip_prefix(SHIPPED)?.strip_suffix(".toml").map(str::to_string)
    });
    let mut names: Vec<String> = shipped.chain([ENGLISH.to_string()]).collect();
    names.sort();
    let shipped = names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ");
    Diagnostic::error(
        &UNKNOWN_LANGUAGE,
        language.span,
        format!("no interface texts for language `{}`", language.value),
    )
    .help(format!("kbgen includes {shipped}; for other languages, add `i18n/{}.toml`", language.value))
}
