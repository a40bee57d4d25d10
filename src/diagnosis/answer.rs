//! What a match says: the page, the figures, the cause they point to.

use serde::Serialize;

use crate::signature::{Expression, Figure, Figures, Match};
use crate::site::Site;

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
    /// Whether a signature matched; a page that is only near has none.
    pub exact: bool,
    /// Line of the log, from 1; null for a page that is only near.
    pub line: Option<usize>,
    /// What was read, sizes in bytes.
    pub figures: Figures,
    /// The cause that the figures point to.
    pub cause: Option<String>,
    /// That cause in a sentence, with its figures.
    pub conclusion: Option<String>,
}

/// A match in words.
pub fn answer(site: &Site, found: Match) -> Option<Answer> {
    let error = site.errors.iter().find(|error| error.head.id.slug == found.slug)?;
    let cause =
        found.cause.as_ref().and_then(|id| error.data.causes.iter().find(|cause| cause.id.value == *id));
    let conclusion = cause.map(|cause| {
        let when = cause.when.as_ref().map(|when| when.value.as_str()).unwrap_or_default();
        conclusion(&cause.title, when, &found.figures)
    });
    Some(Answer {
        url: format!("/{}", error.head.id.address()),
        title: error.head.title.value.clone(),
        slug: found.slug,
        score: f64::from(found.score),
        exact: true,
        line: Some(found.line),
        figures: found.figures,
        cause: found.cause,
        conclusion,
    })
}

/// The cause, and the figures that its condition looked at.
fn conclusion(title: &str, when: &str, figures: &Figures) -> String {
    let names = Expression::parse(when)
        .map(|when| when.names().into_iter().map(str::to_string).collect::<Vec<_>>())
        .unwrap_or_default();
    let told: Vec<String> = names
        .iter()
        .filter_map(|name| {
            Some(format!("{} {}", name.replace('_', " "), show_figure(name, figures.get(name)?)))
        })
        .collect();
    let title = title.trim_end_matches('.').replace('`', "");
    match told.is_empty() {
        true => format!("{title}."),
        false => format!("{title}: {}.", told.join(", ")),
    }
}

/// Smallest number that is shown as a size: no count in a message of this field is as large.
const SIZE: f64 = 1_048_576.0;

/// A figure as people read it: sizes in MiB or GiB, other numbers as they are.
pub fn show_figure(name: &str, figure: &Figure) -> String {
    match figure {
        Figure::Text(text) => text.clone(),
        Figure::Number(number) if *number >= SIZE && !is_count(name) => {
            let mib = number / SIZE;
            if mib < 1024.0 { format!("{mib:.0} MiB") } else { format!("{:.2} GiB", mib / 1024.0) }
        }
        Figure::Number(number) if number.fract() == 0.0 => format!("{number:.0}"),
        Figure::Number(number) => format!("{number}"),
    }
}

/// Whether a name speaks of a number of things, not of bytes.
fn is_count(name: &str) -> bool {
    ["token", "ctx", "context", "length", "len", "count", "layer", "version", "port", "pid", "window"]
        .iter()
        .any(|word| name.contains(word))
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
            conclusion("The card is full", "requested > free", &figures),
            "The card is full: requested 2.00 GiB, free 809 MiB."
        );
    }
}
