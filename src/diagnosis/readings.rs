//! Parses the structural readings of a site.

use std::collections::BTreeMap;

use kbgen_signature::{
    Lookup, Pattern, ReadingPage, ReadingRole, ReadingRule, ReadingText, Signature, Template,
};

use crate::diagnosis::signature_parser::{SignatureError, SignatureParser};
use crate::files::Spanned;
use crate::site::kinds::{ReadingData, Role, SaysText};
use crate::site::{Page, Site};

/// Figures of a traceback; see [`kbgen_signature::Traceback`].
const TRACEBACK_FIGURES: [&str; 14] = [
    "error",
    "message",
    "root_error",
    "root_message",
    "package",
    "package_frame",
    "own_frame",
    "node",
    "frames",
    "cut_frame",
    "dump_frame",
    "crash_code",
    "library",
    "function",
];

/// Parses readings, without the parts that have errors.
pub(super) fn parse_readings(site: &Site, parser: &mut SignatureParser<'_>) -> Vec<ReadingPage> {
    site.readings.iter().map(|page| parse_reading(site, page, parser)).collect()
}

fn parse_reading(site: &Site, page: &Page<ReadingData>, parser: &mut SignatureParser<'_>) -> ReadingPage {
    let data = &page.data;
    let patterns: Vec<Pattern> = data.patterns.iter().filter_map(|text| parser.pattern(text)).collect();
    let not: Vec<Pattern> = data.not.iter().filter_map(|text| parser.pattern(text)).collect();
    for lookup in &data.lookups {
        check_table(site, &lookup.table, parser);
    }
    let figures: Vec<String> = patterns
        .iter()
        .flat_map(Pattern::names)
        .chain(data.lookups.iter().map(|lookup| lookup.name.value.as_str()))
        .chain(TRACEBACK_FIGURES)
        .map(str::to_owned)
        .collect();
    let figures = page.head.is_read().then_some(figures.as_slice());
    let says = data.says.iter().filter_map(|says| parse_text(says, &data.pages, figures, parser));
    let pair =
        |(value, meaning): &(Spanned<String>, Spanned<String>)| (value.value.clone(), meaning.value.clone());
    let lookup = |lookup: &crate::site::kinds::LookupText| Lookup {
        figure: lookup.figure.value.clone(),
        table: lookup.table.value.clone(),
        name: lookup.name.value.clone(),
    };
    let rule = ReadingRule {
        slug: page.head.id.slug.clone(),
        role: role(data.role),
        order: data.order as u32,
        traceback: data.traceback,
        lookups: data.lookups.iter().map(lookup).collect(),
        table: data.table.iter().map(pair).collect::<BTreeMap<_, _>>().into(),
        says: says.collect::<Vec<_>>().into(),
    };
    let signature = |pattern: Pattern| Signature { not: not.clone(), ..Signature::of(pattern) };
    ReadingPage { rule, signatures: patterns.into_iter().map(signature).collect() }
}

fn role(role: Role) -> ReadingRole {
    match role {
        Role::Cause => ReadingRole::Cause,
        Role::Form => ReadingRole::Form,
        Role::Outcome => ReadingRole::Outcome,
        Role::Crash => ReadingRole::Crash,
        Role::Pointer => ReadingRole::Pointer,
        Role::Repeat => ReadingRole::Repeat,
    }
}

fn parse_text(
    says: &SaysText,
    pages: &[Spanned<String>],
    figures: Option<&[String]>,
    parser: &mut SignatureParser<'_>,
) -> Option<ReadingText> {
    let when = says.when.as_ref().map(|when| parser.condition(when, figures));
    let text: Option<Template> = parser.template(&says.text, figures);
    let next: Option<Template> = parser.template(&says.next, figures);
    let pages = says.pages.as_deref().unwrap_or(pages);
    let pages = pages.iter().map(|page| page.value.clone()).collect();
    (when != Some(None)).then_some(ReadingText { when: when.flatten(), text: text?, next: next?, pages })
}

fn check_table(site: &Site, table: &Spanned<String>, parser: &mut SignatureParser<'_>) {
    let mut tables = site.readings.iter().filter(|reading| !reading.data.table.is_empty());
    if !tables.any(|reading| reading.head.id.slug == table.value) {
        parser.pattern_errors.push(SignatureError {
            span: table.span,
            message: format!("unknown table `{}`", table.value),
            help: "name a reading that has a `table`".to_owned(),
        });
    }
}
