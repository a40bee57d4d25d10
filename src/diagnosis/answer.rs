//! What a match says: the page, the figures, the cause they point to.

use kbgen_signature::{Expression, Extractor, Figure, Figures, Match, PLACE, Template, VERDICT};
use serde::Serialize;

use crate::diagnosis::Book;
use crate::site::kinds::Cause;

/// One page that a log leads to.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    /// Slug of the page.
    pub slug: String,
    /// Its title.
    pub title: String,
    /// Its address, from the root of the site.
    pub url: String,
    /// How well it fits; comparable within one log only.
    pub score: f64,
    /// Whether the page is asserted: a signature matched that tells enough.
    pub exact: bool,
    /// The evidence for the page.
    pub found_by: Evidence,
    /// Line of the log, from 1; null for a page that no signature finds.
    pub line: Option<usize>,
    /// What was read, sizes in bytes.
    pub figures: Figures,
    /// The cause that the figures point to: its `case` if it has one, else its id.
    pub cause: Option<String>,
    /// That cause in a sentence, with its figures.
    pub conclusion: Option<String>,
}

/// The evidence for a page. Only a signature that tells enough asserts that the log contains the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// A signature matches.
    Signature,
    /// A signature matches that tells too little.
    Weak,
    /// The text is the title of the page, or holds it.
    Title,
    /// The text ends as a message of the page begins.
    Beginning,
    /// The text shares words with the page.
    Words,
}

/// A match in words.
pub fn answer(book: &Book, found: Match) -> Option<Answer> {
    let error = book.errors.get(&found.slug)?;
    let cause = found.cause.as_ref().and_then(|id| error.causes.iter().find(|cause| cause.id == *id));
    let case = cause
        .and_then(|cause| Template::parse(cause.case.as_ref()?).ok())
        .and_then(|case| case.fill(&found.figures));
    Some(Answer {
        url: format!("/{}", error.address),
        title: error.title.clone(),
        slug: found.slug,
        score: f64::from(found.score),
        exact: true,
        found_by: Evidence::Signature,
        line: Some(found.line),
        conclusion: cause.map(|cause| conclusion(&cause.title, &cause.told, &found.figures)),
        figures: found.figures,
        cause: case.or(found.cause),
    })
}

/// More figures make a sentence that nobody reads.
const MOST: usize = 4;

/// The figures that a cause is known by: those of its condition, and of the verdict that this asks for. What this
/// process holds in all is reckoned for the rules, and stands in no message.
pub fn told(cause: &Cause, extractors: &[Extractor]) -> Vec<String> {
    let Some(when) = cause.when.as_ref().and_then(|when| Expression::parse(&when.value).ok()) else {
        return Vec::new();
    };
    let texts = when.texts();
    let verdicts = extractors.iter().flat_map(|extractor| &extractor.verdicts);
    let asked_for = verdicts.filter(|verdict| texts.contains(&verdict.name.as_str()));
    let mut names: Vec<String> = Vec::new();
    for name in when.names().into_iter().chain(asked_for.flat_map(|verdict| verdict.when.names())) {
        if ![VERDICT, PLACE, "own"].contains(&name) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names.truncate(MOST);
    names
}

/// The title of a cause and the figures that it is known by, with what is missing.
fn conclusion(title: &str, names: &[String], figures: &Figures) -> String {
    let told: Vec<String> = names
        .iter()
        .filter_map(|name| {
            Some(format!("{} {}", name.replace('_', " "), show_figure(name, figures.get(name)?)))
        })
        .chain(shortage(figures))
        .collect();
    let title = title.trim_end_matches('.').replace('`', "");
    match told.is_empty() {
        true => format!("{title}."),
        false => format!("{title}: {}.", told.join(", ")),
    }
}

/// What was asked for, and what there was: figures that messages give in pairs.
pub const PAIRS: [(&str, &str); 8] = [
    ("requested", "free"),
    ("need", "have"),
    ("wanted", "free"),
    ("length", "kv_tokens"),
    ("asked", "window"),
    ("wanted", "available"),
    ("required", "limit"),
    ("used", "limit"),
];

/// By how much what was asked for is more than there was.
fn shortage(figures: &Figures) -> Option<String> {
    PAIRS.iter().find_map(|(asked, there)| match (figures.get(asked), figures.get(there)) {
        (Some(Figure::Number(asked_for)), Some(Figure::Number(had))) if asked_for > had => {
            Some(format!("{} too much", show_figure(asked, &Figure::Number(asked_for - had))))
        }
        _ => None,
    })
}

/// Smallest number that may be a size; from sixteen times this on every number is one.
const SIZE: f64 = 1_048_576.0;

/// Parts of names that speak of a number of things, not of bytes.
pub const COUNTS: [&str; 13] = [
    "token", "ctx", "context", "length", "len", "count", "layer", "version", "port", "pid", "window",
    "asked", "estimate",
];

/// A figure as people read it, as `figure` of `static/js/paste.js` writes it: sizes in MiB or GiB, other numbers as they are.
pub fn show_figure(name: &str, figure: &Figure) -> String {
    let is_count = COUNTS.iter().any(|word| name.contains(word));
    match figure {
        Figure::Text(text) => text.clone(),
        Figure::Number(number) if *number >= 16.0 * SIZE || *number >= SIZE && !is_count => {
            let mib = number / SIZE;
            match mib < 1024.0 {
                true => format!("{} MiB", (mib + 0.5).floor()),
                false => format!("{:.2} GiB", (mib / 10.24 + 0.5).floor() / 100.0),
            }
        }
        Figure::Number(number) => format!("{number}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conclusion_names_the_figures_of_its_condition() {
        let mut figures = Figures::default();
        figures.add("requested", Figure::Number(2_147_483_648.0));
        figures.add("free", Figure::Number(848_297_984.0));
        figures.add("total", Figure::Number(8_589_934_592.0));
        assert_eq!(
            conclusion("The card is full", &["requested".into(), "free".into()], &figures),
            "The card is full: requested 2.00 GiB, free 809 MiB, 1.21 GiB too much."
        );
    }
}
