//! Pages that a diagnosis reports, with figures and cause.

use kbgen_signature::{
    Expression, Extractor, Figure, Figures, Match, PLACE_FIGURE, Template, VERDICT_FIGURE,
};
use serde::Serialize;

use crate::diagnosis::DiagnosisDb;
use crate::site::kinds::{Cause, ErrorKind};

/// A page for a log, in the form of the JSON output.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DiagnosedPage {
    /// Slug of the error; of a guide, `guides/` and its slug.
    pub slug: String,
    /// Title of the page.
    pub title: String,
    /// Address from the root of the site, with a leading slash.
    pub url: String,
    /// Rank of the page, higher is better; comparable within one log and one kind of evidence only.
    pub score: f64,
    /// Whether the page is asserted: a signature with enough bits matches.
    pub exact: bool,
    /// Kind of evidence for the page.
    pub found_by: Evidence,
    /// 1-based line of the log; null without a matching signature.
    pub line: Option<usize>,
    /// Extracted figures, sizes in bytes.
    pub figures: Figures,
    /// The first cause whose condition is true: its `case` if it has one, else its id.
    pub cause: Option<String>,
    /// Sentence with the title of the cause and its figures.
    pub conclusion: Option<String>,
    /// Whether its message names the cause. If no page does, readings that do come first.
    pub names_cause: bool,
}

/// The evidence for a page. Only [`Evidence::Signature`] asserts that the log contains the error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// A signature matches.
    Signature,
    /// A signature with too few bits matches.
    Weak,
    /// The text contains the title of the page.
    Title,
    /// The end of the text is the beginning of a message of the page.
    Beginning,
    /// The text has terms of the page.
    Words,
}

/// Converts a match for output; `None` if the database does not have its page.
pub fn describe_match(db: &DiagnosisDb, found: &Match) -> Option<DiagnosedPage> {
    let error = db.errors.get(&found.slug)?;
    let cause = found.cause.as_ref().and_then(|id| error.causes.iter().find(|cause| cause.id == *id));
    let case = cause
        .and_then(|cause| Template::parse(cause.case.as_ref()?).ok())
        .and_then(|case| case.fill(&found.figures));
    Some(DiagnosedPage {
        url: format!("/{}", error.address),
        title: error.title.clone(),
        slug: found.slug.clone(),
        score: f64::from(found.score),
        exact: true,
        found_by: Evidence::Signature,
        line: Some(found.line),
        conclusion: cause.map(|cause| conclusion(&cause.title, &cause.figures, &found.figures)),
        figures: found.figures.clone(),
        names_cause: error.kind == ErrorKind::Cause && !found.brief,
        cause: case.or_else(|| found.cause.clone()),
    })
}

/// Maximum number of figures in a conclusion.
const MAX_CONCLUSION_FIGURES: usize = 4;

/// Returns the figures that a conclusion shows: those in the condition of the cause, and in the condition of the verdict that
/// it requires. Omits `own`, the memory of the process, because it is computed and no message contains it.
pub fn relevant_figures(cause: &Cause, extractors: &[Extractor]) -> Vec<String> {
    let Some(when) = cause.when.as_ref().and_then(|when| Expression::parse(&when.value).ok()) else {
        return Vec::new();
    };
    let texts = when.texts();
    let verdicts = extractors.iter().flat_map(|extractor| &extractor.verdicts);
    let required = verdicts.filter(|verdict| texts.contains(&verdict.name.as_str()));
    let mut names: Vec<String> = Vec::new();
    for name in when.names().into_iter().chain(required.flat_map(|verdict| verdict.when.names())) {
        if ![VERDICT_FIGURE, PLACE_FIGURE, "own"].contains(&name) && !names.iter().any(|known| known == name)
        {
            names.push(name.to_owned());
        }
    }
    names.truncate(MAX_CONCLUSION_FIGURES);
    names
}

/// Returns the title of a cause, its figures, and the shortage.
fn conclusion(title: &str, names: &[String], figures: &Figures) -> String {
    let values: Vec<String> = names
        .iter()
        .filter_map(|name| {
            Some(format!("{} {}", figure_label(name), format_figure(name, figures.get(name)?)))
        })
        .chain(shortage(figures))
        .collect();
    let title = title.trim_end_matches('.').replace('`', "");
    match values.is_empty() {
        true => format!("{title}."),
        false => format!("{title}: {}.", values.join(", ")),
    }
}

/// Pairs of figures: requested and available.
pub const SHORTAGE_PAIRS: [(&str, &str); 8] = [
    ("requested", "free"),
    ("need", "have"),
    ("wanted", "free"),
    ("length", "kv_tokens"),
    ("asked", "window"),
    ("wanted", "available"),
    ("required", "limit"),
    ("used", "limit"),
];

/// Returns the excess of the first requested figure over the available one.
fn shortage(figures: &Figures) -> Option<String> {
    SHORTAGE_PAIRS.iter().find_map(|(requested, available)| {
        match (figures.get(requested), figures.get(available)) {
            (Some(Figure::Number(needed)), Some(Figure::Number(had))) if needed > had => {
                Some(format!("{} missing", format_figure(requested, &Figure::Number(needed - had))))
            }
            _ => None,
        }
    })
}

/// Smallest number that is formatted as a size; from 16 MiB, every number is.
const MIN_SIZE: f64 = 1_048_576.0;

/// Parts of names of figures that are counts, not sizes.
pub const COUNT_NAMES: [&str; 13] = [
    "token", "ctx", "context", "length", "len", "count", "layer", "version", "port", "pid", "window",
    "asked", "estimate",
];

/// Labels of figures whose name does not say what they are. `static/js/paste.js` has the same.
const LABELS: [(&str, &str); 5] = [
    ("arch", "architecture"),
    ("estimate", "longest length that fits"),
    ("have", "available"),
    ("kv_tokens", "tokens that fit"),
    ("need", "needed"),
];

/// Returns the label of a figure for readers.
pub fn figure_label(name: &str) -> String {
    let label = LABELS.iter().find(|(known, _)| *known == name).map(|(_, label)| (*label).to_owned());
    label.unwrap_or_else(|| name.replace('_', " "))
}

/// Formats a figure: sizes in MiB or GiB, other numbers and codes unchanged. `figure` of `static/js/paste.js` does the same.
pub fn format_figure(name: &str, figure: &Figure) -> String {
    let is_count = COUNT_NAMES.iter().any(|word| name.contains(word));
    match figure {
        Figure::Text(text) => text.clone(),
        Figure::Number(number)
            if !name.contains("code") && (*number >= 16.0 * MIN_SIZE || *number >= MIN_SIZE && !is_count) =>
        {
            let mib = number / MIN_SIZE;
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
    fn a_code_is_not_a_size() {
        assert_eq!(format_figure("code", &Figure::Number(4_294_967_295.0)), "4294967295");
        assert_eq!(format_figure("requested", &Figure::Number(4_294_967_296.0)), "4.00 GiB");
    }

    #[test]
    fn conclusion_shows_figures_and_shortage() {
        let mut figures = Figures::default();
        figures.add("requested", Figure::Number(2_147_483_648.0));
        figures.add("free", Figure::Number(848_297_984.0));
        figures.add("total", Figure::Number(8_589_934_592.0));
        assert_eq!(
            conclusion("The card is full", &["requested".into(), "free".into()], &figures),
            "The card is full: requested 2.00 GiB, free 809 MiB, 1.21 GiB missing."
        );
    }
}
