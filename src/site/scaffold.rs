//! Templates of new pages, and the placeholder phrases in them that must not be published.

use std::collections::BTreeSet;

/// Template of an error page. In all templates, `%NAME%` is a value, and `⟦…⟧` a phrase for the author to replace.
pub const ERROR: &str = include_str!("scaffold/error.md");
/// Template of a model page.
pub const MODEL: &str = include_str!("scaffold/model.md");
/// Template of a hardware page.
pub const HARDWARE: &str = include_str!("scaffold/hardware.md");
/// Template of a guide.
pub const GUIDE: &str = include_str!("scaffold/guide.md");
/// Sample of an error page created without a log. It contains the page's name, so that each page's sample is unique.
pub const SAMPLE: &str = "⟦replace this with a line that the program really printed⟧ for %SLUG%";

/// Fills in the values; values without a placeholder are ignored.
pub fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let template = template.replace(['⟦', '⟧'], "");
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
    let parts = template.split('%').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { value(part) } else { part }).collect()
}

/// Returns the placeholder phrases of all templates, the longest first.
pub fn placeholders() -> Vec<&'static str> {
    let templates = [ERROR, MODEL, HARDWARE, GUIDE, SAMPLE].into_iter();
    let phrases = templates.flat_map(|template| template.split('⟦').skip(1));
    let unique: BTreeSet<&str> = phrases.filter_map(|rest| rest.split('⟧').next()).collect();
    let mut phrases: Vec<_> = unique.into_iter().collect();
    phrases.sort_by_key(|phrase| std::cmp::Reverse(phrase.len()));
    phrases
}
